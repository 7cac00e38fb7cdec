// The page: its parts, what is open in it, and the events of agents, which all parts share.

import { AgentView } from "./agent_view.js";
import { ApiClient, ApiError, openAccess } from "./api_client.js";
import { element, emptyNote, show } from "./dom.js";
import { Shortcuts, showHelp } from "./keyboard.js";
import { Navigation } from "./navigation.js";
import { QuestionBar } from "./question_bar.js";
import { SessionView } from "./session_view.js";
import { shownLine, shownText } from "./shown_text.js";
import { startTheme } from "./theme.js";

const LIST_MS = 5_000;
const QUESTIONS_MS = 2_000;
const SOON_MS = 300;
const NOTICE_MS = 6_000;
const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 10_000;
const MAX_AGENT_EVENTS = 20_000;
/** Events after which the open questions of an agent are read again. */
const QUESTION_EVENTS = new Set(["login_required", "question", "blocking_prompt", "permission_request", "permission_decided", "approval_undelivered", "status", "agent_stopped", "agent_error"]);
const byId = (id) => document.getElementById(id);

class Page {
  constructor(api) {
    this.api = api;
    this.sessionRows = [];
    /** Id → the JSON of an agent. */
    this.agents = new Map();
    this.agentEvents = [];
    this.lastEvent = 0;
    this.wait = FIRST_WAIT_MS;
    this.view = null;
    this.connections = new Map();
    this.questions = new QuestionBar(this, byId("questions"));
    this.navigation = new Navigation(this, byId("nav"));
  }

  async start() {
    addEventListener("hashchange", () => this.#route());
    await Promise.all([this.loadSessions(), this.#loadAgents(), this.loadPermissions()]);
    this.#followAgents();
    this.#route();
    setInterval(() => document.hidden || this.loadSessions(), LIST_MS);
    setInterval(() => this.loadPermissions(), QUESTIONS_MS);
  }

  /** Runs an action of the user, and says what came of it. Returns undefined if it failed. */
  async attempt(action, done = "") {
    try {
      const value = await action();
      if (done) this.notify(done);
      return value ?? null;
    } catch (error) {
      if (error.name !== "AbortError") this.notify(`${error.code ? `${error.code}: ` : ""}${error.message}`, true);
      return undefined;
    }
  }

  notify(text, isError = false) {
    const notice = byId("notice");
    notice.className = isError ? "error" : "";
    notice.textContent = shownText(text, 600);
    clearTimeout(this.noticeTimer);
    this.noticeTimer = setTimeout(() => (notice.textContent = ""), NOTICE_MS);
  }

  /** Shows the worst state of the connections. Each has a name; one that is closed has the state null. */
  setConnection(name, state, reason = "") {
    if (state) this.connections.set(name, { state, reason });
    else this.connections.delete(name);
    const found = ["failed", "waiting", "live"].map((each) => [...this.connections.values()].find((one) => one.state === each)).find(Boolean) ?? { state: "", reason: "" };
    const output = byId("connection");
    output.className = `connection-${found.state}`;
    output.textContent = { live: "live", waiting: "connecting again", failed: "not connected" }[found.state] ?? "connecting";
    output.title = shownLine(found.reason);
  }

  /** Reads the open questions of all sessions. */
  async loadPermissions() {
    const answer = await this.api.permissions().catch(() => null);
    if (answer) this.questions.setSessions(answer.permissions ?? []);
  }

  /** Opens a session or an agent. */
  open(kind, id) {
    const hash = `#/${kind}/${encodeURIComponent(id)}`;
    if (location.hash === hash) this.#route();
    else location.hash = hash;
  }

  async loadSessions() {
    const answer = await this.api.sessions().catch((error) => this.#refused(error));
    if (answer) {
      this.sessionRows = answer.sessions ?? answer;
      this.navigation.draw();
    }
  }

  /** Reads the list of sessions after what happens at this moment. */
  loadSessionsSoon() {
    this.reading ??= setTimeout(() => {
      this.reading = null;
      this.loadSessions();
    }, SOON_MS);
  }

  /** Takes the present JSON of an agent. */
  takeAgent(agent) {
    if (!agent?.id) return;
    this.agents.set(agent.id, agent);
    if (this.view instanceof AgentView && this.view.id === agent.id) this.view.update(agent);
    this.navigation.draw();
  }

  recolour() {
    this.view?.recolour?.();
  }

  async #loadAgents() {
    const answer = await this.api.agents().catch((error) => this.#refused(error));
    for (const agent of answer?.agents ?? []) {
      this.takeAgent(agent);
      if (agent.openQuestions > 0) this.#loadQuestions(agent);
    }
  }

  async #loadQuestions(agent) {
    const answer = await this.api.questions(agent.id).catch(() => null);
    if (answer) this.questions.setAgent(agent, answer.questions ?? []);
  }

  #followAgents() {
    const socket = this.api.agentEvents(this.lastEvent);
    socket.onmessage = ({ data }) => {
      let event;
      try {
        event = JSON.parse(data);
      } catch {
        return;
      }
      if (event.type === "connected") {
        this.wait = FIRST_WAIT_MS;
        // a server that began anew counts its events anew, and has other agents
        if (event.seq < this.lastEvent) this.#beginAnew();
        return;
      }
      if (typeof event.seq !== "number" || event.seq <= this.lastEvent) return;
      this.lastEvent = event.seq;
      const agent = event.data?.agent;
      this.agentEvents.push(event);
      if (this.agentEvents.length > MAX_AGENT_EVENTS) this.agentEvents.splice(0, MAX_AGENT_EVENTS / 10);
      this.takeAgent(agent);
      if (this.view instanceof AgentView && this.view.id === agent?.id) this.view.receive(event);
      if (agent && QUESTION_EVENTS.has(event.event)) this.#loadQuestions(agent);
    };
    socket.onopen = () => this.setConnection("agents", "live");
    socket.onclose = ({ reason }) => {
      this.setConnection("agents", "waiting", reason);
      setTimeout(() => this.#followAgents(), this.wait);
      this.wait = Math.min(this.wait * 2, LONGEST_WAIT_MS);
    };
  }

  #beginAnew() {
    this.lastEvent = 0;
    this.agents.clear();
    this.agentEvents = [];
    this.#loadAgents();
  }

  async #route() {
    const [, kind, id] = /^#\/(session|agent)\/(.+)$/u.exec(location.hash) ?? [];
    this.view?.close();
    this.view = null;
    const main = byId("main");
    const name = id && decodeURIComponent(id);
    if (kind === "session") this.view = new SessionView(this, name);
    if (kind === "agent") {
      const agent = this.agents.get(name) ?? (await this.attempt(() => this.api.agent(name)));
      if (agent) this.view = new AgentView(this, agent, this.agentEvents.filter((event) => event.data?.agent?.id === agent.id));
    }
    show(main, this.view ? this.view.node : emptyNote("Choose a session or an agent."));
    document.body.classList.remove("menu-open");
    byId("menu").setAttribute("aria-expanded", "false");
    this.view?.start();
    this.navigation.draw();
  }

  #refused(error) {
    if (error instanceof ApiError && error.status === 401) showLogin();
    else this.notify(error.message, true);
    return null;
  }
}

function showLogin() {
  show(
    byId("main"),
    element("h2", {}, "This page has no access"),
    element("p", {}, "It was opened without a link that works, or the server began anew. A link works once and for a minute: ", element("code", {}, "lsp-harness api"), " prints one."),
  );
}

async function readLicence() {
  const text = await fetch("inspector/vendor/xterm.LICENSE").then((answer) => (answer.ok ? answer.text() : ""), () => "");
  return element(
    "div",
    {},
    element("p", {}, "lsp-harness: MIT licence."),
    text ? [element("p", {}, "The terminal is xterm.js 6 with its addon fit:"), element("pre", { class: "licence", tabindex: "0", "aria-label": "Licence of xterm.js" }, text)] : element("p", {}, "The terminal would be xterm.js 6 (MIT licence), which this installation has not."),
  );
}

async function start() {
  const shortcuts = new Shortcuts();
  const page = { recolour: () => {} };
  const nextTheme = startTheme(byId("theme"), () => page.current?.recolour());
  const help = async () => document.querySelector("dialog") ?? showHelp(shortcuts, await readLicence());
  const menu = () => {
    const isOpen = document.body.classList.toggle("menu-open");
    byId("menu").setAttribute("aria-expanded", String(isOpen));
    if (isOpen) document.querySelector("nav a, nav button")?.focus();
  };
  byId("help").addEventListener("click", help);
  byId("menu").addEventListener("click", menu);
  const focus = (selector) => () => document.querySelector(selector)?.focus();
  const tab = (name) => () => byId(`tab-${name}`)?.click();
  shortcuts.add("?", "show this list", help);
  shortcuts.add("t", "change the theme", nextTheme);
  shortcuts.add("m", "show the lists in a narrow window", menu);
  shortcuts.add("g s", "go to the sessions", focus("nav ul[aria-labelledby=nav-sessions] a"));
  shortcuts.add("g a", "go to the agents", focus("nav ul[aria-labelledby=nav-agents] a"));
  shortcuts.add("g q", "go to the oldest question", () => page.current?.questions.focus());
  shortcuts.add("A", "allow the oldest question once", () => page.current?.questions.answerFirst("allow"));
  shortcuts.add("D", "deny the oldest question", () => page.current?.questions.answerFirst("deny"));
  shortcuts.add("p", "write a prompt or a message", focus("#prompt"));
  shortcuts.add("/", "search in the events", focus("#search"));
  shortcuts.add("e", "show the events", () => (byId("tab-timeline") ?? byId("tab-events"))?.click());
  shortcuts.add("c", "show candidates or changes", () => (byId("tab-candidates") ?? byId("tab-changes"))?.click());
  shortcuts.add("k", "show tokens and time", tab("usage"));
  shortcuts.add("x", "go to the terminal", () => (tab("terminal")(), page.current?.view?.terminal?.focus()));
  try {
    page.current = new Page(new ApiClient(await openAccess()));
  } catch (error) {
    page.current = null;
    showLogin();
    byId("connection").textContent = "not connected";
    byId("connection").title = shownLine(error.message);
    return;
  }
  await page.current.start();
}

start();
