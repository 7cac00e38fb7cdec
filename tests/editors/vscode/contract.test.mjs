// The extension's half of what it and the server agreed on: the server is stand-in.mjs, so every state can be had.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { after, before } from "node:test";
import { HERE, photographing, startRig, there, until } from "./rig.mjs";

const FILES = { "typo.py": "x = teh\n", "note.py": "y = 1\n", "edit.py": "a = 1\nb = 2\n", "late.py": "x = teh\n", "slow.py": "# SLOW\nx = teh\n", "hard.py": "# HARD\nx = teh\n", "late.txt": "", "never.txt": "", "slow.txt": "" };
let rig, page;

before(
  async () => {
    rig = await startRig({
      files: FILES,
      command: [process.execPath, path.join(HERE, "stand-in.mjs")],
      environment: (dir) => ({ STAND_IN_LOG: path.join(dir, "received") }),
      settings: { "lspHarness.completion.max_lines": 3 },
    });
    page = rig.page;
    await rig.show("note.py");
    await rig.ready(/small/);
  },
  { timeout: 180_000 },
);
after(() => rig?.stop());
const it = photographing(() => rig);

/** What the server was sent, by method; of commands, their arguments. */
const received = (method) =>
  fs.readFileSync(path.join(rig.dir, "received"), "utf8").trim().split("\n").map(JSON.parse).filter((each) => each.method === method).map((each) => each.params);
const executed = (name) =>
  received("workspace/executeCommand").filter(({ command }) => command === `lspHarness.${name}`).map((params) => params.arguments);

/** Waits until the toolbar of grey text says which of how many is shown. Where it is always there, VS Code asks by itself. */
async function counted(text) {
  const file = path.join(rig.ws, ".vscode/settings.json");
  fs.mkdirSync(path.dirname(file), { recursive: true });
  fs.writeFileSync(file, JSON.stringify({ "editor.inlineSuggest.showToolbar": "always" }));
  const toolbars = page.locator(".inlineSuggestionsHints");
  await until(async () => (await toolbars.allInnerTexts()).some((each) => each.includes(text)), async () => `${text}; the toolbar says ${await toolbars.allInnerTexts()}`);
  fs.rmSync(file);
}

/** The user did not ask for them, so VS Code does not show their progress. */
const alternativesAsked = () => received("textDocument/inlineCompletion").at(-1).workDoneToken === "lsp-harness/alternatives";

/** How many progress bars were cancelled until now. VS Code may say it twice for one click. */
const cancellations = () => received("window/workDoneProgress/cancel").length;

/** Types a text, after which nothing is suggested any more, and asks for a suggestion. */
async function asked(text, shown = "first") {
  await page.keyboard.press("Control+End");
  await rig.type(text);
  await rig.shows("first");
  const before = executed("dismissed").length;
  await page.keyboard.press("Escape");
  await rig.noGhost();
  await until(() => executed("dismissed").length > before, "the dismissal is told");
  await rig.command("Trigger Inline Suggestion");
  await rig.focused();
  if (shown) await rig.shows(shown);
}

it("the server is told who asks, and only settings that somebody set", () => {
  const [{ capabilities, initializationOptions }] = received("initialize");
  assert.deepEqual(capabilities.experimental.lspHarness, { status: true, fallback: true, agents: true, questions: true, commands: ["lspHarness.askInstruction"] });
  assert.deepEqual(initializationOptions, { completion: { max_lines: 3 }, trusted: true });
  assert.equal(capabilities.workspace.workspaceEdit.changeAnnotationSupport.groupsOnLabel, true);
});

it("the status bar has the model and the tokens that were reused, and the tooltip the figures", async () => {
  await rig.bar(/small ⟲ 132/);
  const tooltip = page.locator(".workbench-hover", { hasText: "reused" });
  await until(async () => {
    await page.mouse.move(400, 300);
    await rig.status().hover();
    return tooltip.waitFor({ timeout: 4000 }).then(() => true, () => false);
  }, "the tooltip");
  assert.match(await tooltip.innerText(), /Model: small[\s\S]*Engine: ready[\s\S]*132[\s\S]*in 104 ms[\s\S]*7 shown, 4 accepted/);
  assert.match(await tooltip.innerText(), /Types: hidden because of a type error: no member `joinn` \(12 ms\)\s*Type checker ty in \/work: ty is not installed/);
  await rig.picture("status-bar");
  await page.mouse.move(400, 300);
  await tooltip.waitFor({ state: "hidden" });
});

it("the menu pauses here, then everywhere, and resumes both", async () => {
  const menu = async () => {
    // no pointer goes there: a tooltip would come when it likes, and stay before the editor
    await rig.status().locator("a").first().dispatchEvent("click");
  };
  const choose = async (text) => {
    await menu();
    await rig.picked(text);
  };
  await choose("Pause suggestions here");
  await rig.bar(/paused/);
  await choose("Pause suggestions everywhere");
  await until(() => executed("pause").length === 2, "paused everywhere");
  await menu();
  await rig.row("paused everywhere").waitFor();
  await rig.picture("menu");
  await rig.picked("Resume suggestions");
  await rig.bar(/small ⟲/);
  assert.deepEqual(executed("pause"), [["here", true], ["everywhere", true], ["here", false]]);
});

it("who asks for suggestions goes through the alternatives; the one taken is told", async () => {
  await rig.focus();
  await page.keyboard.press("Control+End");
  await rig.type("# ");
  await rig.shows("first");
  await page.keyboard.press("Escape");
  await rig.noGhost();
  await until(() => executed("dismissed").length === 1, "the dismissal is told");
  assert.match(executed("dismissed")[0].join(" "), /note\.py s-first$/);
  await rig.command("Trigger Inline Suggestion");
  await rig.focused();
  await rig.shows("first");
  await until(alternativesAsked, "the alternatives are asked for");
  await counted("1/3");
  await page.keyboard.press("Alt+BracketRight");
  await rig.shows("second");
  await page.keyboard.press("Tab");
  await rig.saved("note.py", "y = 1\n# second");
  await until(() => executed("accepted").length === 1, "the acceptance is told");
  assert.match(executed("accepted")[0].join(" "), /note\.py s-second$/);
});

it("while the alternatives are on their way, the first suggestion stays on the screen", async () => {
  await rig.open("late.txt");
  await asked("# late ");
  await page.evaluate(() => {
    window.seen = new Set();
    const look = () => {
      window.seen.add([...document.querySelectorAll(".editor-instance [class*=ghost-text-decoration]")].map((each) => each.textContent).join("|"));
      window.looking = requestAnimationFrame(look);
    };
    look();
  });
  await until(alternativesAsked, "the alternatives are asked for");
  await counted("1/3");
  const seen = await page.evaluate(() => (cancelAnimationFrame(window.looking), [...window.seen]));
  assert.deepEqual(seen, ["first"]);
  // once for this place: what VS Code has is all
  const before = received("textDocument/inlineCompletion").length;
  await page.keyboard.press("Alt+BracketLeft");
  await rig.shows("third");
  assert.equal(received("textDocument/inlineCompletion").length, before);
  await page.keyboard.press("Escape");
});

it("who types on gives up the alternatives", async () => {
  await rig.open("never.txt");
  await asked("# never ");
  await until(alternativesAsked, "the alternatives are asked for");
  const before = received("alternatives were given up").length;
  await rig.type("x");
  await until(() => received("alternatives were given up").length > before, "the server is told");
  await rig.noGhost();
});

it("a suggestion that was asked for and takes long is seen, and can be cancelled", async () => {
  await rig.open("slow.txt");
  await asked("# slow ", "");
  const bar = rig.notification("Completion by lsp-harness");
  const before = cancellations();
  // on a busy machine, VS Code may draw the bar again under the click and then hide it: the request is made once more
  await until(async () => {
    await rig.cancelled(bar);
    const isTold = await until(() => cancellations() > before, "a cancellation", 2000).catch(() => false);
    return isTold || rig.command("Trigger Inline Suggestion").then(() => false);
  }, "the cancellation");
  // who cancelled needs no message; the bar may take a moment to fade
  await until(async () => !(await page.locator(".notifications-toasts .notification-list-item").count()), "no message");
});

it("the server hears where the cursor rests", async () => {
  await rig.open("edit.py");
  await until(() => received("lspHarness/didFocus").some(({ textDocument }) => textDocument.uri.endsWith("edit.py")), "focus");
  await rig.cursor(2, 3);
  await until(() => received("lspHarness/didMoveCursor").at(-1)?.position.line === 1, "cursor");
});

it("an edit by instruction is shown before it is made, and is not made when it is refused", async () => {
  await rig.cursor(1, 1);
  await page.keyboard.press("Shift+ArrowRight");
  await rig.command("lsp-harness: Edit by Instruction");
  await page.locator(".quick-input-widget input").first().fill("alpha");
  await page.keyboard.press("Enter");
  await rig.reviewed("alpha = 1");
  await rig.discard();
  assert.equal(rig.read("edit.py"), FILES["edit.py"]);
});

it("the code for a task is chosen among what was found, and opened", async () => {
  await rig.open("note.py");
  const ask = async (task) => {
    await rig.command("lsp-harness: Find Code for a Task");
    await page.locator(".quick-input-widget input").first().fill(task);
    await page.keyboard.press("Enter");
  };
  await ask("let b grow");
  await rig.row("b = 2  [words 2, meaning 1]").waitFor();
  // what was chosen by a model is the first
  assert.match(await page.locator(".quick-input-list .monaco-list-row").first().innerText(), /edit\.py:2/);
  await page.keyboard.press("Enter");
  await page.locator(".tab.active", { hasText: "edit.py" }).waitFor();
  await page.locator("#status\\.editor\\.selection", { hasText: "Ln 2, Col 1" }).waitFor();
  const [[asked]] = executed("locate");
  assert.equal(asked.task, "let b grow");
  assert.match(asked.uri, /note\.py$/);
  await ask("zebra");
  await rig.notification("nothing here has to do with that; name a function").waitFor();
});

it("a code action asks for the instruction, and the edit is made when it is confirmed", async () => {
  await rig.open("edit.py");
  await rig.cursor(2, 1);
  await page.keyboard.press("Shift+ArrowRight");
  await rig.choose(await rig.action("Control+Shift+r", "Edit with lsp-harness…"));
  const input = page.locator(".quick-input-widget input").first();
  await input.waitFor();
  assert.equal(await input.inputValue(), "alpha");
  await input.fill("beta");
  await page.keyboard.press("Enter");
  await rig.reviewed("beta = 2");
  await page.keyboard.press("Control+Enter");
  await rig.saved("edit.py", "a = 1\nbeta = 2\n");
});

it("what was chosen is done although VS Code asks for the actions again before it does it", async () => {
  await rig.open("slow.py");
  await rig.cursor(2, 1);
  await page.keyboard.press("Shift+End");
  await page.locator(".squiggly-warning").first().waitFor();
  await rig.choose(await rig.action("Control+Shift+r", "Edit with lsp-harness…"));
  await page.locator(".quick-input-widget input").first().waitFor();
  await page.keyboard.press("Escape");
});

it("an instruction that cannot be followed is said, with the verdict behind a button", async () => {
  await rig.command("lsp-harness: Edit by Instruction");
  await page.locator(".quick-input-widget input").first().fill("impossible");
  await page.keyboard.press("Enter");
  const said = rig.notification("no candidate passed: lint ✗");
  await rig.clicked(said.getByRole("button", { name: "Why" }), there(page.locator(".tab.active", { hasText: "Preview" })));
  await rig.preview("no word, says the stand-in");
});

it("a quick fix of the model is previewed: refused, then made", async () => {
  const choose = async () => {
    await rig.open("typo.py");
    await rig.cursor(1, 6);
    await page.locator(".squiggly-warning").first().waitFor();
    await rig.choose(await rig.action("Control+.", "Fix with lsp-harness"));
    await rig.reviewed("x = the");
  };
  const refused = async () => {
    await page.locator(".tab", { hasText: "✓" }).waitFor({ state: "detached" });
    await rig.open("typo.py");
    assert.equal(rig.read("typo.py"), "x = teh\n");
  };
  await choose();
  await rig.discard();
  await refused();
  await choose();
  await page.keyboard.press("Escape");
  await refused();
  await choose();
  await rig.closed("✓");
  await refused();
  await choose();
  await rig.confirm();
  await rig.saved("typo.py", "x = the\n");
});

it("an edit of a file that was changed meanwhile is not made", async () => {
  await rig.open("late.py");
  await rig.cursor(1, 6);
  await page.locator(".squiggly-warning").first().waitFor();
  await rig.choose(await rig.action("Control+.", "Fix with lsp-harness"));
  await rig.reviewed("x = the");
  fs.writeFileSync(path.join(rig.ws, "late.py"), "# by somebody else\nx = teh\n");
  await rig.reviewed("somebody");
  await rig.confirm();
  await rig.notification("the file has changed").waitFor();
  assert.equal(rig.read("late.py"), "# by somebody else\nx = teh\n");
});

it("a quick fix that comes to nothing says why", async () => {
  await rig.open("hard.py");
  await rig.cursor(2, 6);
  await page.locator(".squiggly-warning").first().waitFor();
  await rig.choose(await rig.action("Control+.", "Fix with lsp-harness"));
  await rig.notification("lsp-harness: no candidate passed: tests ✗").waitFor();
  await page.keyboard.press("Escape");
  assert.equal(rig.read("hard.py"), FILES["hard.py"]);
});

it("what the server works on can be cancelled where it is seen", async () => {
  await rig.open("slow.py");
  await rig.cursor(2, 6);
  await page.locator(".squiggly-warning").first().waitFor();
  await rig.choose(await rig.action("Control+.", "Fix with lsp-harness"));
  const bar = rig.notification("Fix with lsp-harness");
  const before = cancellations();
  await rig.cancelled(bar);
  await until(() => cancellations() > before, "the cancellation");
  assert.equal(rig.read("slow.py"), FILES["slow.py"]);
});

it("why a diagnostic is there: by the quick fix", async () => {
  await rig.open("slow.py");
  await rig.cursor(2, 6);
  await rig.choose(await rig.action("Control+.", "Why lsp-harness says this"));
  await rig.preview("no word, says the stand-in");
});

it("an explanation is a page", async () => {
  await rig.open("edit.py");
  await rig.cursor(1, 1);
  await rig.command("lsp-harness: Explain");
  await rig.preview("It is about a = 1");
});

it("a model is chosen; what is not there is downloaded first, unless that is cancelled", async () => {
  const large = async () => {
    await rig.command("lsp-harness: Switch Model");
    await rig.row("large").waitFor();
    assert.equal(await rig.row("vectors").count(), 0);
    await rig.picked("large");
  };
  // what depends on the machine is kept with it: see "scope" in package.json
  const user = () => JSON.parse(fs.readFileSync(path.join(rig.dir, "ud/Machine/settings.json"), "utf8"));
  await large();
  const bar = rig.notification("Downloading large");
  await until(async () => /40 %/.test(await bar.innerText()), "percentage");
  await rig.cancelled(bar);
  assert.equal(user()["lspHarness.model.path"], undefined);
  await large();
  await rig.bar(/large/);
  assert.equal(user()["lspHarness.model.path"], "large");
  const sent = received("workspace/didChangeConfiguration").at(-1).settings.lspHarness;
  assert.deepEqual(sent, { completion: { max_lines: 3 }, model: { path: "large" } });
});

it("statistics are a page, too", async () => {
  await rig.command("lsp-harness: Statistics");
  await rig.preview("86 % of what was shown was used");
  await rig.command("lsp-harness: Statistics");
  await rig.preview(/without a type error\s+5\s+hidden because of a type error\s+2\s+Type checker ty in \/work: ty is not installed/);
});

it("an engine that fails is seen in the status bar, and its reason is said", async () => {
  await rig.command("lsp-harness: Restart Engine");
  await rig.notification("the engine does not start: there is no memory").waitFor();
  await until(async () => (await rig.status().getAttribute("class")).includes("error"), "an error's colour");
});
