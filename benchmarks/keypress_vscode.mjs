// The part of keypress_vscode.py that is in VS Code: types what it is told on standard input, an edit a line, and says on
// standard output what came of each key. All times are milliseconds of the machine's monotonic clock, which is the page's
// and the tap's as well.
import fs from "node:fs";
import path from "node:path";
import readline from "node:readline";
import { setTimeout as pause } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { REAL, SERVE, startRig } from "../editors/vscode/rig.mjs";
import { watch } from "./keypress_page.mjs";

const [gap, longest, first, told] = process.argv.slice(2).map(Number);
const TAP = path.join(import.meta.dirname, "keypress_tap.mjs");
/** Nothing but the keys changes the text. */
const PLAIN = {
  "editor.useTabStops": false,
  "editor.tabSize": 4,
  "editor.detectIndentation": false,
  "editor.autoClosingQuotes": "never",
  "editor.autoClosingDelete": "never",
  "editor.autoClosingComments": "never",
  "editor.autoSurround": "never",
  "typescript.autoClosingTags": false,
  "javascript.autoClosingTags": false,
  "editor.stickyScroll.enabled": false,
  "editor.formatOnSave": false,
};
const now = () => Number(process.hrtime.bigint()) / 1e6;
const say = (row) => process.stdout.write(`${JSON.stringify(row)}\n`);

const rig = await startRig({
  files: { "begin.txt": "" },
  linter: false,
  settings: PLAIN,
  command: (dir) => [process.execPath, TAP, path.join(dir, "tapped"), ...SERVE],
  model: REAL,
});
const { page } = rig;
let ended = false;
const input = readline.createInterface({ input: process.stdin });
input.once("close", () => (ended = true));
// it keeps the lines that come before anybody reads them, from now on
const edits = input[Symbol.asyncIterator]();
// nobody reads the rows any more
process.stdout.on("error", () => (ended = true));
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => (ended = true));

/** What the tap wrote since it was read last. */
const tapped = { at: 0, asked: new Map(), figures: new Map() };
const file = fs.openSync(path.join(rig.dir, "tapped"), "a+");
function read() {
  const { size } = fs.fstatSync(file);
  const bytes = Buffer.alloc(size - tapped.at);
  fs.readSync(file, bytes, 0, bytes.length, tapped.at);
  const whole = bytes.lastIndexOf("\n") + 1;
  tapped.at += whole;
  for (const line of bytes.subarray(0, whole).toString().split("\n").filter(Boolean)) {
    const event = JSON.parse(line);
    if (event.what === "asked") tapped.asked.set(event.id, event);
    else if (event.what === "answered") Object.assign(tapped.asked.get(event.id), { answered: event.at, suggestion: event.suggestion });
    else if (event.figures.id) tapped.figures.set(event.figures.id, event.figures);
  }
}

/** Milliseconds to add to the page's own; that the two clocks are one is looked at, not believed. */
async function offset() {
  const session = await page.context().newCDPSession(page);
  await session.send("Performance.enable");
  const { metrics } = await session.send("Performance.getMetrics");
  const begin = 1000 * metrics.find(({ name }) => name === "NavigationStart").value;
  const before = now();
  const there = begin + (await page.evaluate(() => performance.now()));
  if (there < before - 1 || there > now() + 1) throw new Error(`the page's clock is another one: ${there - before} ms`);
  await session.detach();
  return begin;
}

/** What `ask` finds within so many milliseconds; undefined when there is nothing, which is a result here. */
async function waited(ask, ms) {
  for (const end = now() + ms; now() < end && !ended; await pause(10)) {
    const found = ask();
    if (found) return found;
  }
  return undefined;
}

let drawn;
let number = 0;
let begin = 0;

/** Types a part, one key or a line break with its indentation; resolves when it is known what came of it. */
async function press(text, uri, place, most) {
  number += 1;
  drawn = undefined;
  await page.evaluate(({ number, before, after }) => window.keypress.expect(number, before, after), { number, ...place });
  const from = now();
  if (text === "\b") await page.keyboard.press("Backspace");
  else if (text.startsWith("\n")) {
    await page.keyboard.press("Enter");
    if (text.length > 1) await page.keyboard.insertText(text.slice(1));
  } else if (text === "\t") await page.keyboard.insertText(text);
  else await page.keyboard.type(text);

  const requests = () => {
    read();
    const here = ({ at, uri: asked, position }) => at >= from && asked === uri && position.line === place.line && position.character === place.before.length;
    return [...tapped.asked.values()].filter(here);
  };
  const over = () => {
    const found = requests();
    // a suggestion that was answered is still to be drawn
    return drawn || (found.length > 0 && found.every(({ answered, suggestion }) => answered && !suggestion));
  };
  await waited(over, most);
  if (!drawn) return undefined;
  const row = { key: number, pressed: begin + drawn.at, shown: begin + drawn.drawn };
  const request = requests().find(({ answered, suggestion }) => suggestion && answered <= row.shown);
  // what is shown without one is the rest of what was shown before
  if (!request) return { ...row, figures: {} };
  const known = () => (read(), tapped.figures.get(request.suggestion));
  const figures = await waited(known, told);
  // without the engine's share this is no row
  return figures && { ...row, asked: request.at, answered: request.answered, figures };
}

async function open(name, line, column) {
  await page.keyboard.press("Control+p");
  const input = page.locator(".quick-input-widget input").first();
  await input.fill(path.join(rig.ws, name));
  await page.locator(`.quick-input-list .monaco-list-row.focused[aria-label^="${path.basename(name)}"]`).waitFor();
  await page.keyboard.press("Enter");
  await page.locator(`.tab.active[data-resource-name="${path.basename(name)}"]`).waitFor();
  await page.locator(".editor-instance .monaco-editor").first().waitFor();
  await page.keyboard.press("Control+g");
  await input.fill(`:${line + 1}:${column + 1}`);
  await page.keyboard.press("Enter");
  await page.locator(".quick-input-widget").waitFor({ state: "hidden" });
  await page.locator("#status\\.editor\\.selection", { hasText: `Ln ${line + 1},` }).waitFor();
}

let count = 0;
/** Types an edit; what stands in the file in the end is what was to be typed. */
async function write({ path: place, before, after, parts }) {
  count += 1;
  const name = path.join(String(count), place);
  const full = path.join(rig.ws, name);
  fs.mkdirSync(path.dirname(full), { recursive: true });
  fs.writeFileSync(full, before + after);
  const at = (text) => {
    const lines = text.split("\n");
    return { line: lines.length - 1, before: lines.at(-1), after: after.split("\n")[0] };
  };
  const { line, before: indent } = at(before);
  await open(name, line, indent.length);
  let text = before;
  for (const part of parts) {
    if (ended) return;
    text = part === "\b" ? [...text].slice(0, -1).join("") : text + part;
    const row = await press(part, pathToFileURL(full).href, at(text), number === 0 ? first : longest);
    // the first starts the engine
    if (row && number > 1) say(row);
    await pause(gap);
  }
  await rig.saved(name, text + after);
  await page.keyboard.press("Control+F4");
}

try {
  await page.exposeFunction("keypressDrawn", (event) => {
    if (event.number === number) drawn = event;
  });
  await page.addInitScript(watch);
  await rig.show("begin.txt");
  await rig.ready();
  begin = await offset();
  for await (const line of edits) {
    if (ended) break;
    await write(JSON.parse(line));
    say({ written: count });
  }
} finally {
  await rig.stop();
}
