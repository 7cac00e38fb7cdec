// A folder whose author wants to run something here: nothing of it is run until the user trusts it.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { after, before } from "node:test";
import { continues, startModel } from "./model.mjs";
import { photographing, PYTHON, ROOT, startRig, until } from "./rig.mjs";

const MEAN = "def mean(values):\n    total = sum(values)\n";
/** A server that leaves a mark and is otherwise the real one. */
const marked = (mark) => `#!/bin/sh\necho run >> "${mark}"\nPYTHONPATH="${ROOT}" exec "${PYTHON}" -m lsp_harness "$@"\n`;
let rig, page, model, marks;

before(
  async () => {
    model = await startModel();
    model.answers = [continues(["    return total / len(values)"])];
    marks = fs.mkdtempSync("/tmp/lhm-");
    rig = await startRig({
      model,
      trust: true,
      // the user has one at home, the folder brings one of its own
      command: null,
      programs: { ".local/bin/lsp-harness": marked(path.join(marks, "user")) },
      files: {
        "mean.py": MEAN,
        "name.py": "x = undefined\n",
        ".venv/bin/lsp-harness": marked(path.join(marks, "folder")),
      },
      workspace: {
        "lspHarness.server.command": ["/bin/sh", "-c", `echo run >> ${path.join(marks, "settings")}`],
        "lspHarness.completion.max_lines": 1,
      },
    });
    page = rig.page;
    await rig.show("mean.py");
    await rig.ready();
  },
  { timeout: 180_000 },
);
after(async () => {
  await rig?.stop();
  await model?.stop();
  if (marks) fs.rmSync(marks, { recursive: true });
});
const it = photographing(() => rig);
const left = () => fs.readdirSync(marks).sort();

it("without trust the user's own server is run, nothing of the folder, and it suggests", async () => {
  await rig.open("mean.py");
  await rig.end("mean.py");
  await rig.type("    return ");
  await rig.shows("total / len(values)");
  await page.keyboard.press("Escape");
  await rig.saved("mean.py", `${MEAN}    return `);
  assert.deepEqual(left(), ["user"]);
});

it("without trust there is no quick fix", async () => {
  await rig.open("name.py");
  await page.locator(".squiggly-warning").first().waitFor();
  await rig.cursor(1, 8);
  const menu = page.locator(".action-widget .monaco-list-row, .monaco-editor-overlaymessage", { hasText: /No code actions|Fix with|Suppress|Ignore/ });
  await until(async () => {
    await page.keyboard.press("Control+.");
    return menu.first().waitFor({ timeout: 3000 }).then(() => true, () => false);
  }, "what there is to choose");
  assert.doesNotMatch((await menu.allInnerTexts()).join("\n"), /lsp-harness/);
  await page.keyboard.press("Escape");
});

it("when the user trusts the folder, the server is started again, and its environment counts", async () => {
  await rig.command("Workspaces: Manage Workspace Trust");
  const run = (ms) => until(() => left().includes("folder"), "the folder's server", ms);
  await rig.clicked(page.getByRole("button", { name: "Trust", exact: true }), run);
  assert.ok(!left().includes("settings"), "a setting of machine scope is not the workspace's to set");
  await until(() => rig.pids("lsp_harness serve").length === 1, "one server");
});
