// The steps of the extension's README, literally, by somebody who has the files of a release and a VS Code nobody has used
// yet: its first code block and its own names of commands. What this cannot do is said where it does something else. Before
// the server is installed, who changes their mind gets back what was.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { after, before } from "node:test";
import { photographing, PYTHON, REAL, ROOT, startRig, there, until } from "./rig.mjs";

const README = fs.readFileSync(path.join(ROOT, "editors/vscode/README.md"), "utf8");
const STEPS = /^## In five minutes\n([\s\S]*?)^## /m.exec(README)[1];
const BLOCK = /^ *```sh\n([\s\S]*?)^ *```$/m.exec(STEPS)[1];
const VERSION = JSON.parse(fs.readFileSync(path.join(ROOT, "editors/vscode/package.json"), "utf8")).version;
const [INSTALL, DOWNLOAD] = [...STEPS.matchAll(/\*(lsp-harness: [^*]+)\*/g)].map(([, title]) => title);
const SUMS = "def total(values):\n    result = 0\n    for value in values:\n        result += value\n    return result\n\n\ndef mean(values):\n    ";
let rig, page, place;

before(
  async () => {
    place = fs.mkdtempSync("/tmp/lhr-");
    const clone = path.join(place, "clone");
    run("git", ["clone", "--quiet", "--depth", "1", `file://${ROOT}`, clone]);
    // changes that are not committed are to be tried as well
    const changed = run("git", ["-C", ROOT, "ls-files", "-z", "--modified", "--others", "--exclude-standard", "editors", "lsp_harness", "tools"]);
    for (const name of changed.split("\0").filter((name) => name && fs.existsSync(path.join(ROOT, name)))) {
      fs.cpSync(path.join(ROOT, name), path.join(clone, name));
    }
    fs.symlinkSync(path.join(ROOT, "editors/vscode/node_modules"), path.join(clone, "editors/vscode/node_modules"));
    // what `make release` builds
    const release = path.join(place, "release");
    run(PYTHON, ["-m", "tools.release_files", release, "python", "vscode"], { cwd: clone, env: { ...process.env, PYTHONPATH: clone } });
    const [wheel] = fs.readdirSync(release).filter((name) => name.endsWith(".whl"));
    // what the server needs would be downloaded for minutes: pip is given the wheel alone, the rest is what these tests run with
    process.env.PIP_NO_DEPS = "1";
    const [packages, bin] = run(PYTHON, ["-c", "import os, sys, sysconfig; print(sysconfig.get_path('purelib')); print(os.path.dirname(os.path.realpath(sys.executable)))"]).split("\n");
    rig = await startRig({
      bare: true,
      linter: false,
      command: null,
      model: REAL,
      environment: () => ({ PYTHONPATH: packages }),
      // the python3 that somebody with a newer one has first
      programs: { ".profile": `PATH="${bin}:$PATH"\n` },
      files: { "sums.py": SUMS },
      settings: { "lspHarness.server.requirement": path.join(release, wheel) },
      install: (code, env) => {
        const own = ["HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME"].map((name) => `${name}='${env[name]}'`);
        fs.mkdirSync(path.join(place, "bin"));
        fs.writeFileSync(path.join(place, "bin/code"), `#!/bin/sh\n${own.join(" ")} exec ${code.map((each) => `'${each}'`).join(" ")} "$@"\n`, { mode: 0o755 });
        run("bash", ["-euc", BLOCK], { cwd: release, env: { ...process.env, PATH: `${path.join(place, "bin")}:${process.env.PATH}` } });
      },
    });
    page = rig.page;
    await rig.show("sums.py");
  },
  { timeout: 300_000 },
);
after(async () => {
  await rig?.stop();
  if (place) fs.rmSync(place, { recursive: true, force: true });
});
const it = photographing(() => rig, 180_000);

const managed = () => path.join(rig.dir, "ud/User/globalStorage/lsp-harness.lsp-harness/server");
const dialog = () => page.locator(".monaco-dialog-box");
const agree = () => rig.clicked(dialog().getByRole("button", { name: "Install" }), there(bar()));
const bar = () => rig.notification("Installing the lsp-harness server");
const step = () => page.locator(".getting-started-step", { hasText: "Install the server" });

async function walkthrough() {
  await rig.command("Welcome: Open Walkthrough");
  await page.locator(".quick-input-widget input").first().fill("lsp-harness");
  await rig.picked("Get started with lsp-harness");
}

function run(program, args, options = {}) {
  const ran = spawnSync(program, args, { encoding: "utf8", ...options });
  assert.equal(ran.status, 0, `${program} ${args.join(" ")}: ${ran.error ?? ""}${ran.stdout}${ran.stderr}`);
  return ran.stdout.trimEnd();
}

it("the extension is there, and says that the server is not", async () => {
  const extensions = fs.readdirSync(path.join(rig.dir, "extensions")).filter((name) => name.startsWith("lsp-harness"));
  assert.deepEqual(extensions.map((name) => name.startsWith(`lsp-harness.lsp-harness-${VERSION}`)), [true]);
  await rig.bar(/not installed/);
  await rig.notification("the server is not installed on this machine").waitFor();
  assert.equal(fs.existsSync(managed()), false);
});

it("an installation that is cancelled leaves nothing, whoever began it", async () => {
  const cancelled = async (button) => {
    await rig.clicked(button, there(dialog()));
    await agree();
    await rig.cancelled(bar());
    await until(() => !fs.existsSync(managed()), "no half environment");
    await rig.bar(/not installed/);
  };
  await cancelled(rig.notification("the server is not installed").getByRole("button", { name: "Install…" }));
  await walkthrough();
  await rig.picture("walkthrough");
  await cancelled(step().getByRole("button", { name: "Install" }));
});

it("Install Server… asks, and installs it into a folder of the extension's own; the walkthrough knows when that is done", async () => {
  assert.equal(INSTALL, "lsp-harness: Install Server…");
  await rig.command(INSTALL);
  await agree();
  await until(() => rig.ready().then(() => true, () => false), "the server runs", 120_000);
  const server = path.join(managed(), "bin/lsp-harness");
  assert.ok(rig.pids(" serve").length > 0 && rig.pids(" serve").every((pid) => fs.readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(server)));
  await step().locator(".codicon-getting-started-step-checked").waitFor();
  await rig.closed("Welcome");
});

it("Download Model… offers what is not there, which the default model is", async () => {
  assert.equal(DOWNLOAD, "lsp-harness: Download Model…");
  await rig.command(DOWNLOAD);
  await rig.row("to download").waitFor();
  assert.equal(await rig.row("qwen2.5-coder-0.5b-instruct").count(), 0);
  await page.keyboard.press("Escape");
});

it("whoever types in a source file sees grey text, and takes it with Tab", async () => {
  const end = SUMS.split("\n");
  const ghost = await until(async () => {
    // what was closed before may take the keyboard late: each time it is seen where the keys go
    await rig.cursor(end.length, end.at(-1).length + 1);
    await rig.type("return ");
    const shown = await until(async () => (await rig.ghost()).trim(), "grey text", 5000).catch(() => "");
    // while the engine starts nobody answers, and what was typed then is not asked about later
    if (!shown) {
      for (const _ of "return ") await page.keyboard.press("Backspace");
      await rig.saved("sums.py", SUMS);
    }
    return shown;
  }, "grey text", 120_000);
  await page.keyboard.press("Tab");
  const typed = `${SUMS}return `;
  // files are saved as one types, unless somebody says otherwise
  const file = await until(() => rig.read("sums.py").length > typed.length && rig.read("sums.py"), "the suggestion in the file");
  assert.equal(file.slice(0, typed.length), typed);
  assert.equal(file.slice(typed.length).replace(/\s/g, ""), ghost.replace(/\s/g, ""));
});
