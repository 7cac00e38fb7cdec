import assert from "node:assert/strict";
import test from "node:test";
import { explicitSettings, type Inspected, serverKeys } from "../src/explicitSettings";

const KEYS = ["completion.max_lines", "completion.enabled", "model.path"];
const lookup = (values: Record<string, Inspected>) => (key: string) => values[key];

test("a default is not sent because it would override the project's file", () => {
  const defaults = { defaultValue: 8 } as Inspected;
  assert.deepEqual(explicitSettings(KEYS, lookup({ "completion.max_lines": defaults }), true), {});
});

test("the most specific value counts, and false is a value", () => {
  const values = {
    "completion.max_lines": { globalValue: 1, workspaceValue: 2, workspaceFolderValue: 3 },
    "completion.enabled": { globalValue: true, workspaceValue: false },
  };
  assert.deepEqual(explicitSettings(KEYS, lookup(values), true), { completion: { max_lines: 3, enabled: false } });
});

test("the settings of an untrusted workspace do not count", () => {
  const values = { "completion.max_lines": { globalValue: 1, workspaceValue: 2 }, "model.path": { workspaceValue: "x.gguf" } };
  assert.deepEqual(explicitSettings(KEYS, lookup(values), false), { completion: { max_lines: 1 } });
});

test("the extension's own settings are not settings of the server", () => {
  const names = ["lspHarness.server.command", "lspHarness.trace.server", "lspHarness.model.path", "other.key"];
  assert.deepEqual(serverKeys(names, "lspHarness"), ["model.path"]);
});
