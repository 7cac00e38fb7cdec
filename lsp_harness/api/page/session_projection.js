// The state of a session, computed from its events in order. There is no other source, so that a page that was opened
// late, or that lost its connection, shows the same as one that saw everything.

import { standingOf } from "./verdict_words.js";

export class SessionProjection {
  constructor() {
    this.events = [];
    this.lastSeq = -1;
    this.model = "";
    this.mode = "";
    this.driver = "";
    this.root = "";
    /** Number of a turn → {number, start, end, reason, detail, prompt, text}. */
    this.turns = new Map();
    /** "turn/number" → a candidate with its verdict. */
    this.candidates = new Map();
    /** Id of the event `edit.proposed` → the proposal with its diff. */
    this.edits = new Map();
    /** One row for each call of a model. */
    this.calls = [];
    /** One row for each state of a turn that has ended. */
    this.stages = [];
    this.artifacts = new Map();
    this.tasks = new Map();
    /** Id of the session of a subagent → {id, preset, reason, text, tokens}. */
    this.subagents = new Map();
    /** Id of a question → the question. Those that were decided are removed. */
    this.questions = new Map();
    /** What the model writes at this moment; it is in no event yet. */
    this.liveText = "";
    this.isRunning = false;
    this.parent = "";
  }

  /** Takes the next event. Returns whether it is one of the log, and not a piece of text or one that came before. */
  add(event) {
    if (!event || typeof event.type !== "string") return false;
    const data = event.data ?? {};
    if (event.seq === null || event.seq === undefined) {
      if (event.type === "text.delta") this.liveText = (this.liveText + String(data.content ?? "")).slice(-20_000);
      return false;
    }
    if (event.seq <= this.lastSeq) return false;
    this.lastSeq = event.seq;
    this.events.push(event);
    HANDLERS[event.type]?.(this, data, event);
    return true;
  }

  /** The tokens of all calls, with those of subagents. */
  get tokens() {
    const total = { input: 0, cached: 0, output: 0, calls: this.calls.length };
    for (const row of [...this.calls, ...[...this.subagents.values()].map((agent) => agent.tokens)]) {
      total.input += row.input;
      total.cached += row.cached;
      total.output += row.output;
    }
    return total;
  }

  /** The candidates, by turn and number. */
  get candidateRows() {
    return [...this.candidates.values()].sort((a, b) => a.turn - b.turn || a.number - b.number);
  }

  /** Returns the turn of an event, which begins with it if it is new. */
  turnOf(event) {
    const number = event.data?.number ?? event.turn ?? 0;
    let turn = this.turns.get(number);
    if (!turn) {
      turn = { number, start: "", end: "", reason: "", detail: "", prompt: "", text: "" };
      this.turns.set(number, turn);
    }
    return turn;
  }

  /** Returns the candidate of an event, or null if the event is about none. */
  candidateOf(event) {
    const number = event.data?.candidate;
    if (typeof number !== "number") return null;
    const key = `${event.turn ?? 0}/${number}`;
    let candidate = this.candidates.get(key);
    if (!candidate) {
      candidate = { key, turn: event.turn ?? 0, number, kind: "", text: "", edits: [], status: "generated", reason: "", checks: [], passed: null, standing: "", words: "", hash: "" };
      this.candidates.set(key, candidate);
    }
    return candidate;
  }
}

/** Returns the tokens of a `usage` object. The cached ones are part of the input. */
export function readUsage(usage) {
  const count = (name) => (Number.isFinite(usage?.[name]) ? usage[name] : 0);
  return { input: count("input_tokens"), cached: Math.min(count("cached_tokens"), count("input_tokens")), output: count("output_tokens") };
}

const HANDLERS = {
  __proto__: null,
  "session.started"(state, data) {
    state.model = data.model ?? "";
    state.mode = data.permission_mode ?? "";
    state.driver = data.driver ?? "";
    state.root = data.root ?? "";
    state.parent = data.parent ?? state.parent;
  },
  "session.forked"(state, data) {
    state.parent = data.parent ?? "";
  },
  "session.resumed"(state, data) {
    state.model = data.model || state.model;
    state.questions.clear();
  },
  "session.closed"(state) {
    state.isRunning = false;
    state.questions.clear();
  },
  "model.changed"(state, data) {
    state.model = data.model ?? state.model;
  },
  "invocation.received"(state, data, event) {
    if (event.turn !== null) state.turnOf(event).prompt ||= String(data.text ?? "");
  },
  "invocation.auto"(state, data, event) {
    if (event.turn !== null) state.turnOf(event).prompt ||= String(data.text ?? "");
  },
  "turn.started"(state, data, event) {
    state.turnOf(event).start = event.ts ?? "";
    state.isRunning = true;
    state.liveText = "";
  },
  "turn.stopped"(state, data, event) {
    Object.assign(state.turnOf(event), { end: event.ts ?? "", reason: data.reason ?? "", detail: data.detail ?? "", text: data.text ?? "" });
    state.isRunning = false;
    state.liveText = "";
    state.questions.clear();
  },
  "model.completed"(state, data, event) {
    state.calls.push({ turn: event.turn ?? 0, model: data.model ?? "", ms: data.ms ?? 0, ts: event.ts ?? "", ...readUsage(data.usage) });
    state.liveText = "";
  },
  "state.exited"(state, data, event) {
    state.stages.push({ turn: event.turn ?? 0, state: String(data.state ?? ""), ms: data.ms ?? 0, outcome: data.outcome ?? "" });
  },
  "candidate.generated"(state, data, event) {
    Object.assign(state.candidateOf(event) ?? {}, {
      kind: data.kind ?? "",
      text: data.text ?? "",
      edits: Array.isArray(data.edits) ? data.edits : [],
      generated: data.generated ?? 0,
    });
    // a candidate that needed no model is no call
    if (data.generated) {
      const tokens = { input_tokens: (data.evaluated ?? 0) + (data.reused ?? 0), cached_tokens: data.reused, output_tokens: data.generated };
      state.calls.push({ turn: event.turn ?? 0, model: `candidate ${data.candidate}`, ms: 0, ts: event.ts ?? "", ...readUsage(tokens) });
    }
  },
  "candidate.rejected"(state, data, event) {
    Object.assign(state.candidateOf(event) ?? {}, { status: "rejected", reason: data.reason ?? "" });
  },
  "candidate.selected"(state, data, event) {
    Object.assign(state.candidateOf(event) ?? {}, { status: "selected" });
  },
  "verify.step"(state, data, event) {
    const report = data.report ?? {};
    state.candidateOf(event)?.checks.push(readCheck(report));
  },
  "verify.completed"(state, data, event) {
    const candidate = state.candidateOf(event);
    if (!candidate) return;
    candidate.passed = data.passed === true;
    candidate.standing = standingOf(data);
    candidate.words = String(data.words ?? "");
    candidate.hash = data.hash ?? "";
    const outcomes = list(data.outcomes).map(readCheck);
    if (outcomes.length > 0) candidate.checks = outcomes;
  },
  "edit.proposed"(state, data, event) {
    state.edits.set(event.id, { id: event.id, turn: event.turn ?? 0, diff: String(data.diff ?? ""), summary: String(data.summary ?? ""), hash: data.hash ?? "", status: "proposed" });
  },
  "edit.applied"(state, data) {
    setEditStatus(state, data, "applied");
  },
  "edit.rejected"(state, data) {
    setEditStatus(state, data, "rejected");
  },
  "edit.reverted"(state, data) {
    for (const edit of state.edits.values()) {
      if (edit.status === "applied" && (data.reverted_turn === undefined || edit.turn === data.reverted_turn)) edit.status = "reverted";
    }
  },
  "artifact.created"(state, data) {
    state.artifacts.set(data.artifact_id, data);
  },
  "task.started"(state, data) {
    state.tasks.set(data.task_id, { ...data, status: "running" });
  },
  "task.completed": (state, data) => endTask(state, data, "completed"),
  "task.failed": (state, data) => endTask(state, data, "failed"),
  "task.cancelled": (state, data) => endTask(state, data, "cancelled"),
  "agent.finished"(state, data) {
    state.subagents.set(data.session_id, { id: data.session_id, preset: data.preset ?? "", reason: data.reason ?? "", text: data.text ?? "", tokens: readUsage(data.usage) });
  },
  "permission.requested"(state, data, event) {
    state.questions.set(data.request_id, { ...data, ts: event.ts });
  },
  "permission.decided"(state, data) {
    if (data.request_id) state.questions.delete(data.request_id);
    else for (const [id, question] of state.questions) if (data.call_id && question.call_id === data.call_id) state.questions.delete(id);
  },
};

const readCheck = (report) => ({
  check: String(report?.check ?? ""),
  status: String(report?.status ?? ""),
  reason: String(report?.reason ?? ""),
  extent: String(report?.extent ?? ""),
  said: list(report?.said),
});

const list = (value) => (Array.isArray(value) ? value : []);

function setEditStatus(state, data, status) {
  const edit = state.edits.get(data.proposal);
  if (edit) edit.status = status;
}

function endTask(state, data, status) {
  state.tasks.set(data.task_id, { ...state.tasks.get(data.task_id), ...data, status });
}
