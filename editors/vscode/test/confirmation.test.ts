import assert from "node:assert/strict";
import test from "node:test";
import type { WorkspaceEdit } from "vscode-languageclient/node";
import { pendingEdit, withoutAnnotations } from "../src/confirmation";

const range = { start: { line: 0, character: 0 }, end: { line: 0, character: 1 } };
const change = (uri = "file:///a.py") => ({
  textDocument: { uri, version: 3 },
  edits: [{ range, newText: "b", annotationId: "model" }],
});
const edit = (needsConfirmation = true, documentChanges: NonNullable<WorkspaceEdit["documentChanges"]> = [change()]): WorkspaceEdit => ({
  changeAnnotations: { model: { label: "parse ✓", needsConfirmation } },
  documentChanges,
});

test("an edit of one file is shown with the checks that it passed", () => {
  assert.deepEqual(pendingEdit(edit()), { uri: "file:///a.py", label: "parse ✓", creates: false, edits: change().edits });
});

test("a new file is shown like a changed one", () => {
  const creation = edit(true, [{ kind: "create", uri: "file:///a.py", annotationId: "model" }, change()]);
  assert.equal(pendingEdit(creation)?.creates, true);
  assert.deepEqual(withoutAnnotations(creation).documentChanges?.[0], { kind: "create", uri: "file:///a.py" });
  assert.equal(pendingEdit(edit(true, [{ kind: "create", uri: "file:///b.py" }, change()])), undefined);
});

test("an edit without confirmation, or of more than one file, is not shown by the extension", () => {
  assert.equal(pendingEdit(undefined), undefined);
  assert.equal(pendingEdit({ changes: { "file:///a.py": [{ range, newText: "b" }] } }), undefined);
  assert.equal(pendingEdit(edit(false)), undefined);
  assert.equal(pendingEdit(edit(true, [change(), change("file:///b.py")])), undefined);
  assert.equal(pendingEdit(edit(true, [{ kind: "create", uri: "file:///b.py" }])), undefined);
});

test("a confirmed edit keeps its version and loses its annotations", () => {
  const plainChange = { textDocument: { uri: "file:///a.py", version: 3 }, edits: [{ range, newText: "b" }] };
  assert.deepEqual(withoutAnnotations(edit()), { documentChanges: [plainChange] });
});
