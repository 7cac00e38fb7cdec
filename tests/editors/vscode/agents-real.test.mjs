// A real shell as an agent of the real server: its terminal in VS Code, and what is left of it.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { after, before } from "node:test";
import { photographing, startRig, until } from "./rig.mjs";

let rig, page;

before(
  async () => {
    rig = await startRig({
      files: { "note.py": "y = 1\n" },
      programs: { ".bashrc": "PS1='agent$ '\n" },
      settings: { "terminal.integrated.gpuAcceleration": "off", "remote.autoForwardPorts": false },
    });
    page = rig.page;
    await rig.show("note.py");
    await rig.ready();
  },
  { timeout: 180_000 },
);
after(() => rig?.stop());
const it = photographing(() => rig);

const shown = () => page.locator(".terminal-wrapper.active .xterm-rows").first().innerText({ timeout: 1000 }).then((text) => text.replace(/\u00a0/g, " "), () => "");
const shows = (pattern) => until(async () => pattern.test(await shown()), async () => `${pattern} in the terminal; it is ${await shown()}`);
const row = (text) => page.locator(".pane-body .monaco-list-row", { hasText: text }).first();
/** The processes of agents, by the mark that all of them have. */
const agents = () =>
  fs.readdirSync("/proc").filter((pid) => {
    try {
      const variables = fs.readFileSync(`/proc/${pid}/environ`, "utf8");
      return variables.includes(`LSP_HARNESS_HOME=${rig.home}\0`) && variables.includes("LSP_HARNESS_AGENT_ID=");
    } catch {
      return false;
    }
  });

async function pick(text) {
  const focused = page.locator(".quick-input-list .monaco-list-row.focused", { hasText: text });
  await rig.row(text).waitFor();
  await page.locator(".quick-input-widget input").first().fill(text);
  await focused.waitFor();
  await page.keyboard.press("Enter");
  await focused.waitFor({ state: "hidden" });
}

it("a shell is started and used in a terminal, and works in the folder", async () => {
  await rig.command("Explorer: Focus on Agents View");
  await rig.command("lsp-harness: Start an Agent");
  await pick("shell");
  await pick("In this folder, in a terminal");
  await shows(/agent\$/);
  await page.keyboard.type("echo $((40 + 2)) > made.txt; cat made.txt; stty size; sleep 300 &\n");
  await shows(/\n42\n\d+ \d+\n/);
  assert.equal(rig.read("made.txt"), "42\n");
  // the program has the size of the terminal that is seen
  const [, rows, columns] = /\n42\n(\d+) (\d+)\n/.exec(await shown());
  assert.ok(rows < 30 && columns > 40, `${rows} ${columns}`);
  await until(async () => /ready \(osc\)/.test(await row("shell").innerText()), "a shell that is ready");
  assert.ok(agents().length >= 2);
});

it("a terminal that is closed and opened again shows the same screen", async () => {
  await rig.command("Terminal: Kill the Active Terminal Instance");
  await until(async () => (await shown()) === "", "no terminal");
  await rig.command("lsp-harness: Show the Terminal of an Agent");
  await shows(/42\n/);
  await page.keyboard.type("echo again-$((1 + 1))\n");
  await shows(/\nagain-2\n/);
});

it("a message is typed into the shell, and its answer is a page", async () => {
  await rig.command("lsp-harness: Send a Message to an Agent");
  await page.locator(".quick-input-title", { hasText: "Message to shell" }).waitFor();
  await page.locator(".quick-input-widget input").first().fill("echo $((6 * 7)) answers");
  await page.keyboard.press("Enter");
  await page.locator(".tab.active", { hasText: "Answer of shell" }).waitFor();
  await until(async () => /^42 answers/.test((await page.locator(".editor-instance .view-lines").first().innerText()).replace(/\u00a0/g, " ")), "the answer");
});

it("an agent that is stopped leaves no process", async () => {
  await rig.command("lsp-harness: Stop an Agent");
  await until(async () => /stopped/.test(await row("shell").innerText()), "a shell that is stopped");
  await until(() => agents().length === 0, async () => `no process; there are ${agents().map((pid) => fs.readFileSync(path.join("/proc", pid, "cmdline"), "utf8"))}`);
});
