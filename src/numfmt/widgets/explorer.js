// The page of the bit explorer. All numbers are computed in Python, exactly; here they are only shown.

function bitButton(found, index, count, ask) {
  const label = `bit ${count - 1 - index}, ${found.field}: ${found.bit}`;
  const attributes = {
    type: "button", class: `nf-bit nf-${found.field}`, "aria-pressed": String(found.bit === "1"),
    "aria-label": label, title: label, "data-bit": String(index),
    onclick: () => ask({ do: "flip", bit: index }),
  };
  return element("button", attributes, element("b", {}, found.bit), element("small", {}, found.letter));
}

function numberLine(facts) {
  const at = (share) => 60 + 480 * share;
  const { line } = facts;
  const words = `${facts.value} lies between its neighbours ${facts.below} and ${facts.above}`
    + (line.typed === null ? "" : `; the number typed, ${facts.typed}, is marked below the line`);
  const drawn = svg("svg", { viewBox: "0 0 600 76", role: "img", "aria-label": words, class: "nf-line" });
  drawn.append(svg("line", { x1: 20, x2: 580, y1: 34, y2: 34 }));
  for (const [share, text, kind] of [[0, facts.below, ""], [line.value, facts.value, "nf-here"], [1, facts.above, ""]]) {
    drawn.append(svg("line", { x1: at(share), x2: at(share), y1: 24, y2: 44, class: kind }));
    drawn.append(svg("text", { x: at(share), y: 16, "text-anchor": "middle", class: kind }, text));
  }
  if (line.typed !== null) {
    const x = Math.min(Math.max(at(line.typed), 20), 580);
    drawn.append(svg("path", { d: `M ${x} 38 l -6 12 h 12 z`, class: "nf-typed" }));
    drawn.append(svg("text", { x, y: 66, "text-anchor": "middle" }, "typed"));
  }
  return drawn;
}

function others(facts, ask) {
  const head = ["format", "bits", "value", "error"].map((word) => element("th", { scope: "col" }, word));
  const lines = facts.others.map((each) => {
    const go = element("button", { type: "button", onclick: () => ask({ do: "switch", format: each.name }) }, each.name);
    const name = element("th", { scope: "row" }, go);
    const cells = [each.bits, each.value, each.error].map((word) => element("td", {}, word));
    const here = each.name === facts.format ? { class: "nf-here", "aria-current": "true" } : {};
    return element("tr", here, name, ...cells);
  });
  const table = element("table", {}, element("thead", {}, element("tr", {}, ...head)), element("tbody", {}, ...lines));
  return element("details", { class: "nf-others" }, element("summary", {}, "The same number in all formats"), table);
}

function render({ model, el }) {
  const ask = (message) => model.send(message);
  const box = widgetBox("explorer", "Bit explorer");
  el.append(box);

  const format = element("select", { onchange: () => ask({ do: "switch", format: format.value }) });
  const typed = element("input", {
    type: "text", inputmode: "decimal", spellcheck: "false", autocomplete: "off", size: "24",
    onchange: () => ask({ do: "type", text: typed.value }),
    onkeydown: (event) => { if (event.key === "Enter") ask({ do: "type", text: typed.value }); },
  });
  const step = (direction, word) => element("button", {
    type: "button", "aria-label": `to the next ${direction < 0 ? "smaller" : "larger"} value`,
    onclick: () => ask({ do: "step", direction }),
  }, word);
  const controls = element("div", { class: "nf-controls" },
    element("label", {}, "Format ", format), element("label", {}, "Number ", typed),
    step(-1, "− 1 ulp"), step(1, "+ 1 ulp"));
  const problem = element("p", { role: "alert", class: "nf-problem" });
  const bits = element("div", { class: "nf-bits", role: "group", "aria-label": "Bits, the leftmost first" });
  const legend = element("p", { class: "nf-legend" });
  const said = element("dl", { "aria-live": "polite" });
  const line = element("div");
  const table = element("div");
  box.append(controls, problem, bits, legend, said, line, table);

  const show = () => {
    const facts = model.get("facts");
    const focused = box.contains(document.activeElement) ? document.activeElement.dataset.bit : undefined;
    if (format.children.length === 0) {
      format.append(...facts.formats.map((name) => element("option", { value: name }, name)));
    }
    format.value = facts.format;
    if (document.activeElement !== typed || !model.get("problem")) {
      typed.value = facts.typed ? facts.typed.replace("≈ ", "") : facts.value.replace("≈ ", "");
    }
    bits.replaceChildren(...facts.bits.map((each, index) => bitButton(each, index, facts.bits.length, ask)));
    if (focused !== undefined) bits.children[Number(focused)]?.focus();
    const fields = [...new Map(facts.bits.map((each) => [each.field, each.letter]))];
    legend.replaceChildren(...fields.map(([name, letter]) =>
      element("span", { class: `nf-${name}` }, element("b", {}, letter), ` ${name}`)));
    const error = facts.error ? row("error", `${facts.error} (${facts.ulps} ulp)`) : [];
    said.replaceChildren(
      ...row("code", facts.code), ...row("value", `${facts.value} (${facts.kind})`), ...row("exactly", facts.exact),
      ...row("beside", `${facts.below} and ${facts.above}`), ...error);
    line.replaceChildren(...(facts.line ? [numberLine(facts)] : []));
    const open = table.querySelector("details")?.open ?? false;
    table.replaceChildren(others(facts, ask));
    table.querySelector("details").open = open;
  };
  const complain = () => { problem.textContent = model.get("problem"); };
  model.on("change:facts", show);
  model.on("change:problem", complain);
  box.addEventListener("keydown", (event) => {
    const bit = event.target.closest?.(".nf-bit");
    const move = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (bit && move) {
      event.preventDefault();
      bits.children[Number(bit.dataset.bit) + move]?.focus();
    }
  });
  show();
  complain();
}

export default { render };
