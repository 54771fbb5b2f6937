// What the pages of all widgets use; it is put in front of each.

const OPERABLE = ["button", "input", "select", "summary"];

function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  // JupyterLab's keys (arrows, Enter, letters) would act on the notebook instead. Some of its shortcuts are for
  // whatever has the focus, so the mark has to be on that element itself.
  if (OPERABLE.includes(name)) made.dataset.lmSuppressShortcuts = "true";
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else made.setAttribute(key, value);
  }
  made.append(...children);
  return made;
}

function svg(name, attributes = {}, text = "") {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text) made.textContent = text;
  return made;
}

function row(term, ...words) {
  return [element("dt", {}, term), element("dd", {}, ...words)];
}

function widgetBox(name, label) {
  return element("section", { class: `nf-widget nf-${name}`, "aria-label": label });
}
