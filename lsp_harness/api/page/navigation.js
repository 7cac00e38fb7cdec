// The lists of sessions and agents, and the form for a new agent.

import { KNOWN_KINDS, installedKinds, usableRunners } from "./agent_kinds.js";
import { badge, button, element, emptyNote, show } from "./dom.js";
import { shownCount, shownFolder, shownLine } from "./shown_text.js";

export class Navigation {
  constructor(page, node) {
    this.page = page;
    this.words = "";
    this.sessions = element("ul", { class: "links", "aria-labelledby": "nav-sessions" });
    this.agents = element("ul", { class: "links", "aria-labelledby": "nav-agents" });
    show(
      node,
      element("div", { class: "nav-head" }, element("h2", { id: "nav-agents" }, "Agents"), button("New", () => this.#newAgent(), { "aria-label": "New agent" })),
      this.agents,
      element("div", { class: "nav-head" }, element("h2", { id: "nav-sessions" }, "Sessions"), button("New", () => this.#newSession(), { "aria-label": "New session" })),
      element("input", { type: "search", placeholder: "filter", "aria-label": "Filter sessions", oninput: (event) => ((this.words = event.target.value.toLowerCase()), this.draw()) }),
      this.sessions,
    );
  }

  /** Draws both lists, with the part that is open marked. */
  draw() {
    const here = decodeURIComponent(location.hash.replace(/^#\//u, ""));
    const { sessionRows, agents } = this.page;
    const link = (kind, id, ...content) => {
      const isHere = here === `${kind}/${id}`;
      return element("li", {}, element("a", { href: `#/${kind}/${encodeURIComponent(id)}`, "aria-current": isHere ? "page" : null }, content));
    };
    const rows = sessionRows.filter((row) => !this.words || `${row.id} ${row.title} ${row.folder} ${row.model}`.toLowerCase().includes(this.words));
    this.#keepFocus(() => {
      show(
        this.agents,
        agents.size === 0 ? element("li", {}, emptyNote("none runs")) : [...agents.values()].map((agent) => link("agent", agent.id, badge(agent.status, agent.status), element("span", {}, shownLine(agent.name, 40)), element("small", {}, shownLine(`${agent.type} · ${agent.workdir ?? ""}`, 80)))),
      );
      show(
        this.sessions,
        rows.length === 0
          ? element("li", {}, emptyNote("none"))
          : rows.map((row) => link("session", row.id, element("span", {}, shownLine(row.title || row.id, 70)), element("small", {}, [shownFolder(row.folder), row.driver, shownCount(row.turns, "turn"), String(row.started_at ?? "").slice(0, 16).replace("T", " "), row.parent && (typeof row.fork_seq === "number" ? "fork" : "subagent"), row.is_open && "open"].filter(Boolean).join(" · ")))),
      );
    });
  }

  #keepFocus(draw) {
    const focused = document.activeElement?.closest?.("nav a")?.getAttribute("href");
    draw();
    if (focused) [...document.querySelectorAll("nav a")].find((each) => each.getAttribute("href") === focused)?.focus();
  }

  #newSession() {
    const drivers = [
      ["chat", "a conversation with tools"],
      ["code", "one checked edit for each prompt"],
    ];
    openForm(
      "New session",
      [
        drivers.map(([driver, text]) => element("label", {}, element("input", { type: "radio", name: "driver", value: driver, checked: driver === "chat" }), ` ${driver}: ${text}`)),
        element("div", { class: "fields" }, field("workdir", "Folder", { placeholder: "." })),
      ],
      async (values) => {
        const session = await this.page.attempt(() => this.page.api.newSession(values));
        if (!session) return false;
        await this.page.loadSessions();
        this.page.open("session", session.session_id);
        return true;
      },
    );
  }

  #newAgent() {
    const kinds = element("datalist", { id: "kinds" });
    const runners = element("datalist", { id: "runners" });
    const offer = (list, choices) => show(list, choices.map(({ value, label }) => element("option", { value, label })));
    offer(kinds, KNOWN_KINDS);
    // the form can be used while the server asks the programs for their versions
    this.page.attempt(() => this.page.api.kinds()).then((found) => {
      if (!found) return;
      offer(kinds, installedKinds(found.kinds));
      offer(runners, usableRunners(found.runners));
    });
    openForm(
      "New agent",
      [
        element("div", { class: "fields" }, field("type", "Kind", { list: "kinds", required: true, autocomplete: "off" }), kinds, field("name", "Name"), field("workdir", "Folder", { placeholder: "." }), field("model", "Model"), field("runner", "Runs in", { list: "runners", placeholder: "as the settings say", autocomplete: "off" }), runners),
        element("label", {}, element("input", { type: "checkbox", name: "isolation", value: "worktree" }), " in a git worktree of its own, with checked changes"),
        element("label", {}, element("input", { type: "checkbox", name: "terminal", value: "1" }), " in a terminal, also if it has a protocol"),
      ],
      async (values) => {
        if (values.terminal) values.terminal = true;
        const agent = await this.page.attempt(() => this.page.api.spawn(values), "started");
        if (!agent) return false;
        this.page.takeAgent(agent);
        this.page.open("agent", agent.id);
        return true;
      },
    );
  }
}

const field = (name, label, attributes = {}) => [element("label", { for: `new-${name}` }, label), element("input", { id: `new-${name}`, name, ...attributes })];

/** Shows a form in a dialog. It is closed if `submit`, which gets its values, returns true. */
function openForm(title, content, submit) {
  const start = element("button", { value: "start", class: "primary" }, "Start");
  const dialog = element(
    "dialog",
    { "aria-labelledby": "form-title", onclose: () => dialog.remove() },
    element(
      "form",
      {
        method: "dialog",
        onsubmit: async (event) => {
          if (event.submitter?.value === "cancel") return;
          event.preventDefault();
          start.disabled = true;
          const isDone = await submit(Object.fromEntries([...new FormData(event.target)].filter(([, value]) => value !== "")));
          start.disabled = false;
          if (isDone) dialog.close();
        },
      },
      element("h2", { id: "form-title" }, title),
      content,
      element("div", { class: "actions" }, start, element("button", { value: "cancel", formnovalidate: true }, "Cancel")),
    ),
  );
  document.body.append(dialog);
  dialog.showModal();
}
