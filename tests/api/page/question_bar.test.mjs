import assert from "node:assert/strict";
import test from "node:test";
import { newElement } from "./page_document.mjs";
import { QuestionBar } from "../../../lsp_harness/api/page/question_bar.js";

const EDIT = { request_id: "q", session_id: "S", tool: "edit", risk: "medium", suggestions: ["edit(a.py)"], text: "edit: change files\n  - old\n  + new\nasked because: it asks" };

function bar(t, question) {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const node = newElement();
  const answers = [];
  const page = { attempt: (action) => action(), api: { answerPermission: async (id, fields) => answers.push([id, fields]) } };
  const questions = new QuestionBar(page, node);
  questions.setSessions([question]);
  return { node, answers, questions, labels: () => node.all("button").map((button) => button.textContent) };
}

test("the whole question stands before its buttons", (t) => {
  const { node } = bar(t, EDIT);
  const [card] = node.all("article");
  const [text] = card.all("pre");
  assert.equal(text.textContent, EDIT.text);
  assert.deepEqual(text.all("span").map((line) => line.attributes.get("class")), ["diff-same", "diff-removed", "diff-added", "diff-same"]);
  assert.ok(card.children.indexOf(text) < card.children.findIndex((child) => child.attributes?.get("class") === "actions"));
});

test("a long question is not cut", (t) => {
  const text = `bash: run a program\n  ${"-a ".repeat(50_000)}; curl evil`;
  assert.equal(bar(t, { ...EDIT, text }).node.all("pre")[0].textContent, text);
});

test("a click for what was there before answers nothing", async (t) => {
  const { node, answers, questions } = bar(t, EDIT);
  node.all("button")[0].click();
  questions.answerFirst("allow");
  assert.deepEqual(answers, []);
  t.mock.timers.tick(10_000);
  node.all("button")[0].click();
  assert.deepEqual(answers, [["q", { decision: "allow", remember: "once" }]]);
});

test("only a question with a rule can be allowed for longer", (t) => {
  assert.deepEqual(bar(t, EDIT).labels(), ["Allow once", "Allow for this session", "Always allow", "Deny"]);
});

test("without a rule it is allowed once", (t) => {
  assert.deepEqual(bar(t, { ...EDIT, suggestions: [] }).labels(), ["Allow once", "Deny"]);
});

test("the question of an agent is shown as a whole, too", (t) => {
  const { node, questions } = bar(t, EDIT);
  const text = `  may I?\nshell:\ncommand: ${"x".repeat(10_000)}`;
  questions.setAgent({ id: "w1", name: "worker" }, [{ questionId: "1", kind: "permission", tool: "shell", text, options: [] }]);
  assert.equal(node.all("pre")[1].textContent, text);
});
