import assert from "node:assert/strict";
import test from "node:test";
import type { Agent, AgentQuestion } from "../src/agents/agentProtocol";
import { changesPage, cleanLine, contextValue, describeAgent, describeChanges, describeQuestion, foldQuestion, loginAddress } from "../src/agents/agentText";

const agent = (fields: Partial<Agent> = {}): Agent => ({
  id: "A1", name: "helper", type: "claude", status: "busy", state: { status: "busy", source: "osc", rule: "osc7501/working", kind: "", message: "" },
  workdir: "/work", transport: "pty", isolation: "none", hasTerminal: true, openQuestions: 0, exitCode: null, ...fields,
});
const question = (fields: Partial<AgentQuestion> = {}): AgentQuestion => ({ questionId: "q1", kind: "permission", question: "", tool: "", input: {}, options: [], loginUrl: "", ...fields });

test("an agent is described by its state, how that is known, its kind and what waits", () => {
  assert.equal(describeAgent(agent()), "busy (osc) · claude");
  assert.equal(describeAgent(agent({ name: "claude", queue: [{}, {}] })), "busy (osc) · 2 waiting");
  assert.equal(describeAgent(agent({ status: "authenticating", state: { ...agent().state, source: "process" } })), "waits for a login · claude");
});

test("the menus of an agent depend on what it is and does", () => {
  assert.equal(contextValue(agent()), "agent;live;busy;terminal");
  assert.equal(contextValue(agent({ status: "stopped", hasTerminal: false, isolation: "worktree" })), "agent;ended;worktree");
});

test("a text of an agent is one line without control characters and without marks that turn the direction of writing", () => {
  assert.equal(cleanLine("a\u001b]0;x\u0007\nb \u202ec"), "a ]0;x b c");
  assert.equal(cleanLine("x".repeat(400)).length, 300);
});

test("a question names its tool and what is to be done with it, once", () => {
  assert.equal(describeQuestion(question({ question: "May I?", tool: "Bash", input: { command: "rm x" } })), "May I? (Bash: rm x)");
  assert.equal(describeQuestion(question({ question: "Run rm x?", tool: "Bash", input: { command: "rm x" } })), "Run rm x?");
  assert.match(describeQuestion(question({ kind: "dialog" })), /look at the terminal/);
});

test("a question about a permission is shown as a whole, or says how much is missing", () => {
  assert.deepEqual(foldQuestion(question({ question: "May I?" })), { message: "May I?", isWhole: true });
  assert.deepEqual(foldQuestion(question({ text: "bash:\n  rm x" })), { message: "bash: ⏎ rm x", isWhole: true });
  const { message, isWhole } = foldQuestion(question({ text: "x".repeat(1_000) }));
  assert.deepEqual([message, isWhole], [`${"x".repeat(800)}… 200 more characters`, false]);
});

test("only an address of the web is opened", () => {
  assert.equal(loginAddress(question({ loginUrl: "https://login.example.com/a?b=c" })), "https://login.example.com/a?b=c");
  for (const loginUrl of ["", "command:x", "file:///etc/passwd", "vscode://x/y", "javascript:alert(1)", "no address"]) {
    assert.equal(loginAddress(question({ loginUrl })), undefined);
  }
});

test("changes are described by the verdict, and by what it found", () => {
  const changes = { reviewId: "r", passed: false, verdict: "lint ✗", findings: ["a.py:1: F821"], files: [{ path: "a.py", kind: "changed" as const }], leftOut: { "b.bin": "no text" }, text: "+x" };
  assert.equal(describeChanges(changes), "1 file: lint ✗ (a.py:1: F821)");
  assert.equal(changesPage(changes), "# 1 file: lint ✗\n# a.py:1: F821\n# left out: b.bin: no text\n\n+x");
});
