import assert from "node:assert/strict";
import test from "node:test";
import type { WorkspaceEdit } from "vscode-languageclient/node";
import { confirmable, confirmed } from "../src/confirmable";

const range = { start: { line: 0, character: 0 }, end: { line: 0, character: 1 } };
const change = (uri = "file:///a.py") => ({
  textDocument: { uri, version: 3 },
  edits: [{ range, newText: "b", annotationId: "model" }],
});
const edit = (needsConfirmation = true, documentChanges: NonNullable<WorkspaceEdit["documentChanges"]> = [change()]): WorkspaceEdit => ({
  changeAnnotations: { model: { label: "syntax ✓", needsConfirmation } },
  documentChanges,
});

test("an edit of one file is shown with what it passed", () => {
  assert.deepEqual(confirmable(edit()), { uri: "file:///a.py", label: "syntax ✓", creates: false, edits: change().edits });
});

test("a file that is made is shown like one that is changed", () => {
  const made = edit(true, [{ kind: "create", uri: "file:///a.py", annotationId: "model" }, change()]);
  assert.equal(confirmable(made)?.creates, true);
  assert.deepEqual(confirmed(made).documentChanges?.[0], { kind: "create", uri: "file:///a.py" });
  assert.equal(confirmable(edit(true, [{ kind: "create", uri: "file:///b.py" }, change()])), undefined);
});

test("what nobody need confirm, or is more than the text of one file, is not ours to show", () => {
  assert.equal(confirmable(undefined), undefined);
  assert.equal(confirmable({ changes: { "file:///a.py": [{ range, newText: "b" }] } }), undefined);
  assert.equal(confirmable(edit(false)), undefined);
  assert.equal(confirmable(edit(true, [change(), change("file:///b.py")])), undefined);
  assert.equal(confirmable(edit(true, [{ kind: "create", uri: "file:///b.py" }])), undefined);
});

test("what is confirmed is the same edit of the same version, and asks for nothing more", () => {
  const bare = { textDocument: { uri: "file:///a.py", version: 3 }, edits: [{ range, newText: "b" }] };
  assert.deepEqual(confirmed(edit()), { documentChanges: [bare] });
});
