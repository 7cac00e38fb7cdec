// One agent: how its state is known, its terminal, its events and questions, and the changes that it proposes.

import { badge, button, element, emptyNote, show, table } from "./dom.js";
import { standingKind, standingWords } from "./verdict_words.js";
import { diffView } from "./diff_view.js";
import { tabList } from "./keyboard.js";
import { shownLine, shownText, shownTime } from "./shown_text.js";
import { screenText, TerminalView } from "./terminal_view.js";
import { VirtualList } from "./virtual_list.js";

const ROW_HEIGHT = 26;
const TABS = [
  ["terminal", "Terminal"],
  ["screen", "Screen text"],
  ["events", "Events"],
  ["changes", "Changes"],
  ["explain", "State"],
];

export class AgentView {
  /** `agent` is the JSON of the agent, and `events` those of it that are known already. */
  constructor(page, agent, events) {
    this.page = page;
    this.id = agent.id;
    this.agent = agent;
    this.tab = agent.hasTerminal === false ? "events" : "terminal";
    this.events = [...events];
    this.#build();
  }

  start() {}

  close() {
    this.terminal?.close();
    this.list.close();
  }

  recolour() {
    this.terminal?.recolour();
  }

  /** Takes the present facts about the agent. */
  update(agent) {
    this.agent = agent;
    this.#head();
  }

  /** Takes an event of the agent. */
  receive(event) {
    this.events.push(event);
    if (this.tab === "events") this.list.grown();
    if (this.tab === "changes" && ["files_changed", "verified", "agent_stopped"].includes(event.event)) this.#changes();
  }

  #build() {
    this.title = element("h2", {});
    this.facts = element("p", { class: "facts" });
    this.panel = element("div", { id: "panel", role: "tabpanel", class: "panel", tabindex: "-1" });
    this.list = new VirtualList({ label: "Events of the agent", rowHeight: ROW_HEIGHT, render: (event) => this.#row(event), onChoose: (event) => this.#detail(event) });
    this.list.setItems(this.events);
    this.detail = element("aside", { class: "detail", "aria-label": "Event", tabindex: "-1", hidden: true });
    this.stopButton = button("Stop", () => this.#stop(false));
    this.interruptButton = button("Interrupt", () => this.page.attempt(() => this.page.api.interruptAgent(this.id), "interrupted"));
    this.killButton = button("Kill", () => this.#stop(true), { class: "danger", title: "End all its processes at once" });
    this.message = element("textarea", { id: "prompt", rows: "2", "aria-label": "Message", placeholder: "Message (Ctrl+Enter sends it)", onkeydown: (event) => event.key === "Enter" && (event.ctrlKey || event.metaKey) && this.#send() });
    this.reply = element("pre", { class: "live", hidden: true, "aria-label": "Response" });
    this.node = element(
      "article",
      { class: "view" },
      element("div", { class: "view-head" }, this.title, element("div", { class: "actions", role: "group", "aria-label": "Actions" }, this.interruptButton, this.stopButton, this.killButton)),
      this.facts,
      tabList("Parts of the agent", TABS, this.tab, (tab) => this.#choose(tab)),
      this.panel,
      this.reply,
      element("form", { class: "prompt", onsubmit: (event) => (event.preventDefault(), this.#send()) }, this.message, element("button", { type: "submit" }, "Send")),
    );
    this.#head();
    this.#choose(this.tab);
  }

  #head() {
    const { name, type, status, state = {}, workdir, transport, isolation, exitCode } = this.agent;
    const hasEnded = ["stopped", "error"].includes(status);
    this.title.textContent = `${shownLine(name, 60)} (${shownLine(type, 30)})`;
    show(
      this.facts,
      badge(status, status),
      ` known by ${shownLine(state.source ?? "?", 20)}${state.rule ? `: ${shownLine(state.rule, 80)}` : ""}`,
      state.kind ? [" · ", badge(state.kind, "blocked")] : null,
      state.message ? ` · ${shownLine(state.message, 200)}` : null,
      ` · ${[transport, isolation === "worktree" && "own worktree", shownLine(workdir ?? "", 120), hasEnded && exitCode !== null && exitCode !== undefined && `exit ${exitCode}`].filter(Boolean).join(" · ")}`,
    );
    for (const control of [this.stopButton, this.interruptButton, this.killButton, this.message]) control.disabled = hasEnded;
  }

  #choose(tab) {
    this.tab = tab;
    if (!this.panel) return;
    this.panel.setAttribute("aria-labelledby", `tab-${tab}`);
    if (tab !== "terminal") {
      this.terminal?.close();
      this.terminal = null;
    }
    ({ terminal: () => this.#terminal(), screen: () => this.#screen(), events: () => this.#events(), changes: () => this.#changes(), explain: () => this.#explain() })[tab]();
  }

  #terminal() {
    this.terminal?.close();
    this.terminal = null;
    if (this.agent.hasTerminal === false) {
      show(this.panel, emptyNote(`This agent has no terminal: it speaks ${shownLine(this.agent.transport ?? "", 20)}. Its events say what it does.`));
      return;
    }
    this.terminal = new TerminalView(this.page, this.agent);
    show(this.panel, this.terminal.node);
  }

  async #screen() {
    show(this.panel, emptyNote("loading"));
    const screen = await this.page.attempt(() => this.page.api.screen(this.id));
    if (!screen || this.tab !== "screen") return;
    show(this.panel, button("Read again", () => this.#screen()), element("pre", { class: "screen", tabindex: "0", role: "region", "aria-label": "Screen of the agent" }, shownText(screenText(screen), 200_000)));
  }

  #events() {
    show(this.panel, element("div", { class: "timeline" }, this.list.view, this.detail));
    this.list.grown();
  }

  #row(event) {
    const { agent: _agent, ...rest } = event.data ?? {};
    const said = Object.entries(rest).map(([key, value]) => `${key}: ${typeof value === "object" ? JSON.stringify(value) : value}`);
    return [
      element("span", { class: "seq" }, String(event.seq)),
      element("span", { class: "time" }, shownTime(event.timestamp)),
      element("span", { class: "type" }, shownLine(event.event, 40)),
      element("span", { class: "what" }, shownLine(said.join(" · "), 300)),
    ];
  }

  #detail(event) {
    this.detail.hidden = false;
    show(
      this.detail,
      element("div", { class: "view-head" }, element("h3", {}, `${event.seq} ${shownLine(event.event, 40)}`), button("Close", () => ((this.detail.hidden = true), this.list.view.focus()))),
      element("pre", { class: "json" }, shownText(JSON.stringify(event.data, null, 2), 50_000)),
    );
  }

  async #changes() {
    if (this.agent.isolation !== "worktree") {
      show(this.panel, emptyNote("This agent works in the folder itself, so it has no changes to apply. An agent with isolation “worktree” has."));
      return;
    }
    const review = await this.page.attempt(() => this.page.api.verifyChanges(this.id));
    if (!review || this.tab !== "changes") return;
    const act = async (action, done) => {
      await this.page.attempt(action, done);
      if (this.tab === "changes") this.#changes();
    };
    const { api } = this.page;
    const files = review.files ?? [];
    const leftOut = Object.entries(review.leftOut ?? {});
    const findings = review.findings ?? [];
    const isEmpty = files.length === 0 && leftOut.length === 0;
    const isUnchecked = files.length > 0 && !review.isChecked;
    show(
      this.panel,
      element(
        "div",
        { class: "actions", role: "group", "aria-label": "Changes" },
        isUnchecked
          ? button("Apply unchecked", () => window.confirm("No check can read these changes. Apply them nevertheless?") && act(() => this.#apply(review), "applied"), { title: "Write these changes to your folder without a check" })
          : button("Apply", () => act(() => this.#apply(review), "applied"), { class: "primary", disabled: isEmpty || !review.passed, title: "Write these changes to your folder" }),
        button("Undo", () => act(() => api.undoChanges(this.id), "undone"), { title: "Take back what was applied last" }),
        button("Discard", () => window.confirm("Remove the worktree of this agent with all its changes?") && act(() => api.discardChanges(this.id), "discarded"), { class: "danger" }),
        button("Verify again", () => this.#changes()),
      ),
      isEmpty
        ? emptyNote("The agent has changed nothing that is not applied.")
        : element("p", {}, badge(isUnchecked ? "not checked" : standingWords(review.standing), isUnchecked ? "unknown" : standingKind(review.standing)), ` ${shownLine(review.verdict || "no check could run", 1_000)}`),
      findings.length > 0 ? element("ul", { "aria-label": "Findings" }, findings.map((finding) => element("li", {}, shownText(finding, 600)))) : null,
      files.length > 0 ? table(["file", "change"], files.map((file) => [shownLine(file.path, 200), badge(shownLine(file.kind ?? "changed", 20))]), "Changed files") : null,
      leftOut.length > 0 ? table(["left out", "why"], leftOut.map(([path, reason]) => [shownLine(path, 200), shownLine(reason, 200)]), "Files that are neither checked nor applied") : null,
      review.text ? diffView(review.text, "Changes of the agent") : null,
    );
  }

  /** Applies changes if the agent has changed nothing since. Changes that no check can read need a yes. */
  async #apply(shown) {
    const present = await this.page.api.verifyChanges(this.id);
    if (present.reviewId !== shown.reviewId) throw new Error("the agent has changed something since; look at the changes again");
    return this.page.api.applyChanges(this.id, shown.reviewId, !shown.isChecked);
  }

  async #explain() {
    const explained = await this.page.attempt(() => this.page.api.explain(this.id));
    if (!explained || this.tab !== "explain") return;
    const rows = (list) => list.map((item) => [shownLine(item.source ?? "", 20), shownLine(item.rule ?? "", 80), item.matched ? "yes" : "no", shownLine(item.detail ?? "", 200)]);
    const { claims = [], rules = [] } = explained;
    show(
      this.panel,
      button("Read again", () => this.#explain()),
      element("h3", {}, "What the sources say, the most reliable first"),
      claims.length > 0 ? table(["source", "rule", "decides", "detail"], rows(claims), "Claims") : emptyNote("No source has said anything."),
      element("h3", {}, "Rules that were tried"),
      rules.length > 0 ? table(["source", "rule", "matched", "detail"], rows(rules), "Rules") : emptyNote("No rules were tried."),
    );
  }

  async #send() {
    const text = this.message.value.trim();
    if (!text) return;
    this.message.value = "";
    this.reply.hidden = false;
    this.reply.textContent = "…";
    const reply = await this.page.attempt(() => this.page.api.send(this.id, text));
    this.reply.textContent = reply ? shownText(reply.response || "(no text)", 20_000) : "";
    this.reply.hidden = !reply;
  }

  async #stop(force) {
    if (force && !window.confirm("End all processes of this agent at once?")) return;
    await this.page.attempt(() => this.page.api.stop(this.id, force), "stopped");
  }
}
