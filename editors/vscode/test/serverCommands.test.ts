import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import test from "node:test";
import { forwardedCommands, knownCommands } from "../src/serverCommands";

const PACKAGE_JSON = JSON.parse(fs.readFileSync(path.join(__dirname, "../../package.json"), "utf8"));

test("the forwarded commands are read from package.json", () => {
  const { explain } = forwardedCommands(PACKAGE_JSON);
  assert.deepEqual(explain, { command: "lspHarness.explain", handler: "text", resultTitle: "Explanation", sendsSelection: true });
});

test("a command that a palette entry needs is known, or the entry would never be enabled", () => {
  const needed = PACKAGE_JSON.contributes.commands.flatMap(({ enablement = "" }) => [...enablement.matchAll(/lsp-harness\.can\.(\w+)/g)].map(([, name]) => name));
  const known = knownCommands(forwardedCommands(PACKAGE_JSON));
  assert.ok(needed.includes("explain") && needed.includes("pause"));
  assert.deepEqual(needed.filter((name: string) => !(name in known)), []);
});
