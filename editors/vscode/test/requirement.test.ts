import assert from "node:assert/strict";
import test from "node:test";
import { withExtras } from "../src/requirement";

for (const [setting, requirement] of [
  ["lsp-harness", "lsp-harness[all]"],
  ["lsp-harness==0.1.0", "lsp-harness[all]==0.1.0"],
  ["lsp-harness >=0.1", "lsp-harness[all] >=0.1"],
  ["/home/me/lsp-harness", "/home/me/lsp-harness[all]"],
  ["C:\\lsp-harness", "C:\\lsp-harness[all]"],
  ["./dist/lsp_harness-0.1.0-py3-none-any.whl", "./dist/lsp_harness-0.1.0-py3-none-any.whl[all]"],
  ["lsp-harness[engine]", "lsp-harness[engine]"],
  ["lsp-harness @ https://example.org/a.whl", "lsp-harness @ https://example.org/a.whl"],
]) {
  test(`the server is installed from ${setting} with its extras`, () => {
    assert.equal(withExtras(setting!), requirement);
  });
}
