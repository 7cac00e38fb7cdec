// A machine without the server: it is said, and installed when the user says so. What pip installs is a wheel made here,
// whose program starts the server of this checkout.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import test, { after, before } from "node:test";
import { PYTHON, ROOT, startRig, until } from "./rig.mjs";

const WHEEL = "lsp_harness-0.0.1-py3-none-any.whl";
const MAKE = `
import sys, zipfile
python, root, file = sys.argv[1:]
info = "lsp_harness-0.0.1.dist-info/"
start = f"import os, sys\\ndef main():\\n    os.environ['PYTHONPATH'] = {root!r}\\n    os.execv({python!r}, [{python!r}, '-m', 'lsp_harness', *sys.argv[1:]])\\n"
with zipfile.ZipFile(file, "w") as wheel:
    wheel.writestr("start_lsp_harness.py", start)
    wheel.writestr(info + "METADATA", "Metadata-Version: 2.1\\nName: lsp-harness\\nVersion: 0.0.1\\n")
    wheel.writestr(info + "WHEEL", "Wheel-Version: 1.0\\nGenerator: test\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
    wheel.writestr(info + "entry_points.txt", "[console_scripts]\\nlsp-harness = start_lsp_harness:main\\n")
    wheel.writestr(info + "RECORD", "")
`;
let rig, page, wheels;

before(
  async () => {
    wheels = fs.mkdtempSync("/tmp/lhw-");
    const made = spawnSync(PYTHON, ["-c", MAKE, PYTHON, ROOT, path.join(wheels, WHEEL)], { encoding: "utf8" });
    assert.equal(made.status, 0, made.stderr);
    rig = await startRig({
      files: { "a.py": "a = 1\n" },
      command: null,
      install: true,
      settings: { "lspHarness.server.python": PYTHON, "lspHarness.server.requirement": path.join(wheels, WHEEL) },
    });
    page = rig.page;
    await rig.show("a.py");
  },
  { timeout: 120_000 },
);
after(async () => {
  await rig?.stop();
  if (wheels) fs.rmSync(wheels, { recursive: true });
});
const it = (name, body) => test(name, { timeout: 120_000 }, (context) => rig.photographed(name, () => body(context))());
const managed = () => path.join(rig.dir, "ud/User/globalStorage/lsp-harness.lsp-harness/server");
const agree = () => page.locator(".monaco-dialog-box").getByRole("button", { name: "Install" }).click();
const bar = () => rig.notification("Installing the lsp-harness server");

it("a missing server is said, and nothing is installed by itself", async () => {
  await rig.bar(/not installed/);
  await rig.notification("the server is not installed on this machine").waitFor();
  assert.equal(fs.existsSync(managed()), false);
});

it("an installation that is cancelled leaves nothing", async () => {
  await rig.notification("the server is not installed").getByRole("button", { name: "Install…" }).click();
  await agree();
  await bar().getByRole("button", { name: "Cancel" }).click();
  await bar().waitFor({ state: "detached" });
  await until(() => !fs.existsSync(managed()), "no half environment");
  await rig.bar(/not installed/);
});

it("the walkthrough installs the server into an environment of its own, and knows when that is done", async () => {
  await rig.command("Welcome: Open Walkthrough");
  await page.locator(".quick-input-widget input").first().fill("lsp-harness");
  await rig.row("Get started with lsp-harness").click();
  const step = page.locator(".getting-started-step", { hasText: "Install the server" });
  await rig.picture("walkthrough");
  await step.getByRole("button", { name: "Install" }).click();
  await agree();
  await bar().waitFor();
  await until(() => rig.ready().then(() => true, () => false), "the server runs", 90_000);
  assert.ok(fs.existsSync(path.join(managed(), "bin/lsp-harness")));
  await step.locator(".codicon-getting-started-step-checked").waitFor();
});
