import assert from "node:assert/strict";
import test from "node:test";
import { groupOf, kindOf, summaryOf } from "../../../lsp_harness/api/page/event_summary.js";
import { SessionProjection } from "../../../lsp_harness/api/page/session_projection.js";
import { layOutBars } from "../../../lsp_harness/api/page/usage_chart.js";

function session(...steps) {
  const state = new SessionProjection();
  steps.forEach(([type, data = {}, turn = 0], seq) => state.add({ v: 1, id: `E${seq}`, seq, ts: "2026-11-27T07:00:00Z", session_id: "S", turn, step: null, cause: null, type, data }));
  return state;
}

const EDIT = [
  ["session.started", { driver: "code", model: "m", permission_mode: "ask", root: "/w" }, null],
  ["turn.started", { number: 0 }],
  ["invocation.received", { kind: "message", text: "check the radius" }],
  ["model.completed", { model: "m", ms: 120, usage: { input_tokens: 100, cached_tokens: 60, output_tokens: 20 } }],
  ["candidate.generated", { candidate: 1, kind: "model", text: "bad" }],
  ["verify.step", { candidate: 1, report: { check: "syntax", status: "failed", said: ["line 1: invalid"] } }],
  ["verify.completed", { candidate: 1, passed: false, hash: "h1", outcomes: [{ check: "syntax", status: "failed", said: ["line 1: invalid"] }, { check: "types", status: "skipped", reason: "no checker" }] }],
  ["candidate.rejected", { candidate: 1, reason: "syntax" }],
  ["candidate.generated", { candidate: 2, kind: "repair", text: "good" }],
  ["verify.completed", { candidate: 2, passed: true, hash: "h2", outcomes: [] }],
  ["candidate.selected", { candidate: 2, passed: 1 }],
  ["edit.proposed", { hash: "h2", diff: "+a", summary: "checks the radius" }],
];

test("candidates have their verdicts, and proposals their diffs", () => {
  const state = session(...EDIT);
  const [first, second] = state.candidateRows;
  assert.deepEqual([first.status, first.passed, first.reason], ["rejected", false, "syntax"]);
  assert.deepEqual(first.checks.map(({ check, status, reason }) => [check, status, reason]), [["syntax", "failed", ""], ["types", "skipped", "no checker"]]);
  assert.deepEqual([second.status, second.passed], ["selected", true]);
  assert.equal(state.edits.get("E11").diff, "+a");
  assert.equal(state.isRunning, true);
  assert.equal(state.turns.get(0).prompt, "check the radius");
});

test("applied edits can be reverted", () => {
  const state = session(...EDIT, ["edit.applied", { proposal: "E11" }], ["edit.reverted", { checkpoint: "C", paths: ["a.py"], reverted_turn: 0 }, 1]);
  assert.equal(state.edits.get("E11").status, "reverted");
});

test("events that come again change nothing", () => {
  const state = session(...EDIT);
  assert.equal(state.add(state.events[3]), false);
  assert.equal(state.calls.length, 1);
  assert.equal(state.events.length, EDIT.length);
});

test("pieces of text are shown until the answer is an event", () => {
  const state = session(EDIT[0], EDIT[1]);
  const piece = (content) => state.add({ seq: null, type: "text.delta", data: { content } });
  piece("hel");
  assert.equal(piece("lo"), false);
  assert.equal(state.liveText, "hello");
  state.add({ seq: 2, turn: 0, type: "model.completed", data: { usage: { input_tokens: 1, output_tokens: 2 } } });
  assert.equal(state.liveText, "");
});

test("a question is open until it is decided, or its turn ends", () => {
  const asked = ["permission.requested", { request_id: "Q", tool: "bash", call_id: "c" }];
  assert.equal(session(EDIT[1], asked).questions.size, 1);
  assert.equal(session(EDIT[1], asked, ["permission.decided", { request_id: "Q", decision: "deny" }]).questions.size, 0);
  assert.equal(session(EDIT[1], asked, ["permission.decided", { call_id: "c", decision: "deny" }]).questions.size, 0);
  assert.equal(session(EDIT[1], asked, ["turn.stopped", { number: 0, reason: "cancelled" }]).questions.size, 0);
});

test("the line about a question names the foreign agent that asks", () => {
  const data = { tool: "bash", decision: "deny", by: "person", action: "run ls", agent_id: "01A" };
  assert.equal(summaryOf({ type: "permission.requested", data }), "agent 01A · bash? · {}");
  assert.equal(summaryOf({ type: "permission.decided", data }), "agent 01A · deny by person · run ls");
  assert.equal(summaryOf({ type: "permission.decided", data: { ...data, agent_id: "" } }), "deny by person · run ls");
});

test("the tokens of subagents count", () => {
  const state = session(...EDIT, ["agent.finished", { session_id: "A", reason: "completed", preset: "explore", usage: { input_tokens: 10, output_tokens: 5 } }]);
  assert.deepEqual(state.tokens, { input: 110, cached: 60, output: 25, calls: 1 });
});

test("a candidate of the model is a call, and one of a rule is none", () => {
  const state = session(
    ["candidate.generated", { candidate: 1, kind: "rewrite", evaluated: 30, reused: 12, generated: 7 }],
    ["candidate.generated", { candidate: 2, kind: "nearest name", text: "path" }],
  );
  assert.deepEqual(state.tokens, { input: 42, cached: 12, output: 7, calls: 1 });
  assert.equal(state.calls[0].model, "candidate 1");
});

test("odd events do no harm", () => {
  const state = session(["candidate.generated", {}], ["verify.step", {}], ["model.completed", { usage: "x" }], ["turn.stopped", {}], ["constructor", {}], ["new.type", { a: { b: 1 } }]);
  assert.equal(state.events.length, 6);
  assert.equal(state.add(null), false);
  assert.equal(state.add({ type: 5 }), false);
  assert.equal(summaryOf({ type: "new.type", data: { a: { b: 1 } } }), 'a: {"b":1}');
  assert.equal(summaryOf({ type: "constructor", data: {} }), "");
});

test("failures are a group of their own", () => {
  assert.equal(groupOf("tool.failed"), "error");
  assert.equal(groupOf("tool.completed"), "tool");
  assert.equal(groupOf("index.updated"), "other");
});

test("bars fill the height of the largest call, and cached tokens are a part of the input", () => {
  const { highest, bars } = layOutBars([{ input: 80, cached: 30, output: 20 }, { input: 10, cached: 0, output: 0 }], 200);
  assert.equal(highest, 100);
  assert.deepEqual(bars[0].map(({ kind, height, y }) => [kind, height, y]), [["cached", 60, 140], ["input", 100, 40], ["output", 40, 0]]);
});

test("a verdict is green only if it is verified, and a failed one is never", () => {
  const completed = (data) => ({ type: "verify.completed", data });
  assert.equal(kindOf(completed({ passed: false, standing: "failed" })), "failed");
  assert.equal(kindOf(completed({ passed: true, standing: "verified" })), "passed");
  for (const standing of ["form", "incomplete", "unresolved", "unchecked"]) assert.equal(kindOf(completed({ passed: true, standing })), "unknown");
  // the logs of older versions do not say what was looked at
  assert.equal(kindOf(completed({ passed: false })), "failed");
  assert.equal(kindOf(completed({ passed: true })), "unknown");
  // whatever else the event says, a check that failed is red
  for (const standing of ["verified", "form", "incomplete"]) assert.equal(kindOf(completed({ passed: false, standing })), "failed");
  assert.equal(kindOf(completed({ passed: true, standing: "verified", outcomes: [{ check: "tests", status: "failed" }] })), "failed");
  assert.equal(kindOf({ type: "verify.step", data: { report: { status: "skipped" } } }), "unknown");
  assert.equal(kindOf({ type: "edit.proposed", data: {} }), "edit");
});

test("the line about a verdict has its words, why a check was skipped, and how much was checked", () => {
  const outcomes = [
    { check: "syntax", status: "passed" },
    { check: "types", status: "skipped", reason: "no checker" },
    { check: "tests", status: "passed", reason: "120 tests", extent: "24 of 53 files" },
  ];
  const line = summaryOf({ type: "verify.completed", data: { passed: true, words: "verified ✓", outcomes } });
  assert.equal(line, "verified ✓ · syntax ✓, types – (no checker), tests ✓ (24 of 53 files; 120 tests)");
});

test("a candidate has what its verdict says", () => {
  const state = session(["verify.completed", { candidate: 1, passed: true, standing: "form", words: "form ✓, behaviour not checked", outcomes: [] }]);
  const [row] = state.candidateRows;
  assert.deepEqual([row?.standing, row?.words], ["form", "form ✓, behaviour not checked"]);
});
