// A list that may have tens of thousands of rows: only those that can be seen are in the page. It is one stop of the Tab
// key; the arrow keys move in it, and screen readers hear the place of the row in the whole list.

import { element } from "./dom.js";

const MARGIN_ROWS = 12;
let count = 0;

export class VirtualList {
  /**
   * @param {object} options
   * @param {string} options.label the name of the list for screen readers
   * @param {number} options.rowHeight the height of every row in pixels
   * @param {(item: any) => (Node|string)[]} options.render the content of a row
   * @param {(item: any) => void} options.onChoose called when a row is chosen by a key or a click
   */
  constructor({ label, rowHeight, render, onChoose = () => {} }) {
    count += 1;
    this.id = `list-${count}`;
    this.rowHeight = rowHeight;
    this.render = render;
    this.onChoose = onChoose;
    this.items = [];
    this.active = -1;
    this.follows = true;
    this.space = element("div", { class: "rows-space" });
    this.view = element(
      "div",
      { class: "rows", role: "listbox", tabindex: "0", "aria-label": label, onscroll: () => this.#scrolled(), onkeydown: (event) => this.#key(event), onclick: (event) => this.#click(event) },
      this.space,
    );
    this.pending = 0;
    /** Where the view was after it was scrolled last. */
    this.top = 0;
    this.observer = new ResizeObserver(() => (this.follows ? this.grown() : this.refresh()));
    this.observer.observe(this.view);
  }

  /** Shows other items. The chosen row stays chosen if `keep` says so. */
  setItems(items, { keep = true } = {}) {
    const chosen = keep ? this.items[this.active] : undefined;
    this.items = items;
    this.active = chosen === undefined ? -1 : items.indexOf(chosen);
    this.grown();
  }

  /** Draws again after items were added at the end, once for each frame of the screen. */
  grown() {
    if (this.pending) return;
    this.pending = requestAnimationFrame(() => {
      this.pending = 0;
      this.refresh();
      if (this.follows) this.view.scrollTop = this.view.scrollHeight;
    });
  }

  /** Goes to the end and stays there while items come. */
  follow(follows) {
    this.follows = follows;
    if (follows) this.grown();
  }

  /** Draws the rows that can be seen. */
  refresh() {
    const total = this.items.length;
    this.space.style.height = `${total * this.rowHeight}px`;
    const first = Math.max(0, Math.floor(this.view.scrollTop / this.rowHeight) - MARGIN_ROWS);
    const last = Math.min(total, Math.ceil((this.view.scrollTop + this.view.clientHeight) / this.rowHeight) + MARGIN_ROWS);
    const rows = [];
    for (let index = first; index < last; index += 1) {
      const row = element(
        "div",
        { class: "row", role: "option", id: `${this.id}-${index}`, "data-index": index, "aria-posinset": index + 1, "aria-setsize": total, "aria-selected": index === this.active ? "true" : "false" },
        this.render(this.items[index]),
      );
      row.style.top = `${index * this.rowHeight}px`;
      row.style.height = `${this.rowHeight}px`;
      rows.push(row);
    }
    this.space.replaceChildren(...rows);
    if (this.active >= first && this.active < last) this.view.setAttribute("aria-activedescendant", `${this.id}-${this.active}`);
    else this.view.removeAttribute("aria-activedescendant");
  }

  /** Chooses a row, and scrolls so that it can be seen. */
  choose(index) {
    if (this.items.length === 0) return;
    this.active = Math.max(0, Math.min(index, this.items.length - 1));
    this.follows = this.active === this.items.length - 1;
    const top = this.active * this.rowHeight;
    if (top < this.view.scrollTop) this.view.scrollTop = top;
    else if (top + this.rowHeight > this.view.scrollTop + this.view.clientHeight) this.view.scrollTop = top + this.rowHeight - this.view.clientHeight;
    this.refresh();
    this.onChoose(this.items[this.active]);
  }

  /** Stops watching the size of the list. */
  close() {
    this.observer.disconnect();
    cancelAnimationFrame(this.pending);
  }

  #scrolled() {
    const isAtEnd = this.view.scrollTop + this.view.clientHeight >= this.view.scrollHeight - this.rowHeight;
    // a view that became smaller, as beside a question, is not at the end, but nobody has scrolled away
    if (isAtEnd) this.follows = true;
    else if (this.view.scrollTop < this.top) this.follows = false;
    this.top = this.view.scrollTop;
    this.refresh();
  }

  #click(event) {
    const row = event.target.closest("[data-index]");
    if (row) this.choose(Number(row.dataset.index));
  }

  #key(event) {
    const page = Math.max(1, Math.floor(this.view.clientHeight / this.rowHeight) - 1);
    const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity };
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    if (event.key in steps) {
      event.preventDefault();
      const from = this.active < 0 ? (steps[event.key] > 0 ? -1 : this.items.length) : this.active;
      const wanted = steps[event.key] === Infinity ? this.items.length - 1 : steps[event.key] === -Infinity ? 0 : from + steps[event.key];
      this.choose(wanted);
    } else if ((event.key === "Enter" || event.key === " ") && this.active >= 0) {
      event.preventDefault();
      this.onChoose(this.items[this.active], true);
    }
  }
}
