// The page of the quantization bench. All numbers are computed in Python; here they are only shown.

const WIDTH = 640, HEIGHT = 240, MIDDLE = HEIGHT / 2, REACH = 100;

function picture(facts) {
  const drawn = svg("svg", {
    viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", class: "nf-row",
    "aria-label": `${facts.weights.length} weights in groups of ${facts.settings.group_size}, what is left of each, `
      + `and the levels of each group. ${facts.words}`,
  });
  const step = WIDTH / facts.weights.length;
  const x = (index) => step * (index + 0.5);
  const y = (value) => MIDDLE - REACH * Math.max(-1.1, Math.min(1.1, value / facts.visible));
  facts.groups.forEach((group, number) => {
    const from = step * group.start, width = step * facts.settings.group_size;
    drawn.append(svg("rect", { x: from, y: 0, width, height: HEIGHT, class: number % 2 ? "nf-odd" : "nf-even" }));
    for (const level of group.levels) {
      drawn.append(svg("line", { x1: from, x2: from + width, y1: y(level), y2: y(level), class: "nf-level" }));
    }
  });
  drawn.append(svg("line", { x1: 0, x2: WIDTH, y1: MIDDLE, y2: MIDDLE, class: "nf-axis" }));
  facts.weights.forEach((weight, index) => {
    const kind = facts.outliers.includes(index) ? "nf-weight nf-outlier" : "nf-weight";
    drawn.append(svg("line", { x1: x(index), x2: x(index), y1: MIDDLE, y2: y(weight), class: kind }));
  });
  facts.back.forEach((value, index) => {
    const shape = value === 0
      ? svg("path", { d: `M ${x(index) - 3} ${MIDDLE - 3} l 6 6 m 0 -6 l -6 6`, class: "nf-zero" })
      : svg("circle", { cx: x(index), cy: y(value), r: 3, class: "nf-back" });
    drawn.append(shape);
  });
  return drawn;
}

function groupsTable(facts) {
  const head = ["weights", "scale", "levels in the picture", "zeros", "error"];
  const lines = facts.groups.map((group) => element("tr", {},
    element("th", { scope: "row" }, group.name),
    ...[group.scale, String(group.levels.length), `${group.zeros} of ${group.ordinary}`, group.error]
      .map((word) => element("td", {}, word))));
  return element("table", {},
    element("thead", {}, element("tr", {}, ...head.map((word) => element("th", { scope: "col" }, word)))),
    element("tbody", {}, ...lines));
}

function render({ model, el }) {
  const set = (name, value) => model.send({ do: "set", name, value });
  const box = widgetBox("bench", "Quantization bench");
  el.append(box);

  const { choices, largest } = model.get("facts");
  const outlier = element("input", {
    type: "range", min: String(-largest), max: String(largest), step: "0.05",
    oninput: () => set("outlier", Number(outlier.value)),
  });
  const value = element("output");
  const selects = Object.entries(choices).map(([name, known]) => {
    const select = element("select", { onchange: () => set(name, known[select.selectedIndex]) },
      ...known.map((each) => element("option", {}, String(each).replace("_", " "))));
    return [name, known, select];
  });
  const words = { bits: "Bits ", scheme: "Scheme ", group_size: "Group size ", alignment: "Outliers are " };
  const controls = element("div", { class: "nf-controls" },
    element("label", {}, "Outlier ", outlier, " ", value),
    ...selects.map(([name, , select]) => element("label", {}, words[name], select)));
  const problem = element("p", { role: "alert", class: "nf-problem" });
  const line = element("div");
  const key = element("p", { class: "nf-key" },
    "Bars are the weights, bold ones the outliers (cut off above and below); dots are what comes back, "
    + "crosses what comes back as 0; fine lines are the levels of a group.");
  const said = element("dl", { "aria-live": "polite" });
  const table = element("details", {}, element("summary", {}, "Group by group"), element("div"));
  box.append(controls, problem, line, key, said, table);

  const show = () => {
    const facts = model.get("facts");
    // While it is dragged, the slider is ahead of the answers.
    if (document.activeElement !== outlier) outlier.value = String(facts.settings.outlier);
    value.textContent = facts.settings.outlier.toFixed(2);
    for (const [name, known, select] of selects) select.selectedIndex = known.indexOf(facts.settings[name]);
    line.replaceChildren(picture(facts));
    said.replaceChildren(
      ...row("zeros", `${facts.zeros} of ${facts.ordinary} ordinary weights`),
      ...row("their error", facts.error), ...row("error of all", facts.error_of_all),
      ...row("bits", `${facts.bits} a weight, with the scales`));
    table.lastChild.replaceChildren(groupsTable(facts));
  };
  const complain = () => { problem.textContent = model.get("problem"); };
  model.on("change:facts", show);
  model.on("change:problem", complain);
  show();
  complain();
}

export default { render };
