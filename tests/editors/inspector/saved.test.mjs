import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { startInspector, whatIsMissing } from "./inspector_rig.mjs";

const skip = whatIsMissing() ?? false;
const LONG = "01KB1G00000000000000000001";
const EDITED = "01KB1G00000000000000000002";
const CHILD = "01KB1G00000000000000000003";
const EVENTS = 10_000;
const EVIL = "</td><script>document.body.dataset.broken = 1</script>";
const DIFF = `--- a/geo.py\n+++ b/geo.py\n@@ -4,2 +4,4 @@\n def area(radius):\n-    return PI * radius\n+    if radius < 0:\n+        raise ValueError("${EVIL}")\n`;

const ARTIFACT = "01KB1G00000000000000000008";
const LARGE = "a line of a large output\n".repeat(8_000);
const started = (driver) => ["session.started", { driver, model: "small", permission_mode: "ask", root: "/w" }, null];
const long = [started("chat"), ["invocation.received", { kind: "message", text: "count to ten thousand" }, 0], ["turn.started", { number: 0 }]];
while (long.length < EVENTS - 1) long.push(["tool.completed", { call_id: `c${long.length}`, tool: "read", output: `line ${long.length} ${EVIL}` }]);
long.push(["turn.stopped", { number: 0, reason: "completed", text: "done" }]);

const checks = [
  { check: "syntax", status: "passed" },
  { check: "types", status: "failed", said: [`geo.py:5 ${EVIL}`] },
  { check: "tests", status: "skipped", reason: "there are none" },
];
const edited = [
  started("code"),
  ["invocation.received", { kind: "message", text: "check the radius" }],
  ["turn.started", { number: 0 }],
  ["state.exited", { state: "locate", ms: 40 }],
  ["model.completed", { model: "small", ms: 900, usage: { input_tokens: 800, cached_tokens: 600, output_tokens: 60 } }],
  ["candidate.generated", { candidate: 1, kind: "model", temperature: 0, seed: 1, text: EVIL }],
  ["verify.completed", { candidate: 1, hash: "a", passed: false, outcomes: checks }],
  ["candidate.rejected", { candidate: 1, reason: "types failed" }],
  ["candidate.generated", { candidate: 2, kind: "model", temperature: 0.6, seed: 2, text: "ok" }],
  ["verify.completed", { candidate: 2, hash: "b", passed: true, outcomes: checks.slice(0, 1) }],
  ["candidate.selected", { candidate: 2, passed: 1 }],
  ["edit.proposed", { hash: "b", diff: DIFF, summary: "area: check the radius" }],
  ["edit.applied", { proposal: `${EDITED.slice(0, 18)}00000011` }],
  ["artifact.created", { artifact_id: ARTIFACT, path: `artifacts/${ARTIFACT}`, kind: "tool_output", bytes: LARGE.length }],
  ["task.started", { task_id: "01KB1G00000000000000000009", kind: "subagent", title: `explore ${EVIL}`, session_id: CHILD }],
  ["agent.finished", { session_id: CHILD, reason: "completed", preset: "explore", text: "found it", usage: { input_tokens: 100, output_tokens: 10 } }],
  ["task.completed", { task_id: "01KB1G00000000000000000009", summary: "found it" }],
  ["turn.stopped", { number: 0, reason: "completed", text: "done" }],
];

describe("saved sessions in the inspector", { skip, timeout: 240_000 }, () => {
  let rig;
  let page;
  before(async () => {
    rig = await startInspector({ sessions: { [LONG]: long, [EDITED]: edited, [CHILD]: [["session.started", { driver: "chat", parent: EDITED }, null], ["invocation.received", { kind: "message", text: "explore" }]] } });
    rig.writeArtifact(EDITED, ARTIFACT, LARGE);
    page = rig.page;
    await rig.login();
  });
  after(async () => {
    await rig?.stop();
  });

  test("ten thousand events are a list of which only a part is in the page", async () => {
    await page.getByRole("link", { name: /count to ten thousand/u }).click();
    await page.getByText(`${EVENTS} events`).waitFor();
    await page.getByRole("option").filter({ hasText: "turn.stopped" }).waitFor();
    assert.ok((await page.getByRole("option").count()) < 120);
    const list = page.getByRole("listbox", { name: "Events" });
    await list.focus();
    await page.keyboard.press("Home");
    const chosen = page.locator('.row[aria-selected="true"]');
    await chosen.filter({ hasText: "session.started" }).waitFor();
    assert.equal(await chosen.getAttribute("aria-setsize"), String(EVENTS));
    assert.equal(await list.getAttribute("aria-activedescendant"), await chosen.getAttribute("id"));
    for (const key of ["PageDown", "PageDown", "ArrowDown", "ArrowUp"]) await page.keyboard.press(key);
    assert.ok(Number(await chosen.getAttribute("aria-posinset")) > 10);
    await page.keyboard.press("End");
    assert.equal(await chosen.getAttribute("aria-posinset"), String(EVENTS));
    await page.keyboard.press("Enter");
    assert.equal(await page.evaluate(() => document.activeElement.getAttribute("aria-label")), "Event");
  });

  test("events are searched and filtered", async () => {
    await page.getByRole("searchbox", { name: "Search in events" }).fill("line 4321 ");
    await page.getByText(`1 of ${EVENTS} events`).waitFor();
    await page.getByRole("searchbox", { name: "Search in events" }).fill("");
    await page.getByLabel("Kind of events").selectOption("prompt");
    await page.getByText(`3 of ${EVENTS} events`).waitFor();
    assert.equal(await page.getByRole("option").filter({ hasText: "tool.completed" }).count(), 0);
  });

  test("candidates have verdicts, and proposals diffs", async () => {
    await page.getByRole("link", { name: /check the radius/u }).click();
    await page.getByRole("tab", { name: "Candidates" }).click();
    const verdict = page.getByRole("table", { name: "Verdict on candidate 1" });
    await verdict.waitFor();
    assert.deepEqual(await verdict.locator(".badge").allInnerTexts(), ["passed", "failed", "skipped"]);
    await page.getByRole("heading", { name: "applied turn 0: area: check the radius" }).waitFor();
    await page.locator(".diff-added", { hasText: "raise ValueError" }).waitFor();
    assert.equal(await page.locator(".diff-removed").count(), 1);
    await rig.picture("candidates");
  });

  test("a large output is read in parts", async () => {
    await page.getByRole("tab", { name: "Artifacts" }).click();
    await page.getByRole("table", { name: "Artifacts" }).getByText("195.3 KiB").waitFor();
    await page.getByRole("button", { name: "Open" }).click();
    const text = page.getByLabel("Content of the artifact");
    await text.getByText("a line of a large output").waitFor();
    const read = () => text.evaluate((each) => each.textContent.length);
    const first = await read();
    assert.ok(first < LARGE.length);
    await page.getByRole("button", { name: /^More/u }).click();
    await page.waitForFunction((length) => document.querySelector(".artifact").textContent.length === length, LARGE.length);
  });

  test("subagents are a tree", async () => {
    await page.getByRole("tab", { name: "Subagents" }).click();
    await page.getByRole("list", { name: "Subagents" }).getByText("100 → 10 tokens").waitFor();
    await page.getByRole("list", { name: "Subagents" }).getByRole("link").click();
    await page.getByRole("heading", { name: "explore", exact: true }).waitFor();
    await page.goBack();
  });

  test("the chart shows cached tokens and states", async () => {
    await page.getByRole("tab", { name: "Tokens and time" }).click();
    await page.getByText("900 tokens in, of which 600 were cached, and 70 out, in 1 call").waitFor();
    await page.getByRole("img", { name: "locate 40 ms" }).waitFor();
  });

  test("after a lost connection the events go on", async () => {
    await page.getByRole("tab", { name: "Timeline" }).click();
    await page.getByText(`${edited.length} events`).waitFor();
    await rig.context.setOffline(true);
    rig.append(EDITED, edited.length, ["session.closed", { reason: "it was only lent" }, null]);
    await rig.context.setOffline(false);
    await page.getByText(`${edited.length + 1} events`).waitFor();
    await page.locator(".connection-live").waitFor();
    // a page that is loaded again has access as before, and sees the same
    await page.reload();
    await page.getByText(`${edited.length + 1} events`).waitFor();
  });

  test("nothing of it became markup", async () => {
    assert.equal(await page.evaluate(() => document.body.dataset.broken), undefined);
    assert.deepEqual(rig.problems.filter((problem) => !problem.includes("ERR_INTERNET_DISCONNECTED")), []);
  });

  test("without access the page says what to do, and shows nothing", async () => {
    const other = await rig.context.newPage();
    await other.goto(`${rig.url}/#/session/${LONG}`);
    await other.getByRole("heading", { name: "This page has no access" }).waitFor();
    assert.equal(await other.getByText("count to ten thousand").count(), 0);
    await other.goto(`${rig.url}/#key=guessed`);
    await other.reload();
    await other.getByRole("heading", { name: "This page has no access" }).waitFor();
    assert.equal(other.url(), `${rig.url}/`);
    await other.close();
  });
});
