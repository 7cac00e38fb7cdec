// One session: its events as they happen, and what was computed from them.

import { button, badge, element, emptyNote, show, table } from "./dom.js";
import { diffView } from "./diff_view.js";
import { followEvents } from "./event_stream.js";
import { GROUPS, groupOf, kindOf, summaryOf } from "./event_summary.js";
import { tabList } from "./keyboard.js";
import { SessionProjection } from "./session_projection.js";
import { shownCount, shownLine, shownSize, shownText, shownTime } from "./shown_text.js";
import { usageChart } from "./usage_chart.js";
import { standingKind, standingWords } from "./verdict_words.js";
import { VirtualList } from "./virtual_list.js";

const ROW_HEIGHT = 26;
const TABS = [
  ["timeline", "Timeline"],
  ["candidates", "Candidates"],
  ["usage", "Tokens and time"],
  ["artifacts", "Artifacts"],
  ["subagents", "Subagents"],
];
const REDRAW_MS = 100;

export class SessionView {
  /**
   * @param {object} page what the view needs of the page: the client of the API, `notify` and `setConnection`
   * @param {string} id the session
   */
  constructor(page, id) {
    this.page = page;
    this.id = id;
    this.state = new SessionProjection();
    this.group = "";
    this.words = "";
    this.tab = "timeline";
    this.abort = new AbortController();
    this.drawing = 0;
    this.matching = [];
    this.asked = "";
    this.#build();
  }

  /** Begins to follow the events. */
  start() {
    followEvents({
      open: (last, signal) => this.page.api.sessionEvents(this.id, last, signal),
      onEvent: (event) => this.#receive(event),
      onState: (state, reason) => this.page.setConnection("session", state, reason),
      signal: this.abort.signal,
    });
  }

  /** Ends everything that the view does. */
  close() {
    this.abort.abort();
    this.page.setConnection("session", null);
    clearTimeout(this.drawing);
    this.list.close();
  }

  #receive({ data }) {
    let event;
    try {
      event = JSON.parse(data);
    } catch {
      return;
    }
    if (this.state.add(event)) {
      // a new turn may give the session its title
      if (event.type === "turn.started") this.page.loadSessionsSoon();
      if (this.#matches(event)) {
        this.matching.push(event);
        if (this.tab === "timeline") this.list.grown();
      }
    }
    this.drawing ||= setTimeout(() => {
      this.drawing = 0;
      this.#draw();
    }, REDRAW_MS);
  }

  #matches(event) {
    if (this.group && groupOf(event.type) !== this.group) return false;
    return !this.words || `${event.type} ${JSON.stringify(event.data)}`.toLowerCase().includes(this.words);
  }

  #build() {
    this.title = element("h2", {});
    this.facts = element("p", { class: "facts" });
    this.live = element("pre", { class: "live", "aria-live": "off", hidden: true });
    this.stopButton = button("Interrupt", () => this.#act(() => this.page.api.interruptSession(this.id), "interrupted"), { title: "Stop the running turn" });
    const actions = element(
      "div",
      { class: "actions", role: "group", "aria-label": "Actions" },
      this.stopButton,
      button("Undo the last turn", () => this.#act(() => this.#undo(), "undone")),
      button("Fork", () => this.#fork(), { title: "Begin a session that continues this one" }),
    );
    this.list = new VirtualList({
      label: "Events",
      rowHeight: ROW_HEIGHT,
      render: (event) => this.#row(event),
      onChoose: (event, isOpening) => this.#detail(event, isOpening),
    });
    this.list.setItems(this.matching);
    this.detail = element("aside", { class: "detail", "aria-label": "Event", tabindex: "-1", hidden: true });
    this.panel = element("div", { id: "panel", role: "tabpanel", class: "panel", tabindex: "-1" });
    this.prompt = element("textarea", { id: "prompt", rows: "2", "aria-label": "Prompt", placeholder: "Prompt (Ctrl+Enter sends it)", onkeydown: (event) => event.key === "Enter" && (event.ctrlKey || event.metaKey) && this.#send() });
    const form = element("form", { class: "prompt", onsubmit: (event) => (event.preventDefault(), this.#send()) }, this.prompt, element("button", { type: "submit" }, "Send"));
    this.node = element(
      "article",
      { class: "view" },
      element("div", { class: "view-head" }, this.title, actions),
      this.facts,
      tabList("Parts of the session", TABS, this.tab, (tab) => this.#choose(tab)),
      this.panel,
      this.live,
      form,
    );
    this.#choose(this.tab);
    this.#draw();
  }

  #choose(tab) {
    this.tab = tab;
    if (!this.panel) return;
    this.panel.setAttribute("aria-labelledby", `tab-${tab}`);
    this.shownVersion = "";
    if (tab === "timeline") {
      show(this.panel, this.#filter(), element("div", { class: "timeline" }, this.list.view, this.detail));
      this.list.grown();
    } else {
      this.#draw();
    }
  }

  #filter() {
    const choose = element(
      "select",
      { "aria-label": "Kind of events", onchange: (event) => this.#search(event.target.value, this.words) },
      element("option", { value: "" }, "all events"),
      GROUPS.map((group) => element("option", { value: group, selected: group === this.group }, group)),
    );
    const words = element("input", { type: "search", id: "search", value: this.words, placeholder: "search (/)", "aria-label": "Search in events", oninput: (event) => this.#search(this.group, event.target.value) });
    const follow = element("label", {}, element("input", { type: "checkbox", checked: this.list.follows, onchange: (event) => this.list.follow(event.target.checked) }), " follow");
    this.counter = element("span", { class: "count" });
    this.#count();
    return element("div", { class: "filter", role: "search" }, choose, words, follow, this.counter);
  }

  #search(group, words) {
    this.group = group;
    this.words = words.toLowerCase();
    this.matching = this.state.events.filter((event) => this.#matches(event));
    this.list.setItems(this.matching);
    this.#count();
  }

  #count() {
    if (this.counter) this.counter.textContent = this.matching.length === this.state.events.length ? `${this.state.events.length} events` : `${this.matching.length} of ${this.state.events.length} events`;
  }

  #row(event) {
    return [
      element("span", { class: "seq" }, String(event.seq)),
      element("span", { class: "time" }, shownTime(event.ts)),
      element("span", { class: `type type-${kindOf(event)}` }, shownLine(event.type, 60)),
      element("span", { class: "what" }, summaryOf(event)),
    ];
  }

  #detail(event, isOpening = false) {
    this.detail.hidden = false;
    const data = event.data ?? {};
    show(
      this.detail,
      element("div", { class: "view-head" }, element("h3", {}, `${event.seq} ${shownLine(event.type, 60)}`), button("Close", () => ((this.detail.hidden = true), this.list.view.focus()))),
      element("p", { class: "facts" }, [event.ts, event.turn === null ? "" : `turn ${event.turn}`, event.step].filter(Boolean).join(" · ")),
      typeof data.diff === "string" ? diffView(data.diff) : null,
      typeof data.text === "string" && data.text !== "" ? element("pre", {}, shownText(data.text)) : null,
      element("pre", { class: "json" }, shownText(JSON.stringify(data, null, 2), 50_000)),
    );
    if (isOpening) this.detail.focus();
  }

  #draw() {
    const state = this.state;
    const tokens = state.tokens;
    const first = [...state.turns.values()].find((turn) => turn.prompt);
    this.title.textContent = shownLine(first?.prompt ?? "", 90) || `Session ${this.id}`;
    show(
      this.facts,
      badge(state.isRunning ? "running" : "idle", state.isRunning ? "busy" : "ready"),
      state.questions.size > 0 ? [" ", badge("waits for a permission", "blocked")] : null,
      ` ${this.id} · ${[state.driver, shownLine(state.model, 60), state.mode && `mode ${state.mode}`, shownLine(state.root, 120)].filter(Boolean).join(" · ")} · ${shownCount(state.turns.size, "turn")} · ${tokens.input} → ${tokens.output} tokens`,
    );
    this.stopButton.disabled = !state.isRunning;
    this.live.hidden = state.liveText === "";
    this.live.textContent = shownText(state.liveText.slice(-4_000));
    this.live.scrollTop = this.live.scrollHeight;
    const asked = [...state.questions.keys()].join(" ");
    if (asked !== this.asked) this.page.loadPermissions();
    this.asked = asked;
    this.#count();
    if (this.tab === "timeline") return;
    const version = `${this.tab}/${state.lastSeq}`;
    if (version === this.shownVersion) return;
    this.shownVersion = version;
    show(this.panel, { candidates: () => this.#candidates(), usage: () => usageChart(state), artifacts: () => this.#artifacts(), subagents: () => this.#subagents() }[this.tab]());
  }

  #candidates() {
    const rows = this.state.candidateRows;
    const edits = [...this.state.edits.values()];
    if (rows.length === 0 && edits.length === 0) return emptyNote("No edits were tried in this session.");
    return [
      edits.length > 0 && element("h3", {}, "Proposals"),
      edits.map((edit) => element("section", { class: "card" }, element("h4", {}, badge(edit.status), ` turn ${edit.turn}: ${shownLine(edit.summary)}`), diffView(edit.diff, `Diff of ${shownLine(edit.summary, 60)}`))),
      rows.length > 0 && element("h3", {}, "Candidates"),
      rows.map((row) => this.#candidate(row)),
    ];
  }

  #candidate(row) {
    const verdict = row.passed === null ? badge(row.status) : badge(standingWords(row.standing), standingKind(row.standing));
    return element(
      "section",
      { class: "card" },
      element("h4", {}, verdict, row.status === "selected" ? [" ", badge("selected")] : null, ` turn ${row.turn}, candidate ${row.number}: ${shownLine(row.kind, 80)}`),
      row.words ? element("p", {}, shownLine(row.words, 300)) : null,
      row.reason ? element("p", {}, shownText(row.reason, 600)) : null,
      row.checks.length > 0
        ? table(
            ["check", "result", "what it says"],
            row.checks.map((check) => [shownLine(check.check, 60), badge(check.status || "skipped"), shownText([check.extent, check.reason, ...check.said].filter(Boolean).join("\n"), 2_000)]),
            `Verdict on candidate ${row.number}`,
          )
        : null,
      row.text ? element("details", {}, element("summary", {}, "The new text"), element("pre", {}, shownText(row.text))) : null,
    );
  }

  #artifacts() {
    const artifacts = [...this.state.artifacts.values()];
    if (artifacts.length === 0) return emptyNote("There are no large outputs.");
    const output = element("pre", { class: "artifact", tabindex: "0", "aria-label": "Content of the artifact", hidden: true });
    const more = element("p", {});
    const open = async (artifact, since) => {
      const part = await this.page.attempt(() => this.page.api.artifact(this.id, artifact.artifact_id, since));
      if (!part) return;
      output.hidden = false;
      output.textContent = (since === 0 ? "" : output.textContent) + shownText(part.text, 1_000_000);
      if (since === 0) output.focus();
      show(more, part.cursor < part.size && part.cursor > since ? button(`More (${shownSize(part.cursor)} of ${shownSize(part.size)})`, () => open(artifact, part.cursor)) : null);
    };
    return [
      table(
        ["artifact", "kind", "size", ""],
        artifacts.map((artifact) => [shownLine(artifact.artifact_id, 40), shownLine(artifact.kind ?? "", 40), shownSize(artifact.bytes), button("Open", () => open(artifact, 0))]),
        "Artifacts",
      ),
      output,
      more,
    ];
  }

  #subagents() {
    const tasks = [...this.state.tasks.values()];
    const children = new Map(tasks.filter((task) => task.session_id).map((task) => [task.session_id, task]));
    for (const [id, agent] of this.state.subagents) if (!children.has(id)) children.set(id, { session_id: id, title: agent.preset, status: agent.reason });
    const others = tasks.filter((task) => !task.session_id);
    return [
      element("h3", {}, "Subagents"),
      children.size > 0 ? subagentTree(this.page, this.id, children, this.state.subagents) : emptyNote("This session started no subagents."),
      element("h3", {}, "Tasks"),
      others.length > 0
        ? table(
            ["task", "kind", "state", "title"],
            others.map((task) => [shownLine(task.task_id, 30), shownLine(task.kind ?? "", 20), badge(task.status), shownLine(task.title ?? task.summary ?? "")]),
            "Tasks",
          )
        : emptyNote("This session has no other tasks."),
    ];
  }

  async #send() {
    const prompt = this.prompt.value.trim();
    if (!prompt) return;
    this.prompt.value = "";
    await this.#act(() => this.page.api.prompt(this.id, prompt), "sent");
  }

  /** Undo the last turn. What changed while a command ran may be the work of somebody else, so it is asked about. */
  async #undo() {
    const { commands } = await this.page.api.undo(this.id, { preview: true });
    const names = commands.map((path) => shownText(path, 200)).join("\n");
    const takesAll = commands.length > 0 && window.confirm(`These files changed while a command of the turn ran. Take them back, too?\n\n${names}`);
    return this.page.api.undo(this.id, takesAll ? { commands: true } : {});
  }

  async #fork() {
    const forked = await this.page.attempt(() => this.page.api.fork(this.id));
    if (forked?.session_id) this.page.open("session", forked.session_id);
  }

  #act(action, done) {
    return this.page.attempt(action, done);
  }
}

/** Returns the tree of the subagents below a session, with those of subagents as far as the list of sessions has them. */
function subagentTree(page, root, children, finished) {
  const branch = (id, title, status, depth) => {
    const agent = finished.get(id);
    const below = page.sessionRows.filter((row) => row.parent === id && row.id !== root);
    return element(
      "li",
      {},
      badge(status || "running", status === "completed" ? "passed" : status || "busy"),
      " ",
      element("a", { href: `#/session/${encodeURIComponent(id)}` }, shownLine(title || id, 80)),
      agent ? ` · ${agent.tokens.input} → ${agent.tokens.output} tokens · ${shownLine(agent.text, 160)}` : null,
      depth < 8 && below.length > 0 ? element("ul", {}, below.map((row) => branch(row.id, row.title, "", depth + 1))) : null,
    );
  };
  return element("ul", { class: "tree", "aria-label": "Subagents" }, [...children].map(([id, task]) => branch(id, task.title ?? task.kind, task.status, 0)));
}
