/** Formats agents and their questions. Pure functions without VS Code. */

import { type Agent, type AgentQuestion, type AgentStatus, type Changes, hasEnded } from "./agentProtocol";

/** The name of a ThemeIcon, and of its colour if it has one. */
export interface Look {
  icon: string;
  color?: string;
}

const LOOKS: Record<AgentStatus, Look> = {
  pending: { icon: "circle-outline" },
  starting: { icon: "loading~spin" },
  authenticating: { icon: "key", color: "notificationsWarningIcon.foreground" },
  ready: { icon: "circle-filled", color: "testing.iconPassed" },
  busy: { icon: "sync~spin" },
  blocked: { icon: "question", color: "notificationsWarningIcon.foreground" },
  unknown: { icon: "warning" },
  stopping: { icon: "loading~spin" },
  stopped: { icon: "circle-slash" },
  error: { icon: "error", color: "notificationsErrorIcon.foreground" },
};

export const look = (agent: Agent): Look => LOOKS[agent.status] ?? LOOKS.unknown;

const WORDS: Partial<Record<AgentStatus, string>> = { authenticating: "waits for a login", blocked: "waits for an answer" };

/** Return the state in words, and how it is known: `busy (osc)`. */
export function describeState({ status, state }: Agent): string {
  const word = WORDS[status] ?? status;
  return state.source && state.source !== "process" ? `${word} (${state.source})` : word;
}

/** Return what distinguishes agents with the same name, after the state. */
export function describeAgent(agent: Agent): string {
  const waiting = agent.queue?.length ? [`${agent.queue.length} waiting`] : [];
  const type = agent.type === agent.name ? [] : [agent.type];
  return [describeState(agent), ...type, ...waiting].join(" · ");
}

/** Return the value for `viewItem` in the conditions of the menus, such as `agent;live;terminal;worktree`. */
export function contextValue(agent: Agent): string {
  const facts = {
    live: !hasEnded(agent),
    ended: hasEnded(agent),
    busy: agent.status === "busy",
    terminal: agent.hasTerminal,
    worktree: agent.isolation === "worktree",
  };
  return ["agent", ...Object.entries(facts).filter(([, holds]) => holds).map(([name]) => name)].join(";");
}

const MAX_QUESTION_CHARS = 300;
/** Control characters, and characters that turn the direction of writing, as in a text that looks like another one. */
const HIDDEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu;

/** Return a text of an agent as one line that shows what it has. */
export function cleanLine(text: string, limit = MAX_QUESTION_CHARS): string {
  const line = text.replace(HIDDEN, " ").replace(/\s+/g, " ").trim();
  return line.length > limit ? `${line.slice(0, limit - 1)}…` : line;
}

/** Return a question as one line: what the agent asks, and for which tool. */
export function describeQuestion({ question, tool, input, kind }: AgentQuestion): string {
  const values = Object.values(input ?? {}).filter((value) => typeof value === "string");
  const subject = tool ? `${tool}: ${values.join(" ")}` : "";
  const text = cleanLine([question, subject && !question.includes(values[0] ?? "\0") ? `(${subject})` : ""].join(" "));
  return text || (kind === "auth" ? "a login" : "a dialog that no rule knows; look at the terminal");
}

/** The longest message that VS Code shows as a whole, less the name of the agent. */
const MAX_MESSAGE_CHARS = 800;

/** Return all of a question as one line for a message, or its beginning and how much is missing. */
export function foldQuestion(question: AgentQuestion): { message: string; isWhole: boolean } {
  const whole = question.text?.replace(/\s*\n\s*/g, " ⏎ ") ?? "";
  if (!whole) {
    return { message: describeQuestion(question), isWhole: true };
  }
  const more = whole.length - MAX_MESSAGE_CHARS;
  return more > 0 ? { message: `${whole.slice(0, MAX_MESSAGE_CHARS)}… ${more} more characters`, isWhole: false } : { message: whole, isWhole: true };
}

/** Whether a question is answered by yes or no. The others need a text or one of their options. */
export const isPermission = ({ kind }: AgentQuestion): boolean => kind === "permission" || kind === "trust";

/** Return the address of a login if it may be opened: it is one of the web, and not of a program on this machine. */
export function loginAddress({ loginUrl }: AgentQuestion): string | undefined {
  try {
    const { protocol, href } = new URL(loginUrl);
    return protocol === "https:" || protocol === "http:" ? href : undefined;
  } catch {
    return undefined;
  }
}

/** Return what an agent changed as a sentence: `2 files: syntax ✓, lint ✗ (app.py:3: F821 …)`. */
export function describeChanges({ files, verdict, findings, passed }: Changes): string {
  const count = files.length === 1 ? "1 file" : `${files.length} files`;
  const reason = passed || findings.length === 0 ? "" : ` (${cleanLine(findings.join("; "))})`;
  return `${count}: ${verdict || "nothing to check"}${reason}`;
}

/** Return the page about changes: the verdict and what is left out as comments, and the diff. */
export function changesPage(changes: Changes): string {
  const leftOut = Object.entries(changes.leftOut).map(([path, reason]) => `left out: ${path}: ${reason}`);
  const lines = [describeChanges({ ...changes, findings: [] }), ...changes.findings, ...leftOut];
  return `${lines.map((line) => `# ${cleanLine(line)}`).join("\n")}\n\n${changes.text}`;
}
