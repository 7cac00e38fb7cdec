import assert from "node:assert/strict";
import test from "node:test";
import { KNOWN_KINDS, installedKinds, usableRunners } from "../../../lsp_harness/api/page/agent_kinds.js";

test("only installed kinds are offered, and those without a login come last", () => {
  const kinds = [
    { type: "claude", isInstalled: true, version: "2.1.332", auth: "missing", hint: "run `claude auth login`" },
    { type: "codex", isInstalled: false, hint: "npm install" },
    { type: "echo", isInstalled: true, version: "3.11\u001b", auth: "not needed", hint: "" },
  ];
  assert.deepEqual(installedKinds(kinds), [
    { value: "echo", label: "3.11⟨001B⟩" },
    { value: "claude", label: "2.1.332, needs a login: run `claude auth login`" },
  ]);
  assert.deepEqual(installedKinds(undefined), []);
  assert.ok(KNOWN_KINDS.some(({ value }) => value === "echo"));
});

test("only runners without a problem are offered", () => {
  const runners = [
    { runner: "local", problem: "", closesNetwork: false },
    { runner: "bwrap", problem: "", closesNetwork: true },
    { runner: "ssh", problem: "no host", closesNetwork: false },
  ];
  assert.deepEqual(usableRunners(runners), [
    { value: "local", label: "" },
    { value: "bwrap", label: "can close the network" },
  ]);
});
