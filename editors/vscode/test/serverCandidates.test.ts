import assert from "node:assert/strict";
import test from "node:test";
import { type SearchInputs, serverCandidates } from "../src/serverCandidates";

const INPUTS: SearchInputs = {
  configured: [],
  environments: ["/ws/.venv"],
  path: "/usr/bin:.:bin:/bin",
  home: "/u",
  managed: "/store/server",
  platform: "linux",
};
const programs = (inputs: SearchInputs) => serverCandidates(inputs).map(({ program }) => program);

test("a configured command is the only candidate", () => {
  const [first, ...rest] = serverCandidates({ ...INPUTS, configured: ["/opt/python", "-m", "lsp_harness", "serve"] });
  assert.deepEqual([first?.program, first?.args, rest], ["/opt/python", ["-m", "lsp_harness", "serve"], []]);
});

test("the workspace's environments come first, the managed one last", () => {
  const candidates = programs(INPUTS);
  assert.equal(candidates[0], "/ws/.venv/bin/lsp-harness");
  assert.equal(candidates.at(-1), "/store/server/bin/lsp-harness");
  assert.ok(serverCandidates(INPUTS).every(({ args }) => args.join(" ") === "serve"));
});

test("a relative entry of PATH would point into the workspace and is left out", () => {
  const candidates = programs({ ...INPUTS, environments: [] });
  assert.deepEqual(candidates, ["/usr/bin/lsp-harness", "/bin/lsp-harness", "/u/.local/bin/lsp-harness", "/store/server/bin/lsp-harness"]);
});
