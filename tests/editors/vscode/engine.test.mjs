// With the real engine and its default model: what it says is shown, taken, and repairs; the process that holds it is
// killed, and the next keys start it again. PICTURES=1 keeps what it said in docs/images.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { after, before } from "node:test";
import { IMAGES, kill, photographing, REAL, startRig, until } from "./rig.mjs";

const SUMS = "def total(values):\n    result = 0\n    for value in values:\n        result += value\n    return result\n\n\ndef mean(values):\n    ";
const AREA = `import math


def area(radius):
    """The area of a circle."""
    return math.pi * radius**2


def circumference(radius):
    """How long the line around a circle is."""
    `;
const SCALED = "def scaled(values, factor):\n    return [value * facter for value in values]\n";
const LARGEST = "def largest(values):\n    biggest = values[0]\n    for value in values:\n        ";
let rig, page;

before(
  async () => {
    rig = await startRig({
      model: REAL,
      // the misspelt name would be repaired without the model, which this is about
      environment: () => ({ LSP_HARNESS_GENERATION__REPAIRS: "false" }),
      files: { "sums.py": SUMS, "circle.py": AREA, "scaled.py": SCALED, "largest.py": LARGEST },
    });
    page = rig.page;
    await rig.show("sums.py");
    await rig.ready();
    await rig.open("sums.py");
    await rig.end("sums.py");
    // the first suggestion, for which the engine is started, comes later than a person would wait
    await suggestedAfter("return ");
  },
  { timeout: 180_000 },
);
after(() => rig?.stop());
const it = photographing(() => rig, 180_000);

/** A real model says what it likes; that something comes is the point. */
const suggestedAfter = (text) => rig.suggestedAfter(text, "", 90_000);
const told = [];

it("what the real model suggests is what Tab takes", async () => {
  await rig.open("circle.py");
  await rig.end("circle.py");
  await rig.type("return ");
  const ghost = await until(async () => (await rig.ghost()).trim(), "grey text", 60_000);
  await rig.picture("real-model");
  await page.keyboard.press("Tab");
  await rig.noGhost();
  const typed = `${AREA}return `;
  const file = await until(async () => {
    await page.keyboard.press("Control+s");
    return rig.read("circle.py").length > typed.length && rig.read("circle.py");
  }, "the suggestion in the file");
  assert.ok(file.startsWith(typed));
  assert.equal(file.slice(typed.length).replace(/\s/g, ""), ghost.replace(/\s/g, ""));
  told.push("circle.py", "", indented(AREA), "", "typed      return ", `suggested  ${ghost}`, "Tab", "", indented(file.slice(AREA.indexOf("def circ"))));
});

it("what the real model repairs has passed its checks, and is made when it is confirmed", async () => {
  await rig.open("scaled.py");
  await page.locator(".squiggly-warning").first().waitFor();
  await rig.cursor(2, 23);
  const row = await rig.action("Control+.", "Fix with lsp-harness");
  const offered = (await row.innerText()).trim();
  await rig.choose(row);
  await rig.review().waitFor({ timeout: 120_000 });
  const passed = (await rig.review().locator(".label-name").first().innerText()).trim();
  await rig.reviewed("factor for");
  assert.match(passed, /parse ✓.*kept ✓.*lint ✓/);
  await rig.confirm();
  await page.locator(".squiggly-warning").first().waitFor({ state: "detached" });
  await rig.saved("scaled.py", SCALED.replace("facter", "factor"));
  const [removed, added] = [SCALED, rig.read("scaled.py")].map((text) => text.split("\n")[1]);
  told.push("", "", "scaled.py", "", indented(SCALED), "", `Ctrl+.     ${offered}`, `shown      ${passed}`, "", `  - ${removed}`, `  + ${added}`, "", "Apply", "", indented(rig.read("scaled.py")));
  if (process.env.PICTURES) fs.writeFileSync(path.join(IMAGES, "vscode-real-model.txt"), `${told.join("\n").replace(/[^\S\n]+$/gm, "")}\n`);
});

it("a killed engine is started again by typing on, in the same window", async () => {
  await rig.open("sums.py");
  const [engine] = rig.pids("lsp_harness.engine.main");
  const [server] = rig.pids("lsp_harness serve");
  assert.ok(engine, "an engine process");
  kill(engine);
  await until(() => !rig.pids("lsp_harness.engine.main").includes(engine), "it is gone");
  // another text: the server remembers what it was told about the first
  await suggestedAfter("for value in ");
  const [again] = rig.pids("lsp_harness.engine.main");
  assert.ok(again && again !== engine, "another engine process");
  assert.deepEqual(rig.pids("lsp_harness serve"), [server], "the server went on");
  assert.equal(rig.read("sums.py"), SUMS);
});

it("whoever restarts the engine gets another one", async () => {
  const [engine] = rig.pids("lsp_harness.engine.main");
  assert.ok(engine, "an engine process");
  await rig.command("lsp-harness: Restart Engine");
  const another = () => rig.pids("lsp_harness.engine.main").find((pid) => pid !== engine);
  await until(() => another() && !rig.pids("lsp_harness.engine.main").includes(engine), "another engine process", 60_000);
  await rig.open("largest.py");
  await rig.end("largest.py");
  await suggestedAfter("if value > ");
});

function indented(text) {
  return text.trimEnd().replace(/^/gm, "    ");
}
