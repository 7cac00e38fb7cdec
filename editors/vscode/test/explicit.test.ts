import assert from "node:assert/strict";
import test from "node:test";
import { explicit, type Inspected, serverKeys } from "../src/explicit";

const KEYS = ["completion.max_lines", "completion.enabled", "model.path"];
const from = (found: Record<string, Inspected>) => (key: string) => found[key];

test("a default is not sent: it would override the project's own file", () => {
  const defaults = { defaultValue: 8 } as Inspected;
  assert.deepEqual(explicit(KEYS, from({ "completion.max_lines": defaults }), true), {});
});

test("the nearest value counts, and false is a value", () => {
  const found = {
    "completion.max_lines": { globalValue: 1, workspaceValue: 2, workspaceFolderValue: 3 },
    "completion.enabled": { globalValue: true, workspaceValue: false },
  };
  assert.deepEqual(explicit(KEYS, from(found), true), { completion: { max_lines: 3, enabled: false } });
});

test("a workspace that is not trusted sets nothing", () => {
  const found = { "completion.max_lines": { globalValue: 1, workspaceValue: 2 }, "model.path": { workspaceValue: "x.gguf" } };
  assert.deepEqual(explicit(KEYS, from(found), false), { completion: { max_lines: 1 } });
});

test("the extension's own settings are not the server's", () => {
  const names = ["lspHarness.server.command", "lspHarness.trace.server", "lspHarness.model.path", "other.key"];
  assert.deepEqual(serverKeys(names, "lspHarness"), ["model.path"]);
});
