// What a user does in one window of a workspace that is trusted.
import assert from "node:assert/strict";
import test, { after, before } from "node:test";
import { continues, startModel } from "./model.mjs";
import { startRig, until } from "./rig.mjs";

const MEAN = "def mean(values):\n    total = sum(values)\n";
const STATS = "def scaled(values, factor):\n    return [value * facter for value in values]\n";
let rig, page, model;

before(
  async () => {
    model = await startModel();
    model.answers = [continues(["    return total / len(values)"])];
    rig = await startRig({ model, files: { "mean.py": MEAN, "word.py": MEAN, "stats.py": STATS } });
    page = rig.page;
    await rig.show("mean.py");
    await rig.bar(/lsp-harness|by-heart/);
  },
  { timeout: 120_000 },
);
after(async () => {
  await rig?.stop();
  await model?.stop();
});
const it = (name, body, options = {}) =>
  test(name, { timeout: 60_000, ...options }, (context) => rig.photographed(name, () => body(context))());

it("ghost text is shown while one types, and Tab takes all of it", async () => {
  await page.locator(".editor-instance .monaco-editor").first().click();
  await page.keyboard.press("Control+End");
  await rig.type("    return ");
  await rig.shows("total / len(values)");
  await rig.picture("ghost-text");
  await page.keyboard.press("Tab");
  await rig.noGhost();
  await rig.saved("mean.py", `${MEAN}    return total / len(values)`);
});

it("Escape takes ghost text off the screen, and it is never in the file", async () => {
  await rig.open("word.py");
  await page.keyboard.press("Control+End");
  await rig.type("    return ");
  await rig.shows("total / len(values)");
  await page.keyboard.press("Escape");
  await rig.noGhost();
  await rig.saved("word.py", `${MEAN}    return `);
});

it("Ctrl+Right takes one word", async () => {
  await rig.type("to");
  await rig.shows("tal / len(values)");
  await page.keyboard.press("Control+ArrowRight");
  await rig.shows(" / len(values)");
  await page.keyboard.press("Escape");
  await rig.saved("word.py", `${MEAN}    return total`);
});

it("a quick fix of the model is offered by the lightbulb, worked out when chosen, and made", async () => {
  model.answers.unshift(({ prefix, suffix, body }) =>
    prefix.includes("def scaled") && body.n_predict ? "return [value * factor for value in values]" : undefined,
  );
  await rig.open("stats.py");
  await page.locator(".squiggly-warning").first().waitFor();
  await rig.cursor(2, 23);
  await page.keyboard.press("Control+.");
  const fix = page.locator(".action-widget .monaco-list-row", { hasText: "Fix with lsp-harness" });
  await fix.waitFor();
  await rig.picture("quick-fix");
  await fix.click();
  await page.locator(".squiggly-warning").first().waitFor({ state: "detached" });
  await rig.saved("stats.py", STATS.replace("facter", "factor"));
});
