import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { startInspector, toolCall, until, whatIsMissing } from "./inspector_rig.mjs";

const skip = whatIsMissing() ?? false;
const timeout = 240_000;
const EVIL = '<img src=x onerror="document.title=1">\u202e';

describe("the inspector in a browser", { skip, timeout }, () => {
  let rig;
  let page;
  before(async () => {
    rig = await startInspector({
      files: { "geo.py": "PI = 3\n\n\ndef area(radius):\n    return PI * radius * radius\n" },
      replies: [
        toolCall("read", { path: "geo.py" }),
        toolCall("bash", { command: "printf made > made.txt" }),
        { text: `The file is made. ${EVIL}` },
        toolCall("bash", { command: "printf other > other.txt" }),
      ],
    });
    page = rig.page;
    await rig.login();
  });
  after(async () => {
    await rig?.stop();
  });

  test("the link leaves no secret in the address", () => {
    assert.equal(page.url(), `${rig.url}/`);
  });

  test("a turn is watched live, and its permission is answered by a button", async () => {
    await page.getByRole("button", { name: "New session" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Start" }).click();
    await page.getByRole("textbox", { name: "Prompt" }).fill("make a file");
    await page.keyboard.press("Control+Enter");
    const question = page.getByRole("region", { name: "Pending permissions" }).getByRole("article");
    await question.getByText("printf made > made.txt").waitFor();
    assert.ok(!fs.existsSync(path.join(rig.project, "made.txt")), "nothing runs before the answer");
    await row("tool.completed").waitFor();
    await rig.picture("permission");
    await settled();
    await question.getByRole("button", { name: "Allow once" }).click();
    await row("turn.stopped").waitFor();
    assert.equal(fs.readFileSync(path.join(rig.project, "made.txt"), "utf8"), "made");
    await question.waitFor({ state: "detached" });
    await page.locator(".badge", { hasText: "idle" }).waitFor();
  });

  test("texts of the model are never markup", async () => {
    await row("turn.stopped").click();
    await page.getByRole("complementary", { name: "Event" }).getByText("onerror").first().waitFor();
    assert.equal(await page.locator("main img").count(), 0);
    assert.match(await page.locator(".detail").innerText(), /⟨202E⟩/u);
    assert.match(await page.title(), /inspector/u);
  });

  test("a permission is denied by a shortcut", async () => {
    await page.getByRole("textbox", { name: "Prompt" }).fill("make another file");
    await page.keyboard.press("Control+Enter");
    await page.getByRole("region", { name: "Pending permissions" }).getByText("printf other > other.txt").waitFor();
    await page.locator("main").focus();
    await settled();
    await page.keyboard.press("D");
    await until(async () => (await page.locator(".row", { hasText: "turn 1: denied" }).count()) > 0, "the end of the turn");
    assert.ok(!fs.existsSync(path.join(rig.project, "other.txt")));
  });

  test("the edits of a turn are undone", async () => {
    page.once("dialog", (dialog) => {
      assert.match(dialog.message(), /made\.txt/u);
      dialog.accept();
    });
    await page.getByRole("button", { name: "Undo the last turn" }).click();
    await row("edit.reverted").waitFor();
    assert.ok(!fs.existsSync(path.join(rig.project, "made.txt")));
  });

  test("a fork is a session that continues this one", async () => {
    await page.getByRole("button", { name: "Fork" }).click();
    await page.getByText("continues").first().waitFor();
    await page.goBack();
    await row("edit.reverted").waitFor();
  });

  test("the tabs show tokens and time", async () => {
    await page.getByRole("tab", { name: "Tokens and time" }).click();
    const picture = page.getByRole("img", { name: /tokens in, of which/u });
    await picture.waitFor();
    assert.ok((await picture.locator("rect.bar-input").count()) >= 4);
    await rig.picture("usage");
    await page.keyboard.press("ArrowRight");
    assert.equal(await page.evaluate(() => document.activeElement.textContent), "Artifacts");
  });

  test("a terminal is typed into", async () => {
    await page.getByRole("button", { name: "New agent" }).click();
    await page.getByLabel("Kind").fill("shell");
    await page.getByRole("dialog").getByRole("textbox", { name: "Name" }).fill("my shell");
    await page.getByRole("button", { name: "Start" }).click();
    await page.locator(".xterm-screen").click();
    await page.locator(".badge-ready").first().waitFor();
    await page.keyboard.type("echo $((6 * 7)); printf '\\033[1;38;2;200;40;40mcoloured\\033[0m äöü 漢字\\n'");
    await page.keyboard.press("Enter");
    await until(async () => /^42$/mu.test(await screen()), "the output of the command");
    await until(async () => /coloured äöü 漢字/u.test(await screen()), "the colours");
    const colour = await page.locator(".xterm-rows span", { hasText: /^coloured/u }).last().evaluate((span) => getComputedStyle(span).color);
    assert.equal(colour, "rgb(200, 40, 40)");
    await page.keyboard.type("stty size");
    await page.keyboard.press("Enter");
    const [, rows, columns] = await until(async () => /^(\d+) (\d+)$/mu.exec(await screen()), "the size of the terminal");
    const visible = await page.locator(".xterm-rows > div").count();
    assert.equal(Number(rows), visible, "the terminal of the agent has the size of the one on the page");
    assert.ok(Number(columns) > 40);
    await rig.picture("terminal");
  });

  test("keys of the terminal are no shortcuts, and there is a way out", async () => {
    await page.locator(".xterm-screen").click();
    await page.keyboard.type("?t");
    assert.equal(await page.getByRole("dialog").count(), 0);
    await page.keyboard.press("Control+Shift+Enter");
    assert.equal(await page.evaluate(() => document.activeElement.id), "main");
    await page.keyboard.press("?");
    await page.getByRole("dialog").getByText("Copyright").first().waitFor();
    await page.keyboard.press("Escape");
  });

  test("an agent's question is answered, and its state says how it is known", async () => {
    const agent = await rig.api("POST", "agents", { type: "fake", name: "asker" });
    await page.getByRole("link", { name: /asker/u }).click();
    await page.getByText("known by osc: osc7501/idle").waitFor();
    await page.getByRole("textbox", { name: "Message" }).fill("/question which colour?");
    await page.keyboard.press("Control+Enter");
    const bar = page.getByRole("region", { name: "Pending permissions" });
    await bar.getByRole("textbox", { name: "Answer" }).fill("blue");
    await settled();
    await bar.getByRole("button", { name: "Answer" }).click();
    await until(async () => (await rig.api("GET", `agents/${agent.id}`)).status === "ready", "the agent to go on");
    await page.getByRole("tab", { name: "State" }).click();
    await page.getByRole("table", { name: "Claims" }).waitFor();
    await page.getByRole("tab", { name: "Screen text" }).click();
    await page.getByRole("region", { name: "Screen of the agent" }).getByText("blue").waitFor();
  });

  test("an agent is stopped", async () => {
    await page.getByRole("button", { name: "Stop", exact: true }).click();
    await page.locator(".facts .badge-stopped").waitFor();
    assert.ok(await page.getByRole("button", { name: "Stop", exact: true }).isDisabled());
  });

  test("light, dark and narrow", async () => {
    await page.getByRole("link", { name: /make a file/u }).click();
    await row("turn.stopped").first().waitFor();
    await rig.picture("light");
    const paper = () => page.evaluate(() => getComputedStyle(document.querySelector("header")).backgroundColor);
    const light = await paper();
    await page.emulateMedia({ colorScheme: "dark" });
    assert.notEqual(await paper(), light);
    await rig.picture("dark");
    await page.locator("main").focus();
    await page.keyboard.press("t");
    assert.equal(await paper(), light, "the switch wins over the system");
    await page.setViewportSize({ width: 380, height: 700 });
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 380);
    await rig.picture("narrow");
    await page.getByRole("button", { name: "Menu" }).click();
    await page.getByRole("link", { name: /my shell/u }).click();
    await page.locator(".xterm-screen").waitFor();
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 380);
    await page.setViewportSize({ width: 1280, height: 800 });
  });

  test("everything can be reached and named without a mouse", async () => {
    await page.reload();
    await page.locator(".connection-live").waitFor();
    await page.keyboard.press("Tab");
    assert.equal(await page.evaluate(() => document.activeElement.textContent), "Skip to the content");
    const seen = [];
    for (let count = 0; count < 30; count += 1) {
      await page.keyboard.press("Tab");
      seen.push(await page.evaluate(() => document.activeElement.getAttribute("aria-label") ?? document.activeElement.textContent));
    }
    for (const wanted of ["Theme: light", "?", "New agent", "New session", "Filter sessions"]) assert.ok(seen.includes(wanted), `${wanted} in ${seen}`);
    assert.ok(seen.indexOf("?") < seen.indexOf("New agent"), "the head comes first");
    const nameless = await page.evaluate(() =>
      [...document.querySelectorAll("button, input, select, textarea, a, [role=listbox], [role=tablist], dialog, nav, svg")]
        .filter((each) => each.checkVisibility() && !(each.getAttribute("aria-label") || each.getAttribute("aria-labelledby") || each.textContent.trim() || each.labels?.[0]?.textContent.trim()))
        .map((each) => each.outerHTML.slice(0, 120)),
    );
    assert.deepEqual(nameless, []);
  });

  test("without xterm.js the page shows the text of the screen, and says how to get it", async () => {
    const other = await rig.context.newPage();
    await other.route("**/inspector/vendor/**", (route) => route.fulfill({ status: 404 }));
    const { url } = await rig.api("POST", "login-links", {});
    await other.goto(url);
    await other.getByRole("link", { name: /my shell/u }).click();
    await other.getByText("make xterm").waitFor();
    await other.getByRole("region", { name: "Screen of the agent" }).getByText("stty size").waitFor();
    await other.close();
  });

  test("without the cookie there is not even the page", async () => {
    const browser = rig.context.browser();
    const context = await browser.newContext();
    const answer = await (await context.newPage()).goto(`${rig.url}/`);
    assert.equal(answer.status(), 401);
    await context.close();
  });

  test("the page asked nobody but its server, and its policy refused nothing", () => {
    assert.deepEqual(rig.visited.filter((address) => !address.startsWith(rig.url) && !address.startsWith("data:")), []);
    assert.deepEqual(rig.problems, []);
  });

  const row = (type) => page.getByRole("option").filter({ hasText: type });
  const screen = async () => (await page.locator(".xterm-rows > div").allInnerTexts()).map((line) => line.replaceAll("\u00a0", " ").trimEnd()).join("\n");
  /** Waits until the bar takes an answer: shortly after a change it takes none. */
  const settled = () => page.waitForFunction(() => document.getElementById("questions").dataset.settled === "true");
});
