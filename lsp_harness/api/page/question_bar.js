// The questions that wait for an answer: those of sessions and of agents, in one place above everything else.

import { diffLineKinds } from "./diff_view.js";
import { badge, button, element, show } from "./dom.js";
import { shownLine, shownText } from "./shown_text.js";

const SESSION_CHOICES = [
  ["Allow once", { decision: "allow", remember: "once" }, "primary"],
  ["Allow for this session", { decision: "allow", remember: "session" }, ""],
  ["Always allow", { decision: "allow", remember: "always" }, ""],
  ["Deny", { decision: "deny" }, "danger"],
];
/** Answers that count for more than this time. */
const LASTING = new Set(["session", "always"]);
const AGENT_CHOICES = [
  ["Allow", { decision: "allow" }, "primary"],
  ["Deny", { decision: "deny" }, "danger"],
];
const TEXT_CHOICES = [
  ["Answer", { decision: "allow" }, "primary"],
  ["Refuse", { decision: "deny" }, "danger"],
];

/** Time after a change of the bar in which nothing is answered: the key or click may have been for what was there before. */
const SETTLE_MS = 400;

export class QuestionBar {
  constructor(page, node) {
    this.page = page;
    this.node = node;
    /** Key → a question with the functions that answer it. The oldest is first. */
    this.questions = new Map();
    /** Keys of questions that were answered here, which late lists may still contain. */
    this.answered = new Set();
  }

  /** Takes the open questions of all sessions. */
  setSessions(questions) {
    this.#replace("session ", questions.map((question) => [String(question.request_id), {
      where: { href: `#/session/${encodeURIComponent(question.session_id)}`, text: `session ${question.session_id}` },
      title: `${shownLine(question.tool ?? "", 60)}?`,
      risk: question.risk,
      text: question.text,
      // without a rule, no answer can count for more than this time
      choices: SESSION_CHOICES.filter(([, fields]) => !LASTING.has(fields.remember) || question.suggestions?.length > 0),
      answer: (fields) => this.page.api.answerPermission(String(question.request_id), fields),
    }]));
  }

  /** Takes the open questions of one agent. */
  setAgent(agent, questions) {
    this.#replace(`agent ${agent.id} `, questions.map((question) => [String(question.questionId), {
      where: { href: `#/agent/${encodeURIComponent(agent.id)}`, text: `agent ${shownLine(agent.name, 40)}` },
      title: shownLine(question.tool || question.kind, 60),
      risk: question.kind,
      text: question.text,
      address: question.loginUrl,
      wantsText: question.kind === "question",
      options: question.options ?? [],
      choices: { auth: [], question: TEXT_CHOICES }[question.kind] ?? AGENT_CHOICES,
      answer: (fields) => this.page.api.answerQuestion(agent.id, String(question.questionId), fields),
    }]));
  }

  /** Answers the oldest question, for a shortcut. */
  answerFirst(decision) {
    const [key, question] = this.questions.entries().next().value ?? [];
    const choice = question?.choices.find(([, fields]) => fields.decision === decision);
    if (choice) this.#answer(key, question, choice[1]);
  }

  /** Moves the keyboard to the oldest question. */
  focus() {
    this.node.querySelector("button, input, a")?.focus();
  }

  #replace(prefix, questions) {
    const before = [...this.questions.keys()].join("\n");
    const open = new Set(questions.map(([id]) => prefix + id));
    for (const key of [...this.questions.keys()]) if (key.startsWith(prefix) && !open.has(key)) this.questions.delete(key);
    for (const [id, question] of questions) if (!this.questions.has(prefix + id) && !this.answered.has(prefix + id)) this.questions.set(prefix + id, question);
    if ([...this.questions.keys()].join("\n") !== before) this.#draw();
  }

  async #answer(key, question, fields) {
    if (this.answered.has(key) || this.node.dataset.settled !== "true") return;
    this.answered.add(key);
    const answer = await this.page.attempt(() => question.answer(fields), fields.decision === "allow" ? "allowed" : "denied");
    // a question that could not be answered stays
    if (answer === undefined) this.answered.delete(key);
    else this.questions.delete(key);
    this.#draw();
  }

  #draw() {
    this.node.dataset.settled = "false";
    clearTimeout(this.settling);
    this.settling = setTimeout(() => (this.node.dataset.settled = "true"), SETTLE_MS);
    this.node.hidden = this.questions.size === 0;
    document.title = `${this.questions.size > 0 ? `(${this.questions.size}) ` : ""}lsp-harness inspector`;
    show(
      this.node,
      element("h2", {}, `${this.questions.size} ${this.questions.size === 1 ? "question waits" : "questions wait"} for your answer`),
      [...this.questions].map(([key, question]) => this.#card(key, question)),
    );
  }

  #card(key, question) {
    const text = question.wantsText ? element("input", { type: "text", "aria-label": "Answer", placeholder: "answer" }) : null;
    return element(
      "article",
      { class: "question", "aria-label": question.title },
      element("p", {}, question.risk ? [badge(shownLine(question.risk, 20), `risk-${String(question.risk).replace(/\W/gu, "")}`), " "] : null, element("strong", {}, question.title), " ", element("a", { href: question.where.href }, question.where.text)),
      question.text ? questionText(question.text) : null,
      question.options?.length > 0 ? element("p", { class: "facts" }, `It offers: ${question.options.map((option) => shownLine(option, 80)).join(" | ")}`) : null,
      question.address && /^https:\/\//iu.test(question.address) ? element("p", {}, "Login: ", element("a", { href: question.address, target: "_blank", rel: "noopener noreferrer" }, shownText(question.address, 2_000))) : null,
      text,
      element(
        "div",
        { class: "actions" },
        question.choices.map(([label, fields, kind]) => button(label, () => this.#answer(key, question, text ? { ...fields, text: text.value } : fields), { class: kind || null })),
      ),
    );
  }
}

/** Returns an element with all of a question. The lines of a change have the colours of a diff. */
function questionText(text) {
  const lines = shownText(text, Infinity).split("\n");
  let kindOf = diffLineKinds();
  const rows = lines.map((line, number) => {
    const isIndented = line.startsWith("  ");
    if (!isIndented) kindOf = diffLineKinds();
    return element("span", { class: `diff-${isIndented ? kindOf(line.slice(2)) : "same"}` }, number < lines.length - 1 ? `${line}\n` : line);
  });
  return element("pre", { class: "question-text", tabindex: "0", role: "region", "aria-label": "What it wants to do" }, rows);
}
