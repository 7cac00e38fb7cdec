// With the real engine and its default model: the process that holds the model is killed, and the next keys start it again.
import assert from "node:assert/strict";
import test, { after, before } from "node:test";
import { kill, models, startRig, until } from "./rig.mjs";

const SUMS = "def total(values):\n    result = 0\n    for value in values:\n        result += value\n    return result\n\n\ndef mean(values):\n    ";
let rig, page;

before(
  async () => {
    rig = await startRig({ files: { "sums.py": SUMS }, environment: () => ({ LSP_HARNESS_MODELS: models() }) });
    page = rig.page;
    await rig.show("sums.py");
    await rig.ready();
  },
  { timeout: 120_000 },
);
after(() => rig?.stop());
const it = (name, body) => test(name, { timeout: 120_000 }, (context) => rig.photographed(name, () => body(context))());

/** A real model says what it likes; that something comes is the point. */
const suggestedAfter = (text) => rig.suggestedAfter(text, "", 90_000);

it("a killed engine is started again by typing on, in the same window", async () => {
  await rig.open("sums.py");
  await page.keyboard.press("Control+End");
  await suggestedAfter("return ");
  const [engine] = rig.pids("lsp_harness.inference.engine");
  const [server] = rig.pids("lsp_harness serve");
  assert.ok(engine, "an engine process");
  kill(engine);
  await until(() => !rig.pids("lsp_harness.inference.engine").includes(engine), "it is gone");
  // another text: the server remembers what it was told about the first
  await suggestedAfter("for value in ");
  const [again] = rig.pids("lsp_harness.inference.engine");
  assert.ok(again && again !== engine, "another engine process");
  assert.deepEqual(rig.pids("lsp_harness serve"), [server], "the server went on");
  assert.equal(rig.read("sums.py"), SUMS);
});
