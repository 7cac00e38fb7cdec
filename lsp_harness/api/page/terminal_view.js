// A terminal of an agent. xterm.js draws it if it was copied into `vendor/`; else there is the text of its screen.

import { element, show } from "./dom.js";
import { shownText } from "./shown_text.js";
import { isDark } from "./theme.js";

const REFRESH_MS = 1_000;
const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 10_000;
/** Close codes after which it is of no use to connect again: the agent has ended, or is not known. */
const FINAL = new Set([1008, 4001, 4003, 4004]);
const DARK = { background: "#0d1117", foreground: "#e6edf3", cursor: "#e6edf3", selectionBackground: "#2f5f9e" };
const LIGHT = {
  ...{ background: "#ffffff", foreground: "#1f2328", cursor: "#1f2328", selectionBackground: "#b6d7ff" },
  ...{ black: "#24292f", red: "#cf222e", green: "#116329", yellow: "#7d4e00", blue: "#0969da", magenta: "#8250df", cyan: "#1b7c83", white: "#57606a" },
  ...{ brightBlack: "#57606a", brightRed: "#a40e26", brightGreen: "#1a7f37", brightYellow: "#633c01", brightBlue: "#0550ae", brightMagenta: "#6639ba", brightCyan: "#0a6a70", brightWhite: "#24292f" },
};

let loading;

/** Returns the classes of xterm.js, or null if it was not copied. */
export function loadXterm() {
  loading ??= Promise.all([import("./vendor/xterm.mjs"), import("./vendor/addon-fit.mjs")])
    .then(([{ Terminal }, { FitAddon }]) => {
      obeyContentPolicy();
      document.head.append(element("link", { rel: "stylesheet", href: "inspector/vendor/xterm.css" }));
      return { Terminal, FitAddon };
    })
    .catch(() => null);
  return loading;
}

/**
 * Lets the styles that xterm.js makes work under a policy without inline styles: its style elements become style sheets
 * of the document, and its style attributes properties, both of which the policy allows to scripts of this server.
 */
function obeyContentPolicy() {
  const create = document.createElement;
  document.createElement = function createElement(name, ...rest) {
    // a style element would be refused even while it is empty
    const node = create.call(this, name === "style" ? "template" : name, ...rest);
    if (name === "style") {
      const sheet = new CSSStyleSheet();
      document.adoptedStyleSheets.push(sheet);
      const remove = node.remove;
      Object.defineProperty(node, "textContent", { get: () => "", set: (text) => sheet.replaceSync(text) });
      node.remove = function removeSheet() {
        document.adoptedStyleSheets = document.adoptedStyleSheets.filter((each) => each !== sheet);
        remove.call(this);
      };
    } else if (name === "span") {
      node.setAttribute = function setAttribute(attribute, value) {
        if (attribute === "style") this.style.cssText = value;
        else Element.prototype.setAttribute.call(this, attribute, value);
      };
    }
    return node;
  };
}

export class TerminalView {
  constructor(page, agent) {
    this.page = page;
    this.agent = agent;
    this.closed = false;
    this.wait = FIRST_WAIT_MS;
    this.state = element("output", {}, "connecting");
    this.frame = element("div", { class: "terminal-frame", "aria-label": `Terminal of ${shownText(agent.name, 60)}`, role: "group" });
    // it is no default, because with it xterm.js takes no characters from input methods
    const reader = element("label", {}, element("input", { type: "checkbox", onchange: (event) => this.terminal && (this.terminal.options.screenReaderMode = event.target.checked) }), " for screen readers");
    this.node = element("div", { class: "terminal-view" }, element("div", { class: "view-head facts" }, this.state, reader), this.frame);
    this.#start();
  }

  close() {
    this.closed = true;
    clearTimeout(this.timer);
    this.watcher?.disconnect();
    this.socket?.close();
    this.terminal?.dispose();
  }

  /** Takes the colours of the page. */
  recolour() {
    if (this.terminal) this.terminal.options.theme = isDark() ? DARK : LIGHT;
  }

  focus() {
    if (this.terminal) this.terminal.focus();
    else this.frame.querySelector("[tabindex]")?.focus();
  }

  async #start() {
    const xterm = await loadXterm();
    if (this.closed) return;
    if (!xterm) {
      this.#showText();
      return;
    }
    this.terminal = new xterm.Terminal({
      cols: this.agent.cols,
      rows: this.agent.rows,
      theme: isDark() ? DARK : LIGHT,
      fontFamily: "ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace",
      fontSize: 13,
      scrollback: 5_000,
      // addresses come from the agent: they are opened by a click of the user only, and only those of the web
      linkHandler: { activate: (_event, address) => this.#openLink(address) },
    });
    this.fit = new xterm.FitAddon();
    this.terminal.loadAddon(this.fit);
    this.terminal.open(this.frame);
    this.terminal.attachCustomKeyEventHandler((event) => !(event.key === "Enter" && event.ctrlKey && event.shiftKey));
    this.frame.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && event.ctrlKey && event.shiftKey) document.getElementById("main").focus();
    });
    this.terminal.onData((text) => this.#send(new TextEncoder().encode(text)));
    this.terminal.onBinary((text) => this.#send(Uint8Array.from(text, (sign) => sign.charCodeAt(0))));
    this.watcher = new ResizeObserver(() => this.#fit());
    this.watcher.observe(this.frame);
    this.#connect();
  }

  #fit() {
    if (!this.isDrawn || this.frame.clientWidth <= 40 || this.frame.clientHeight <= 40) return;
    const size = this.fit.proposeDimensions();
    if (!(size?.cols > 1 && size.rows > 0)) return;
    this.terminal.resize(size.cols, size.rows);
    // the server answers with another size if another viewer typed last
    this.#control({ type: "resize", cols: size.cols, rows: size.rows });
  }

  #connect() {
    const socket = this.page.api.terminal(this.agent.id);
    this.socket = socket;
    socket.onopen = () => {
      this.wait = FIRST_WAIT_MS;
      this.state.textContent = "connected";
      this.isDrawn = false;
    };
    socket.onmessage = ({ data }) => {
      if (typeof data === "string") this.#obey(data);
      else {
        this.terminal.write(new Uint8Array(data));
        // the screen comes first, in the size that it has at the server; then the terminal takes that of the page
        if (!this.isDrawn) setTimeout(() => this.#fit(), 0);
        this.isDrawn = true;
      }
    };
    socket.onclose = ({ code, reason }) => {
      if (this.closed) return;
      if (FINAL.has(code) || code === 1000) {
        this.state.textContent = `closed: ${shownText(reason, 200) || "the agent has ended"}`;
        return;
      }
      this.state.textContent = "connection lost; connecting again";
      this.timer = setTimeout(() => this.closed || this.#connect(), this.wait);
      this.wait = Math.min(this.wait * 2, LONGEST_WAIT_MS);
    };
  }

  #obey(text) {
    let message;
    try {
      message = JSON.parse(text);
    } catch {
      return;
    }
    if (message.type === "connected") {
      this.terminal.reset();
      if (message.cols > 1 && message.rows > 0) this.terminal.resize(message.cols, message.rows);
    } else if (message.type === "size") {
      this.terminal.resize(message.cols, message.rows);
    } else if (message.type === "error") {
      this.state.textContent = shownText(message.message ?? "", 200);
    }
  }

  #send(bytes) {
    if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(bytes);
  }

  #control(message) {
    if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(message));
  }

  #openLink(address) {
    if (!/^https?:\/\//iu.test(address)) return;
    if (window.confirm(`The agent shows this address. Open it?\n\n${shownText(address, 2_000)}`)) window.open(address, "_blank", "noopener,noreferrer");
  }

  #showText() {
    const text = element("pre", { class: "screen", tabindex: "0", role: "region", "aria-label": "Screen of the agent" });
    this.state.textContent = "text of the screen";
    show(
      this.frame,
      element("p", { class: "empty" }, "The terminal needs xterm.js, which is not part of this installation. In a checkout of lsp-harness, run ", element("code", {}, "make xterm"), " and load this page again. Until then, this is the text of the screen."),
      text,
    );
    const refresh = async () => {
      try {
        text.textContent = shownText(screenText(await this.page.api.screen(this.agent.id)), 200_000);
      } catch (error) {
        this.state.textContent = shownText(error.message, 200);
      }
      if (!this.closed) this.timer = setTimeout(refresh, REFRESH_MS);
    };
    refresh();
  }
}

/** Returns the text of the answer of `GET /agents/:id/screen`. */
export const screenText = (screen) => (Array.isArray(screen?.rows) ? screen.rows.join("\n") : String(screen?.text ?? ""));
