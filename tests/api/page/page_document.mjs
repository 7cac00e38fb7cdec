// A document for modules of the page that need no browser: elements with attributes, children, texts and listeners.

class Node {
  constructor(tag) {
    this.tag = tag;
    this.attributes = new Map();
    this.listeners = new Map();
    this.children = [];
    this.dataset = {};
    this.hidden = false;
    this.value = "";
  }

  append(...children) {
    this.children.push(...children);
  }

  replaceChildren(...children) {
    this.children = children;
  }

  setAttribute(name, value) {
    this.attributes.set(name, value);
  }

  addEventListener(name, listener) {
    this.listeners.set(name, listener);
  }

  click() {
    this.listeners.get("click")();
  }

  get textContent() {
    return this.children.map((child) => (child instanceof Node ? child.textContent : String(child))).join("");
  }

  /** Returns the elements of a tag in this one, in their order. */
  all(tag) {
    return this.children.flatMap((child) => (child instanceof Node ? [...(child.tag === tag ? [child] : []), ...child.all(tag)] : []));
  }
}

globalThis.document = { createElement: (tag) => new Node(tag), title: "" };

export const newElement = () => new Node("section");
