// One line for each event of a session or an agent, and the group by which the timeline filters it.

import { shownDuration, shownLine } from "./shown_text.js";
import { MARKS, standingKind, standingOf } from "./verdict_words.js";

/** The groups of events, in the order of the filter. */
export const GROUPS = ["prompt", "model", "tool", "permission", "candidate", "check", "edit", "task", "error", "other"];

const BY_PREFIX = [
  ["invocation.", "prompt"],
  ["queue.", "prompt"],
  ["turn.", "prompt"],
  ["model.", "model"],
  ["context.", "model"],
  ["compaction.", "model"],
  ["tool.", "tool"],
  ["output.", "tool"],
  ["artifact.", "tool"],
  ["permission.", "permission"],
  ["hook.", "permission"],
  ["candidate.", "candidate"],
  ["choice.", "candidate"],
  ["verify.", "check"],
  ["edit.", "edit"],
  ["checkpoint.", "edit"],
  ["task.", "task"],
  ["agent.", "task"],
];
const FAILURES = new Set(["error", "model.failed", "tool.failed", "task.failed"]);

/** Returns the group of a type of events. */
export function groupOf(type) {
  if (FAILURES.has(type)) return "error";
  return BY_PREFIX.find(([prefix]) => type.startsWith(prefix))?.[1] ?? "other";
}

/** Returns the kind by which an event is coloured: its group, or what the verdict of a check says. */
export function kindOf(event) {
  const data = event.data ?? {};
  if (event.type === "verify.completed") return standingKind(standingOf(data));
  if (event.type === "verify.step") return { passed: "passed", failed: "failed" }[data.report?.status] ?? "unknown";
  return groupOf(event.type);
}

/** Returns one line about an event. */
export function summaryOf(event) {
  const data = event.data ?? {};
  const summarize = SUMMARIES[event.type];
  const text = summarize ? summarize(data) : Object.entries(data).map(([key, value]) => `${key}: ${plain(value)}`).join(" · ");
  return shownLine(text, 300);
}

const plain = (value) => (typeof value === "object" && value !== null ? JSON.stringify(value) : String(value));
const joined = (...parts) => parts.filter((part) => part !== undefined && part !== null && part !== "").join(" · ");
/** Returns a check with its sign, the part that was checked, and why it was skipped or which tests ran. */
const marked = (report) => {
  const says = report?.status === "skipped" || report?.check === "tests";
  const remark = [report?.extent, says ? report?.reason : ""].filter(Boolean).join("; ");
  return `${report?.check} ${MARKS[report?.status] ?? "?"}${remark ? ` (${remark})` : ""}`;
};

/** Returns the foreign agent that a question is about, if there is one. */
const asker = (data) => (data.agent_id ? `agent ${data.agent_id}` : "");

const SUMMARIES = {
  __proto__: null,
  "session.started": (data) => joined(`driver ${data.driver ?? "?"}`, data.model, `mode ${data.permission_mode ?? "?"}`, data.root),
  "session.resumed": (data) => joined(`continued after ${data.events} events`, data.model),
  "session.forked": (data) => `continues ${data.parent} after event ${data.at_seq}`,
  "invocation.received": (data) => joined(data.text, data.path),
  "invocation.auto": (data) => data.text,
  "turn.started": (data) => joined(`turn ${data.number}`, data.driver),
  "turn.stopped": (data) => joined(`turn ${data.number}: ${data.reason}`, data.detail, data.text),
  "step.started": (data) => `step ${data.number}`,
  "model.started": (data) => joined(data.model, data.prompt_tokens === undefined ? "" : `${data.prompt_tokens} tokens`),
  "model.completed": (data) =>
    joined(data.ms === undefined ? "" : shownDuration(data.ms), `${data.usage?.input_tokens ?? 0} → ${data.usage?.output_tokens ?? 0} tokens`, data.text),
  "model.failed": (data) => joined(data.code, data.message, data.will_retry ? "tries again" : ""),
  "tool.started": (data) => joined(data.tool, plain(data.input ?? {})),
  "tool.completed": (data) => joined(data.tool, data.ms === undefined ? "" : shownDuration(data.ms), data.output),
  "tool.failed": (data) => joined(data.tool, data.reason, data.output),
  "permission.requested": (data) => joined(asker(data), `${data.tool}?`, data.risk ? `risk ${data.risk}` : "", plain(data.input ?? {}), data.reason),
  "permission.decided": (data) => joined(asker(data), `${data.decision} by ${data.by}`, data.action, data.reason),
  "hook.decision": (data) => joined(data.event, data.hook, data.decision, data.reason, data.error),
  "candidate.generated": (data) => joined(`candidate ${data.candidate}`, data.kind, data.text),
  "candidate.rejected": (data) => joined(`candidate ${data.candidate}`, data.reason),
  "candidate.selected": (data) => joined(`candidate ${data.candidate}`, `${data.passed} passed`),
  "verify.started": (data) => joined(data.candidate === undefined ? "" : `candidate ${data.candidate}`, (data.checks ?? []).join(", ")),
  "verify.step": (data) => joined(data.candidate === undefined ? "" : `candidate ${data.candidate}`, marked(data.report), (data.report?.said ?? []).join(" ")),
  "verify.completed": (data) => joined(data.words || (data.passed ? "nothing failed" : "failed"), (data.outcomes ?? []).map(marked).join(", ")),
  "edit.proposed": (data) => data.summary,
  "edit.reverted": (data) => (data.paths ?? []).join(", "),
  "state.entered": (data) => joined(data.state, data.reason),
  "state.exited": (data) => joined(data.state, data.ms === undefined ? "" : shownDuration(data.ms), data.outcome),
  "task.started": (data) => joined(data.kind, data.title, data.execution),
  "task.completed": (data) => joined(data.summary, data.exit_code === undefined || data.exit_code === null ? "" : `status ${data.exit_code}`),
  "task.failed": (data) => data.reason,
  "task.cancelled": (data) => data.reason,
  "agent.finished": (data) => joined(data.preset, data.reason, data.text),
  "artifact.created": (data) => joined(data.kind, `${data.bytes ?? "?"} bytes`, data.path),
  error: (data) => joined(data.code, data.message),
};
