import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { startInspector, until, whatIsMissing } from "./inspector_rig.mjs";

const SOURCE = "PI = 3\n\n\ndef area(radius):\n    return PI * radius * radius\n";
const BROKEN = "PI = 3\n\n\ndef area(radius:\n    return PI\n";
const BETTER = "PI = 3.14159\n\n\ndef area(radius):\n    return PI * radius * radius\n";

describe("the changes of an agent in the inspector", { skip: whatIsMissing() ?? false, timeout: 240_000 }, () => {
  let rig;
  let page;
  let agent;
  before(async () => {
    rig = await startInspector({ files: { "geo.py": SOURCE } });
    const git = (...args) => execFileSync("git", ["-c", "user.name=tester", "-c", "user.email=tester@example.com", ...args], { cwd: rig.project });
    git("init", "-q");
    git("add", ".");
    git("commit", "-qm", "begin");
    page = rig.page;
    await rig.login();
  });
  after(async () => {
    await rig?.stop();
  });

  const file = () => fs.readFileSync(path.join(rig.project, "geo.py"), "utf8");
  const write = async (text) => {
    await page.getByRole("textbox", { name: "Message" }).fill(`/write geo.py ${text.replaceAll("\n", "\\n")}`);
    await page.keyboard.press("Control+Enter");
    await until(async () => (await rig.api("POST", `agents/${agent.id}/changes`, {})).text.includes(text.split("\n")[0]) || text === BROKEN, "the change");
  };

  test("an agent is asked for a permission at the gate of the page", async () => {
    await page.getByRole("button", { name: "New agent" }).click();
    await page.getByLabel("Kind").fill("fake");
    await page.getByLabel("in a git worktree").check();
    await page.getByRole("button", { name: "Start" }).click();
    await page.getByText("own worktree").waitFor();
    [agent] = (await rig.api("GET", "agents")).agents;
    await until(async () => (await rig.api("GET", `agents/${agent.id}`)).status === "ready", "the agent");
    for (const [answer, wanted] of [["Deny", "denied"], ["Allow", "allowed"]]) {
      await page.getByRole("textbox", { name: "Message" }).fill(`/permit bash touch ${answer}`);
      await page.keyboard.press("Control+Enter");
      const question = page.getByRole("region", { name: "Pending permissions" }).getByRole("article").filter({ hasText: `touch ${answer}` });
      await question.waitFor();
      await page.waitForFunction(() => document.getElementById("questions").dataset.settled === "true");
      await question.getByRole("button", { name: answer, exact: true }).click();
      await question.waitFor({ state: "detached" });
      await until(async () => (await rig.api("GET", `agents/${agent.id}`)).status === "ready", `the agent to go on after it was ${wanted}`);
    }
    const events = (await rig.api("GET", "events")).events.filter((event) => event.event === "permission_decided");
    assert.deepEqual(events.map((event) => event.data.decision ?? event.data.isAllowed ?? event.data.allowed), ["deny", "allow"]);
  });

  test("a broken change cannot be applied, and a good one is applied, undone and discarded", async () => {
    await write(BROKEN);
    await page.getByRole("tab", { name: "Changes" }).click();
    await page.locator("#panel .badge-failed").waitFor();
    assert.ok(await page.getByRole("button", { name: "Apply" }).isDisabled());
    await write(BETTER);
    await page.getByRole("button", { name: "Verify again" }).click();
    // no test runs the change, so it is not called verified, and is not green
    await page.locator("#panel .badge-unknown", { hasText: "form only" }).waitFor();
    await page.locator(".diff-added", { hasText: "PI = 3.14159" }).waitFor();
    await rig.picture("changes");
    assert.equal(file(), SOURCE);
    await page.getByRole("button", { name: "Apply" }).click();
    await until(() => file() === BETTER, "the change in the folder");
    await page.getByRole("button", { name: "Undo" }).click();
    await until(() => file() === SOURCE, "the text before");
    page.once("dialog", (dialog) => dialog.accept());
    await page.getByRole("button", { name: "Discard" }).click();
    await until(() => execFileSync("git", ["worktree", "list"], { cwd: rig.project, encoding: "utf8" }).trim().split("\n").length === 1, "the end of the worktree");
  });
});
