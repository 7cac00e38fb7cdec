// What a user does in a workspace that is trusted, with the real server.
import assert from "node:assert/strict";
import fs from "node:fs";
import http from "node:http";
import path from "node:path";
import { after, before } from "node:test";
import { continues, HANG, startModel } from "./model.mjs";
import { kill, photographing, startRig, there, until } from "./rig.mjs";

const MEAN = "def mean(values):\n    total = sum(values)\n";
/** Without a model, `facter` is repaired; `factor_` is like two names, between which the model chooses. */
const STATS = "def scaled(values, factor):\n    return [value * facter for value in values]\n";
const CHOICE = "def scaled(values, factor_x, factor_y):\n    return [value * factor_ for value in values]\n";
// another error than in CHOICE: the error cache repeats a fix that was accepted, and the model would not be asked
const SLOW = "def total(n, weight_x, weight_y):\n    return sum(n + weight_)\n";
/** What the linter says of it does not hold: it was found in another text. */
const STALE = "def scaled(values, factor):\n    return [value * factor for value in values]\n# another linter has not read this text yet\n";
const FILES = {
  "mean.py": MEAN,
  "word.py": MEAN,
  "part.py": MEAN,
  "line.py": "",
  "wrong.py": MEAN,
  "other.py": MEAN,
  "asked.py": MEAN,
  "long.py": MEAN,
  "pause.py": MEAN,
  "crash.py": MEAN,
  "stats.py": STATS,
  "choice.py": CHOICE,
  "stale.py": STALE,
  "unused.py": "import os\na = 1\n",
  "slow.py": SLOW,
  "thrice.py": "def thrice(n):\n    return 3 * n\n",
  "twice.py": "def twice(n):\n    return 2 * n\n",
  "area.py": "def area(r):\n    return 3 * r * r\n",
  "shapes.py": "class Circle:\n    pass\n",
  "use.py": "from shapes import Circle\n\nCircle()\n",
  "known.py": "from shapes import Circle\n\nCircle()\n\n# another extension knows everything in this file to be here\n",
};
const CIRCLE = "\n    area = 3.14159 * radius ** 2\n    return area";
let rig, page, model, mirror;

/** A hub that has every model, but goes on with none after a twentieth of it. */
async function startMirror() {
  const server = http.createServer((_request, response) => {
    const bytes = 491_400_064;
    response.writeHead(200, { "content-length": bytes });
    response.write(Buffer.alloc(Math.ceil(bytes / 20)));
    response.once("close", () => (mirror.left = true));
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  return { left: false, address: `http://127.0.0.1:${server.address().port}`, stop: () => (server.closeAllConnections(), server.close()) };
}

before(
  async () => {
    model = await startModel();
    mirror = await startMirror();
    // no model is there; the one of these tests is asked by its address
    const environment = (dir) => ({ HF_ENDPOINT: mirror.address, LSP_HARNESS_MODELS: path.join(dir, "models") });
    rig = await startRig({ model, files: FILES, environment });
    page = rig.page;
    await rig.show("mean.py");
    await rig.ready();
  },
  { timeout: 180_000 },
);
after(async () => {
  await rig?.stop();
  await model?.stop();
  mirror?.stop();
});
const it = photographing(() => rig);

const knows = (...answers) => {
  model.answers = answers;
};
/** The model chooses one of the names. With `body.n_predict` 0 it is only asked to read. */
const chosen = ({ prefix }) => (prefix.endsWith("factor_") ? "y for value in values]" : undefined);
async function toEnd(file) {
  await rig.open(file);
  await rig.end(file);
}
async function offered(file, title = "Fix with lsp-harness") {
  await rig.open(file);
  await page.locator(".squiggly-warning").first().waitFor();
  await rig.cursor(2, 23);
  return rig.action("Control+.", title);
}

it("ghost text is shown while one types, and Tab takes all of it", async () => {
  knows(continues(["    return total / len(values)"]));
  await toEnd("mean.py");
  await rig.type("    return ");
  await rig.shows("total / len(values)");
  await rig.picture("ghost-text");
  await page.keyboard.press("Tab");
  await rig.noGhost();
  await rig.saved("mean.py", `${MEAN}    return total / len(values)`);
});

it("Escape takes ghost text off the screen, and it is never in the file", async () => {
  await toEnd("word.py");
  await rig.type("    return ");
  await rig.shows("total / len(values)");
  await page.keyboard.press("Escape");
  await rig.noGhost();
  await rig.saved("word.py", `${MEAN}    return `);
});

it("Ctrl+Right takes one word", async () => {
  // where a suggestion was dismissed, none comes
  await toEnd("part.py");
  await rig.type("    return to");
  await rig.shows("tal / len(values)");
  await page.keyboard.press("Control+ArrowRight");
  await rig.shows(" / len(values)");
  await page.keyboard.press("Escape");
  await rig.saved("part.py", `${MEAN}    return total`);
});

it("Ctrl+Alt+Right takes one line of several", async () => {
  knows(({ prefix }) => (prefix.endsWith("def circle(radius):") ? CIRCLE : undefined));
  await toEnd("line.py");
  await rig.type("def circle(radius):");
  await rig.shows("return area");
  await rig.picture("several-lines");
  await page.keyboard.press("Control+Alt+ArrowRight");
  await page.keyboard.press("Control+Alt+ArrowRight");
  await page.keyboard.press("Escape");
  await rig.saved("line.py", `def circle(radius):${CIRCLE.slice(0, CIRCLE.lastIndexOf("\n") + 1)}`);
});

it("who asks goes through the alternatives", async () => {
  knows(continues(["    return total / len(values)", "    return total / max(1, len(values))"]));
  await toEnd("other.py");
  await rig.type("    return ");
  await rig.shows("total / len(values)");
  await rig.command("Trigger Inline Suggestion");
  await rig.focused();
  await rig.shows("total / len(values)");
  await page.keyboard.press("Alt+BracketRight");
  await rig.shows("total / max(1, len(values))");
  await page.keyboard.press("Tab");
  await rig.saved("other.py", `${MEAN}    return total / max(1, len(values))`);
});

it("who asks where nothing is shown gets one suggestion first, and then the alternatives", async () => {
  await toEnd("asked.py");
  await rig.type("    return ");
  await rig.shows("total / len(values)");
  await page.keyboard.press("Escape");
  await rig.noGhost();
  const before = model.asked.length;
  await rig.command("Trigger Inline Suggestion");
  await rig.focused();
  await rig.shows("total / len(values)");
  await until(() => model.asked.slice(before).some(({ body }) => body.n_cmpl > 1), "the alternatives are worked out");
  await page.keyboard.press("Alt+BracketRight");
  await rig.shows("total / max(1, len(values))");
  await page.keyboard.press("Alt+BracketRight");
  await rig.shows("total / len(values)");
  await page.keyboard.press("Escape");
});

it("a suggestion that was asked for and takes long is seen, and cancelled by its button", async () => {
  knows(() => HANG);
  await toEnd("long.py");
  await rig.type("    return ");
  await rig.command("Trigger Inline Suggestion");
  const bar = rig.notification("Completion by lsp-harness");
  await bar.waitFor();
  assert.ok(model.hanging > model.left);
  await rig.cancelled(bar);
  await until(() => model.left === model.hanging, "the model is told");
  assert.equal(await page.locator(".notifications-toasts .notification-list-item").count(), 0);
});

it("a suggestion that was taken is checked: what is wrong is underlined, and goes when it is repaired", async () => {
  knows(continues(["    return totl / len(values)"]));
  await toEnd("wrong.py");
  await rig.type("    return ");
  await rig.shows("totl / len(values)");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Control+Shift+m");
  const filter = page.locator(".panel input[placeholder^=Filter]");
  const row = page.locator(".markers-panel .monaco-list-row", { hasText: /lsp-harness.*F821/ });
  await until(async () => {
    // what comes just after the filter was set, the list does not always show
    await filter.fill("");
    await filter.fill("totl");
    return row.waitFor({ timeout: 3000 }).then(() => true, () => false);
  }, "the finding in the list");
  await rig.picture("verification");
  await rig.open("wrong.py");
  await rig.cursor(3, 13);
  await rig.choose(await rig.action("Control+.", "Why lsp-harness says this"));
  await rig.preview("totl", "verdict");
  // the link is behind the code of the diagnostic, and opens the same as text
  await rig.clicked(row.locator("a", { hasText: "F821" }), there(page.locator(".tab.active[data-resource-name$='.md']")));
  await until(async () => (await page.locator(".editor-instance .view-lines").first().innerText()).includes("totl"), "the verdict");
  await rig.open("wrong.py");
  await rig.cursor(3, 15);
  await rig.type("a");
  await row.waitFor({ state: "detached" });
  await rig.saved("wrong.py", `${MEAN}    return total / len(values)`);
  await page.keyboard.press("Control+j");
});

it("a repair that needs no model is named in the menu, and made without a question", async () => {
  // the model has nothing to say
  knows();
  const row = await offered("stats.py", "Fix with lsp-harness: `facter` → `factor`");
  await rig.picture("quick-fix");
  await rig.choose(row);
  await page.locator(".squiggly-warning").first().waitFor({ state: "detached" });
  await rig.saved("stats.py", STATS.replace("facter", "factor"));
});

it("a finding that no longer holds changes nothing, and the user is told", async () => {
  knows();
  await rig.choose(await offered("stale.py", "Fix with lsp-harness"));
  await rig.notification("the diagnostic is no longer there: ruff does not report F821 there").waitFor();
  assert.equal(await rig.review().count(), 0);
  await rig.saved("stale.py", STALE);
  await rig.command("Notifications: Clear All Notifications");
});

it("of two likely repairs the model chooses one, and it is previewed: refused, then made", async () => {
  knows(chosen);
  const choose = async () => {
    await rig.choose(await offered("choice.py", "Fix with lsp-harness: Undefined name `factor_`"));
    await rig.reviewed("factor_y for");
    await page.locator(".tab.active", { hasText: /parse ✓.*kept ✓.*lint ✓.*gone ✓/ }).waitFor();
    await rig.picture("preview");
  };
  await choose();
  await rig.discard();
  assert.equal(rig.read("choice.py"), CHOICE);
  await choose();
  await rig.confirm();
  await page.locator(".squiggly-warning").first().waitFor({ state: "detached" });
  await rig.saved("choice.py", CHOICE.replace("factor_ ", "factor_y "));
});

it("the lightbulb offers ruff's own fix, which needs no confirmation", async () => {
  await rig.open("unused.py");
  await page.locator(".squiggly-warning").first().waitFor();
  const bulb = page.locator(".editor-instance [class*=lightbulb][class*=auto]").first();
  // a bulb whose menu closed by itself comes back when the cursor moves
  const click = async () => {
    await rig.cursor(2, 1);
    await rig.cursor(1, 8);
    await bulb.click({ timeout: 4000 }).catch(() => undefined);
  };
  await rig.choose(await rig.action(click, "Fix with ruff (safe fix): Remove unused import"));
  await rig.saved("unused.py", "a = 1\n");
});

it("what is asked for in words is worked out, previewed and made", async () => {
  knows(({ prompt }) => (prompt.includes("more exactly") ? "```python\n    return 3.14159 * r * r\n```" : undefined));
  await rig.open("area.py");
  await rig.cursor(2, 1);
  await page.keyboard.press("Shift+End");
  await rig.choose(await rig.action("Control+Shift+r", "Edit with lsp-harness…"));
  await page.locator(".quick-input-widget input").first().fill("more exactly");
  await page.keyboard.press("Enter");
  await rig.reviewed("3.14159");
  await rig.picture("instruction");
  await rig.confirm();
  await rig.saved("area.py", "def area(r):\n    return 3.14159 * r * r\n");
});

it("an explanation is a page", async () => {
  knows(({ prompt }) => (prompt.includes("def area") ? "The area of a **circle**." : undefined));
  await rig.open("area.py");
  await rig.cursor(1, 6);
  await rig.command("lsp-harness: Explain");
  await rig.preview("The area of a circle.");
});

it("what the model sees is a page", async () => {
  await rig.open("area.py");
  await rig.cursor(2, 11);
  await rig.command("lsp-harness: Show What the Model Sees Here");
  await rig.preview("text before the cursor");
});

/** What the title of the peek view says. */
const peeked = (text) => page.locator(".peekview-title", { hasText: text });

it("a definition that nobody else knows is gone to, and references are listed", async () => {
  await rig.open("use.py");
  await rig.cursor(3, 2);
  const there = page.locator('.tab.active[data-resource-name="shapes.py"]');
  // what an import means the index knows a moment after it has started
  await until(async () => {
    await page.keyboard.press("F12");
    return there.waitFor({ timeout: 2000 }).then(() => true, () => false);
  }, "the definition");
  await page.locator("#status\\.editor\\.selection", { hasText: "Ln 1, Col 7" }).waitFor();
  await page.keyboard.press("Shift+F12");
  // two of use.py, one of known.py, twice; and the declaration
  await peeked("References (5)").waitFor();
  await page.keyboard.press("Escape");
  await peeked("References").waitFor({ state: "detached" });
});

it("where another extension has definitions and references, only theirs are shown", async () => {
  await rig.open("known.py");
  await rig.cursor(3, 2);
  const here = page.locator("#status\\.editor\\.selection", { hasText: "Ln 5, Col 1" });
  for (const key of ["F12", "Shift+F12"]) {
    await page.keyboard.press(key);
    // of several, VS Code would show a list
    await here.waitFor();
    await rig.cursor(3, 2);
  }
});

it("a docstring is written into the function the cursor is in, and shown before", async () => {
  knows(({ prefix }) => (prefix.endsWith('"""') && prefix.includes("def thrice") ? "Three times the number." : undefined));
  await rig.open("thrice.py");
  await rig.cursor(1, 6);
  await rig.command("lsp-harness: Write a Docstring");
  await rig.reviewed('"""Three times the number."""');
  await rig.confirm();
  await rig.saved("thrice.py", 'def thrice(n):\n    """Three times the number."""\n    return 3 * n\n');
});

it("tests are written into a file of their own, which is made when it is confirmed", async () => {
  knows(({ prefix }) => (/def test_twice$/.test(prefix) ? "():\n    assert twice(2) == 4\n" : undefined));
  await rig.open("twice.py");
  await rig.cursor(1, 6);
  await rig.command("lsp-harness: Write Tests");
  await rig.reviewed("assert twice(2) == 4");
  await rig.confirm();
  const file = path.join(rig.ws, "test_twice.py");
  await until(async () => {
    await page.keyboard.press("Control+s");
    return fs.existsSync(file) && fs.readFileSync(file, "utf8").includes("assert");
  }, "the tests in their file");
  assert.match(fs.readFileSync(file, "utf8"), /^from twice import twice\n+def test_twice\(\):\n    assert twice\(2\) == 4\n$/);
});

it("a settings file that is written outside of VS Code counts at once", async () => {
  const file = path.join(rig.ws, "lsp-harness.toml");
  const wrong = page.locator(".squiggly-warning").first();
  fs.writeFileSync(file, "[completions]\nmax_lines = 2\n");
  await rig.open("lsp-harness.toml");
  await wrong.waitFor();
  fs.writeFileSync(file, "[completion]\nmax_lines = 2\n");
  await wrong.waitFor({ state: "detached" });
  fs.rmSync(file);
  await rig.closed("lsp-harness.toml");
});

it("statistics are counted by the server, and a page", async () => {
  await rig.command("lsp-harness: Statistics");
  await rig.preview("% of what was shown was used");
});

it("a model is downloaded with its progress seen, until that is cancelled", async () => {
  await rig.command("lsp-harness: Download Model…");
  const bar = rig.notification("Downloading qwen2.5-coder-0.5b-instruct");
  await until(async () => /[1-9]\d* of 469 MiB/.test(await bar.innerText()), async () => `a part of it; it is ${await bar.innerText()}`);
  await rig.cancelled(bar);
  await until(() => mirror.left, "the mirror sees nobody any more");
});

it("working out a fix is cancelled by its button, and the model is left in peace", async () => {
  knows(() => HANG);
  await rig.choose(await offered("slow.py"));
  const bar = rig.notification("Fix with lsp-harness");
  await until(() => model.hanging > 0, "the model is asked");
  await bar.waitFor();
  await rig.picture("cancel");
  await rig.cancelled(bar);
  await until(() => model.left === model.hanging, "the model is told");
  assert.equal(rig.read("slow.py"), SLOW);
});

it("paused, nothing comes by itself, but who asks gets it", async () => {
  knows(continues(["    return total / len(values)"]));
  await rig.command("lsp-harness: Pause Suggestions Here");
  await rig.bar(/paused/);
  await toEnd("pause.py");
  const before = model.asked.length;
  await rig.type("    return ");
  // the palette is slower to come than a suggestion
  await rig.palette("Trigger Inline Suggestion");
  assert.equal(model.asked.length, before, "nothing is asked of the model");
  assert.equal(await rig.ghost(), "");
  await page.keyboard.press("Enter");
  await rig.shows("total / len(values)");
  await page.keyboard.press("Escape");
  await rig.command("lsp-harness: Resume Suggestions");
  await rig.bar(/^(?![\s\S]*paused)[\s\S]/);
});

it("a model that is gone for a while costs nothing but its suggestions", async () => {
  knows(continues(["    return total / len(values)"]));
  await model.stop();
  await toEnd("crash.py");
  await rig.type("    return ");
  await model.start();
  await rig.suggestedAfter("t", "otal / len(values)");
  await rig.saved("crash.py", `${MEAN}    return `);
});

it("a server that is killed is started again, and the window goes on", async () => {
  // nothing that anybody remembers
  knows(continues(["    return 42 * total"]));
  const [old] = rig.pids("lsp_harness serve");
  assert.ok(old);
  kill(old);
  await until(() => rig.pids("lsp_harness serve").some((pid) => pid !== old), async () => `another server than ${old}; there is ${rig.described("")}, and it says ${await rig.said()}`);
  await rig.suggestedAfter("42", " * total");
  await rig.saved("crash.py", `${MEAN}    return `);
});
