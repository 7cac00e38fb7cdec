// A language server that speaks lsp-harness's part of the protocol and has no model: what the extension makes of it is
// what contract.test.mjs looks at. All that it receives is a line of the file in STAND_IN_LOG.
import fs from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { agents } from "./stand-in-agents.mjs";

const EXTENSION = path.resolve(import.meta.dirname ?? path.dirname(new URL(import.meta.url).pathname), "../../../editors/vscode");
const require = createRequire(path.join(EXTENSION, "package.json"));
const { createMessageConnection, StreamMessageReader, StreamMessageWriter, ResponseError } = require("vscode-languageserver-protocol/node");

const VERDICT = "lsp-harness-verdict:/S/1.md";
const COMMANDS = "accepted applied fix status pause dismissed models pullModel restartEngine statistics instruct docstring tests explain context locate why";
const without = (process.env.STAND_IN_WITHOUT ?? "").split(" ");
const rpc = createMessageConnection(new StreamMessageReader(process.stdin), new StreamMessageWriter(process.stdout));
const foreign = agents(rpc);
const note = (method, params) => fs.appendFileSync(process.env.STAND_IN_LOG, `${JSON.stringify({ method, params })}\n`);
const on = (method, answer) => rpc.onRequest(method, async (params, token) => (note(method, params), answer(params, token)));
const hear = (method, act = () => {}) => rpc.onNotification(method, (params) => (note(method, params), act(params)));

const texts = new Map();
let trusted = true;
let engine = "ready";
let message = null;
const pauses = { here: false, everywhere: false };
const statistics = { shown: 7, accepted: 4, accepted_partly: 1, typed_through: 1, dismissed: 1, types_passed: 5, types_hidden: 2 };
const types = [{ checker: "ty", folder: "/work", state: "missing", reason: "ty is not installed (pip install ty)" }];
const models = [
  { name: "small", bytes: 2 ** 29, licence: "apache-2.0", present: true, current: true, kind: "completion" },
  { name: "large", bytes: 2 ** 32, licence: "mit", present: false, current: false, kind: "completion" },
  { name: "vectors", bytes: 2 ** 20, licence: "mit", present: true, current: false, kind: "embedding" },
];
const paused = () => (pauses.everywhere ? "everywhere" : pauses.here ? "here" : false);
const tellStatus = () =>
  rpc.sendNotification("lspHarness/status", {
    engine, message, trusted, statistics, types,
    model: models.find((model) => model.current).name,
    paused: paused(),
    last: { prompt_tokens: 135, evaluated: 3, reused: 132, generated: 18, ms: 104.4, types: "hidden", types_ms: 11.6, types_reason: "no member `joinn`" },
  });

on("initialize", (params) => {
  trusted = params.initializationOptions.trusted;
  const commands = [...COMMANDS.split(" "), ...foreign.names].filter((name) => !without.includes(name)).map((name) => `lspHarness.${name}`);
  return {
    capabilities: {
      textDocumentSync: { openClose: true, change: 1 },
      inlineCompletionProvider: {},
      codeActionProvider: { codeActionKinds: ["quickfix", "refactor.rewrite"], resolveProvider: true },
      executeCommandProvider: { commands },
      ...(without.includes("textDocumentContent") ? {} : { workspace: { textDocumentContent: { schemes: ["lsp-harness-verdict"] } } }),
    },
  };
});
hear("initialized", () => {
  rpc.sendRequest("client/registerCapability", {
    registrations: [{ id: "c", method: "workspace/didChangeConfiguration", registerOptions: { section: "lspHarness" } }],
  });
  tellStatus();
});
on("shutdown", () => null);
hear("exit", () => process.exit(0));
hear("workspace/didChangeConfiguration", ({ settings }) => {
  const wanted = settings.lspHarness.model?.path;
  for (const model of models) model.current = model.name === (wanted ?? "small");
  tellStatus();
});
hear("textDocument/didOpen", ({ textDocument: { uri, text } }) => look(uri, text));
hear("textDocument/didChange", ({ textDocument: { uri }, contentChanges }) => look(uri, contentChanges.at(-1).text));
hear("lspHarness/didMoveCursor");
hear("lspHarness/didFocus");
const bars = new Map();
hear("window/workDoneProgress/cancel", ({ token }) => bars.get(token)?.());

function look(uri, text) {
  texts.set(uri, text);
  const diagnostics = text.split("\n").flatMap((line, row) => {
    const at = line.indexOf("teh");
    const range = { start: { line: row, character: at }, end: { line: row, character: at + 3 } };
    const codeDescription = { href: VERDICT };
    return at < 0 ? [] : [{ range, message: "teh is no word", severity: 2, source: "lsp-harness", code: "T1", codeDescription }];
  });
  rpc.sendNotification("textDocument/publishDiagnostics", { uri, diagnostics });
}

/** Where a suggestion is displayed: who asks again there gets the alternatives, after `# late ` some time later, after `# never ` never. */
let displayed;
on("textDocument/inlineCompletion", async ({ textDocument: { uri }, position, context }, token) => {
  const text = texts.get(uri);
  const line = text.split("\n")[position.line].slice(0, position.character);
  if (!/# \w* ?$/.test(line)) return { items: [] };
  const isAsked = context.triggerKind === 1;
  const place = JSON.stringify([uri, text, position]);
  const wantsAll = isAsked && displayed === place;
  displayed = place;
  if (isAsked && line.endsWith("# slow ")) await bar("Completion by lsp-harness", () => new Promise((done) => token.onCancellationRequested(done)));
  if (wantsAll && line.endsWith("# late ")) await new Promise((done) => setTimeout(done, 700));
  if (wantsAll && line.endsWith("# never ")) {
    await new Promise((done) => token.onCancellationRequested(done));
    note("alternatives were given up", {});
  }
  const items = ["first", "second", "third"].map((insertText) => ({
    insertText,
    range: { start: position, end: position },
    command: { title: "Accepted", command: "lspHarness.accepted", arguments: [uri, `s-${insertText}`] },
  }));
  return { items: wantsAll ? items : items.slice(0, 1) };
});

let asked = () => {};
/** VS Code asks for the actions again because of the same diagnostics. */
const again = () => new Promise((done) => {
  asked = done;
  texts.forEach((text, uri) => look(uri, text));
});
on("textDocument/codeAction", (params) => (setImmediate(asked), actions(params)));
const actions = ({ textDocument: { uri }, range, context }) => [
  ...context.diagnostics.filter(({ source }) => source === "lsp-harness").flatMap((diagnostic) => [
    { title: "Fix with lsp-harness: teh", kind: "quickfix", diagnostics: [diagnostic], data: { uri, range: diagnostic.range } },
    {
      title: "Why lsp-harness says this",
      kind: "quickfix",
      command: { title: "Why", command: "lspHarness.why", arguments: [VERDICT] },
    },
  ]),
  ...(range.start.line === range.end.line && range.start.character === range.end.character
    ? []
    : [{
        title: "Edit with lsp-harness…",
        kind: "refactor.rewrite",
        command: { title: "Edit", command: "lspHarness.askInstruction", arguments: [{ uri, range }] },
      }]),
];
on("codeAction/resolve", async (action) => {
  if (!action.data) {
    // once more, so that the first answer has arrived for certain
    await again();
    await again();
    return action;
  }
  if (texts.get(action.data.uri).includes("HARD")) throw new ResponseError(-32803, "no candidate passed: tests ✗");
  if (texts.get(action.data.uri).includes("SLOW")) await bar("Fix with lsp-harness", () => new Promise(() => {}));
  return { ...action, edit: confirmed(action.data.uri, action.data.range, "the") };
});

const confirmed = (uri, range, newText) => ({
  changeAnnotations: { model: { label: "lsp-harness: parse ✓, kept ✓, lint ✓, gone ✓", needsConfirmation: true } },
  documentChanges: [{ textDocument: { uri, version: null }, edits: [{ range, newText, annotationId: "model" }] }],
});

/** Work behind a bar that can be cancelled. */
async function bar(title, work) {
  const token = `bar-${bars.size}`;
  await rpc.sendRequest("window/workDoneProgress/create", { token });
  const progress = (value) => rpc.sendNotification("$/progress", { token, value });
  progress({ kind: "begin", title, cancellable: true, percentage: 0, message: "begun" });
  const cancelled = new Promise((_done, failed) => bars.set(token, () => failed(new ResponseError(-32800, "cancelled"))));
  try {
    return await Promise.race([cancelled, work((percentage) => progress({ kind: "report", percentage, message: `${percentage} %` }))]);
  } finally {
    progress({ kind: "end" });
  }
}

on("workspace/textDocumentContent", () => ({ text: "# Verdict\n\nteh is **no word**, says the stand-in.\n" }));
on("workspace/executeCommand", async ({ command, arguments: [first, second] = [] }) => {
  if (command.startsWith("lspHarness.runtime.")) {
    try {
      return await foreign.run(command.replace("lspHarness.runtime.", ""), first);
    } catch (error) {
      throw new ResponseError(-32803, error.message, error.data);
    }
  }
  switch (command.replace("lspHarness.", "")) {
    case "pause":
      // taking one back ends both
      Object.assign(pauses, second ? { [first]: true } : { here: false, everywhere: false });
      tellStatus();
      return { paused: paused() };
    case "models":
      return models;
    case "pullModel": {
      const model = models.find(({ name }) => name === first);
      // the first time it never ends by itself, the second time at once
      const again = fs.readFileSync(process.env.STAND_IN_LOG, "utf8").split('"lspHarness.pullModel"').length > 2;
      await bar(`Downloading ${first}`, (report) => (report(40), again ? Promise.resolve() : new Promise(() => {})));
      model.present = true;
      return { name: first, path: "/models/large.gguf" };
    }
    case "dismissed":
      displayed = undefined;
      return null;
    case "restartEngine":
      engine = "failed";
      message = "there is no memory for `large`";
      tellStatus();
      throw new ResponseError(-32803, "the engine does not start: there is no memory");
    case "statistics":
      return { ...statistics, survived: 3, since: "2026-01-02" };
    case "instruct": {
      if (first.instruction === "impossible") {
        return { applied: false, summary: "no candidate passed", failureReason: "no candidate passed: lint ✗", verdict: VERDICT };
      }
      const { applied } = await rpc.sendRequest("workspace/applyEdit", { label: "Edit", edit: confirmed(first.uri, first.range, first.instruction) });
      return { applied, summary: null, failureReason: null, verdict: VERDICT };
    }
    case "explain":
      return { text: `It is about **${texts.get(first.uri).split("\n")[first.range.start.line]}**.` };
    case "context":
      return { text: `# Completion\n\nline ${first.range.end.line + 1}\n` };
    case "locate": {
      if (first.task === "zebra") throw new ResponseError(-32803, "nothing here has to do with that; name a function");
      const site = (symbol, line, reasons) => ({
        uri: first.uri.replace(/[^/]*$/, "edit.py"), path: "edit.py", symbol, kind: "variable", reasons,
        range: { start: { line, character: 0 }, end: { line, character: 5 } }, signature: `${symbol || "x"} = ${line + 1}`,
      });
      return { by: "model", chosen: 1, candidates: [site("", 0, ["words 1"]), site("b", 1, ["words 2", "meaning 1"])] };
    }
    case "why":
      return { text: "# Verdict\n\nasked by command\n" };
  }
  return null;
});
rpc.listen();
