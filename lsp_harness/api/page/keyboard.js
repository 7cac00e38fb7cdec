// The shortcuts of the page, and the dialog that lists them. Keys that are typed into a field or a terminal stay there.

import { button, element } from "./dom.js";

/** Keys → [what they do, the function]. A sequence of two keys is written with a blank. */
export class Shortcuts {
  constructor() {
    this.table = new Map();
    this.first = "";
    document.addEventListener("keydown", (event) => this.#press(event));
  }

  add(keys, text, run) {
    this.table.set(keys, { text, run });
  }

  #press(event) {
    if (event.ctrlKey || event.altKey || event.metaKey || event.defaultPrevented) return;
    if (event.target.closest("input, textarea, select, dialog, .terminal-frame")) return;
    const known = this.table.get(this.first ? `${this.first} ${event.key}` : event.key);
    const begins = !this.first && [...this.table.keys()].some((keys) => keys.startsWith(`${event.key} `));
    this.first = begins ? event.key : "";
    if (known) {
      event.preventDefault();
      known.run();
    }
  }
}

const LIST_KEYS = [
  ["↑ ↓ PgUp PgDn Home End", "move in the list of events"],
  ["Enter", "open the chosen event"],
  ["← →", "move between the tabs of a view"],
  ["Ctrl+Shift+Enter", "leave the terminal"],
  ["Tab", "move to the next control"],
];

/** Shows the shortcuts and the licences of what the page contains. */
export function showHelp(shortcuts, licence) {
  const rows = [...[...shortcuts.table].map(([keys, { text }]) => [keys, text]), ...LIST_KEYS];
  const close = button("Close", () => dialog.close());
  const dialog = element(
    "dialog",
    { "aria-labelledby": "help-title", onclose: () => dialog.remove() },
    element("h2", { id: "help-title" }, "Shortcuts"),
    element("dl", { class: "keys" }, rows.map(([keys, text]) => [element("dt", {}, element("kbd", {}, keys)), element("dd", {}, text)])),
    element("h2", {}, "Licences"),
    licence,
    close,
  );
  document.body.append(dialog);
  dialog.showModal();
  close.focus();
}

/** Lets the arrow keys move between tabs, of which one is a stop of the Tab key. */
export function tabList(label, tabs, chosen, onChoose) {
  const list = element("div", { role: "tablist", "aria-label": label, class: "tabs" });
  const choose = (key, focus = false) => {
    for (const tab of list.children) {
      const isChosen = tab.dataset.key === key;
      tab.setAttribute("aria-selected", String(isChosen));
      tab.tabIndex = isChosen ? 0 : -1;
      if (isChosen && focus) tab.focus();
    }
    onChoose(key);
  };
  for (const [key, text] of tabs) {
    list.append(element("button", { type: "button", role: "tab", id: `tab-${key}`, "data-key": key, "aria-controls": "panel", onclick: () => choose(key) }, text));
  }
  list.addEventListener("keydown", (event) => {
    const keys = tabs.map(([key]) => key);
    const at = keys.indexOf(document.activeElement?.dataset?.key);
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (step && at >= 0) choose(keys[(at + step + keys.length) % keys.length], true);
  });
  choose(chosen);
  return list;
}
