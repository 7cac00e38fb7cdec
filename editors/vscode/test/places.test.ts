import assert from "node:assert/strict";
import test from "node:test";
import { places, type Surroundings } from "../src/places";

const around: Surroundings = {
  configured: [],
  environments: ["/ws/.venv"],
  path: "/usr/bin:.:bin:/bin",
  home: "/u",
  managed: "/store/server",
  platform: "linux",
};
const programs = (found: Surroundings) => places(found).map(({ program }) => program);

test("what is configured is the only place", () => {
  const [only, ...others] = places({ ...around, configured: ["/opt/python", "-m", "lsp_harness", "serve"] });
  assert.deepEqual([only?.program, only?.args, others], ["/opt/python", ["-m", "lsp_harness", "serve"], []]);
});

test("the workspace's environments come first, the managed one last", () => {
  const found = programs(around);
  assert.equal(found[0], "/ws/.venv/bin/lsp-harness");
  assert.equal(found.at(-1), "/store/server/bin/lsp-harness");
  assert.ok(places(around).every(({ args }) => args.join(" ") === "serve"));
});

test("a relative entry of PATH would be the workspace's, and is left out", () => {
  const found = programs({ ...around, environments: [] });
  assert.deepEqual(found, ["/usr/bin/lsp-harness", "/bin/lsp-harness", "/u/.local/bin/lsp-harness", "/store/server/bin/lsp-harness"]);
});
