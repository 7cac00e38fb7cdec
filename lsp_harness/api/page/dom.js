// Elements of the page. Texts become text nodes and never markup, because most of them come from agents and models.

const SVG = "http://www.w3.org/2000/svg";

/** Returns an element. A property that begins with `on` is a listener, true is an attribute without a value, and null is none. */
export function element(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

/** Returns an element of an SVG picture. */
export function svgElement(tag, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  node.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

/** Replaces the content of an element. */
export function show(parent, ...children) {
  parent.replaceChildren(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
}

/** Returns a button. */
export const button = (label, onclick, attributes = {}) => element("button", { type: "button", onclick, ...attributes }, label);

/** Returns a mark for a state. The word is always there, so that colour is never the only sign. */
export const badge = (word, kind = word) => element("span", { class: `badge badge-${kind}` }, word);

/** Returns a paragraph in place of a list that is empty. */
export const emptyNote = (text) => element("p", { class: "empty" }, text);

/** Returns a table with a heading row. The cells are texts or elements. */
export function table(headings, rows, caption) {
  return element(
    "table",
    {},
    element("caption", { class: "visually-hidden" }, caption),
    element("thead", {}, element("tr", {}, headings.map((heading) => element("th", { scope: "col" }, heading)))),
    element("tbody", {}, rows.map((row) => element("tr", {}, row.map((cell) => element("td", {}, cell))))),
  );
}
