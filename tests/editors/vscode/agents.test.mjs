// Foreign agents in the extension: the view, the questions and the terminal. The server is stand-in.mjs.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { after, before } from "node:test";
import { HERE, photographing, startRig, until } from "./rig.mjs";

let rig, page;

before(
  async () => {
    rig = await startRig({
      files: { "note.py": "y = 1\n" },
      command: [process.execPath, path.join(HERE, "stand-in.mjs")],
      environment: (dir) => ({ STAND_IN_LOG: path.join(dir, "received") }),
      // what is on the screen of a terminal can only be read if it is text in the page
      settings: { "terminal.integrated.gpuAcceleration": "off", "remote.autoForwardPorts": false },
    });
    page = rig.page;
    await rig.show("note.py");
    await rig.ready(/small/);
  },
  { timeout: 180_000 },
);
after(() => rig?.stop());
const it = photographing(() => rig);

/** What the server was sent with a command about agents. */
const executed = (name) =>
  fs.readFileSync(path.join(rig.dir, "received"), "utf8").trim().split("\n").map(JSON.parse)
    .filter(({ method, params }) => method === "workspace/executeCommand" && params.command === `lspHarness.runtime.${name}`)
    .map(({ params }) => params.arguments[0]);
const row = (text) => page.locator(".pane-body .monaco-list-row", { hasText: text }).first();
const input = () => page.locator(".quick-input-widget input").first();
/** The text in the terminal in front. */
const shown = () => page.locator(".terminal-wrapper.active .xterm-rows").first().innerText({ timeout: 1000 }).then((text) => text.replace(/\u00a0/g, " "), () => "");

/** Chooses by keys from a list that another one may follow. */
async function pick(text) {
  const focused = page.locator(".quick-input-list .monaco-list-row.focused", { hasText: text });
  await rig.row(text).waitFor();
  await input().fill(text);
  await focused.waitFor();
  await page.keyboard.press("Enter");
  await focused.waitFor({ state: "hidden" });
}
async function spawn(type, place) {
  await rig.command("lsp-harness: Start an Agent");
  await pick(type);
  await pick(place);
}
/** There is one agent that runs, so nobody has to choose. */
async function send(agent, message) {
  await rig.command("lsp-harness: Send a Message to an Agent");
  await page.locator(".quick-input-title", { hasText: `Message to ${agent}` }).waitFor();
  await input().fill(message);
  await page.keyboard.press("Enter");
}
const textOf = () => page.locator(".editor-instance .view-lines").first().innerText().then((text) => text.replace(/\u00a0/g, " "));
/**
 * A notification in the list of all, which is open then, after the answer to a message has come. VS Code drops a toast
 * that comes in the moment in which the last one goes, and a question of an agent may come when the progress of its
 * message ends.
 */
async function listed(text, message) {
  await until(async () => (await textOf()).includes(`**you said** ${message} `), `the answer to ${message}`);
  await rig.command("Notifications: Show Notifications");
  const item = page.locator(".notifications-center .notification-list-item", { hasText: text }).first();
  await item.waitFor();
  return item;
}

it("the view is empty at first, and says how an agent is started", async () => {
  await rig.command("Explorer: Focus on Agents View");
  await page.locator(".welcome-view", { hasText: "Start an Agent" }).first().waitFor();
});

it("an agent that is not installed is not started, and why is said", async () => {
  await spawn("codex", "In this folder");
  await rig.notification("codex is not installed; npm install -g @openai/codex").waitFor();
});

it("an agent is started in a worktree of its own and is in the view with its state", async () => {
  await spawn("claude", "In a worktree of its own");
  await row("claude").waitFor();
  await until(async () => /ready \(osc\)/.test(await row("claude").innerText()), async () => `a ready agent; it is ${await row("claude").innerText()}`);
  assert.equal(executed("spawn").at(-1).isolation, "worktree");
  assert.match(executed("spawn").at(-1).uri, /\/ws$/);
});

it("its answer is plain text, of which nothing is loaded", async () => {
  await send("claude", "hello");
  await page.locator(".tab.active", { hasText: "Answer of claude" }).waitFor();
  assert.match(await textOf(), /\*\*you said\*\* hello !\[\]\(https:\/\/example\.com\/hello\)/);
});

it("a question about a permission is asked, and the answer reaches the agent", async () => {
  await send("claude", "ask");
  const question = rig.notification("claude asks: Do you want to make this edit to a.py?");
  await question.waitFor();
  await row("Do you want to make this edit").waitFor();
  await rig.picture("agents");
  await rig.clicked(question.getByRole("button", { name: "Deny" }), (timeout) => question.waitFor({ state: "detached", timeout }));
  await until(() => executed("answer").length === 1, "the answer");
  assert.equal(executed("answer")[0].isAllowed, false);
  await until(async () => /^not edited/.test(await textOf()), "the answer of the agent");
  await row("Do you want to make this edit").waitFor({ state: "detached" });
});

it("a question with options is answered by one of them", async () => {
  await send("claude", "choose");
  const question = rig.notification("claude asks: Which colour?");
  await rig.clicked(question.getByRole("button", { name: "Answer" }), (timeout) => rig.row("green").waitFor({ timeout }));
  await pick("green");
  await until(() => executed("answer").at(-1).text === "green", "the option");
  await until(async () => /^green/.test(await textOf()), "the answer of the agent");
});

it("an agent that works can be interrupted where its work is seen", async () => {
  await send("claude", "wait");
  await rig.cancelled(rig.notification("claude works"));
  await until(() => executed("interrupt").length === 1, "the interruption");
});

it("changes are shown as a diff, and applied and undone by a command", async () => {
  await rig.command("lsp-harness: Show the Changes of an Agent");
  await page.locator(".tab.active", { hasText: "Changes of claude" }).waitFor();
  assert.match(await textOf(), /\+x = 2/);
  await rig.command("lsp-harness: Apply the Changes of an Agent");
  const dialog = page.locator(".monaco-dialog-box", { hasText: "Apply the changes of claude? 1 file: syntax ✓, lint ✓" });
  await rig.clicked(dialog.getByRole("button", { name: "Apply" }), (timeout) => dialog.waitFor({ state: "detached", timeout }));
  await rig.notification("applied a.py").waitFor();
  await rig.command("lsp-harness: Undo the Changes of an Agent");
  await rig.notification("restored a.py").waitFor();
  assert.equal(executed("apply")[0].reviewId, "r1");
});

it("a login is opened in the browser only when the user agrees", async () => {
  await send("claude", "login");
  const question = await listed("claude wants you to log in at login.example.com", "login");
  await rig.clicked(question.getByRole("button", { name: "Open in Browser" }), (timeout) => question.waitFor({ state: "detached", timeout }));
  // VS Code asks once more, as for every page
  const dialog = page.locator(".monaco-dialog-box", { hasText: "login.example.com" });
  await dialog.waitFor();
  await rig.clicked(dialog.getByRole("button", { name: "Cancel" }), (timeout) => dialog.waitFor({ state: "detached", timeout }));
  await rig.command("Notifications: Hide Notifications");
});

it("an address that is not one of the web cannot be opened", async () => {
  await send("claude", "trick");
  const question = await listed("claude wants you to log in.", "trick");
  assert.equal(await question.getByRole("button", { name: "Open in Browser" }).count(), 0);
  await rig.command("Notifications: Hide Notifications");
});

it("a terminal shows the screen of the agent, and what is typed goes to the agent", async () => {
  await spawn("echo", "In this folder, in a terminal");
  await until(async () => /ready é/.test(await shown()), async () => `the screen; it is ${await shown()}`);
  await page.keyboard.type("hi");
  await until(async () => /> HI/.test(await shown()), async () => `what was typed; it is ${await shown()}`);
  const { columns, rows } = executed("attach").at(-1);
  assert.ok(columns > 20 && rows > 3, `${columns}x${rows}`);
  assert.equal(Buffer.from(executed("press")[0].keys, "base64").toString(), "h");
  await rig.picture("agent-terminal");
});

it("an agent that is stopped stays in the view, and its terminal says so", async () => {
  await rig.command("lsp-harness: Stop an Agent");
  await pick("echo");
  await until(async () => /it was stopped; press a key to close/.test(await shown()), async () => `the end; it is ${await shown()}`);
  // the rows of the other agent may fill the view
  await rig.clicked(row("claude"), (timeout) => row("echo").waitFor({ timeout }));
  await until(async () => /stopped/.test(await row("echo").innerText()), "the state");
});

it("when the server has gone, so have its agents", async () => {
  await rig.command("lsp-harness: Restart Server");
  await page.locator(".welcome-view", { hasText: "Start an Agent" }).first().waitFor();
});
