// Starts `lsp-harness api` with a home of its own and a browser, and leaves nothing behind.
import { spawn } from "node:child_process";
import fs from "node:fs";
import { createRequire } from "node:module";
import os from "node:os";
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";

export const HERE = import.meta.dirname ?? path.dirname(new URL(import.meta.url).pathname);
export const ROOT = path.resolve(HERE, "../../..");
export const PYTHON = path.resolve(process.env.PYTHON ?? path.join(ROOT, ".venv/bin/python"));
export const IMAGES = path.join(ROOT, "docs/images");
const CHROMIUM = process.env.CHROMIUM ?? "/usr/bin/chromium";
const FAKE_CLI = path.join(ROOT, "tests/runtime/fake_cli.py");
const DRIVER = path.resolve(HERE, "../vscode/rig.mjs");
const XTERM = path.join(ROOT, "lsp_harness/api/page/vendor/xterm.mjs");
/** How long a slow machine may take for anything, in milliseconds; not how long it takes. */
export const PATIENCE = 60_000;

/** Returns why these tests cannot run here, or undefined. */
export function whatIsMissing() {
  for (const needed of [PYTHON, CHROMIUM, XTERM]) if (!fs.existsSync(needed)) return `${needed} is missing; .ci/editors.sh installs what these tests need`;
  try {
    driver();
  } catch {
    return "playwright-core is missing; .ci/editors.sh installs it";
  }
  return undefined;
}

// playwright-core is installed once, for the tests in VS Code
const driver = () => createRequire(DRIVER)("playwright-core");

/** Asks until there is something. */
export async function until(ask, what, ms = PATIENCE) {
  for (const end = Date.now() + ms; ; await pause(40)) {
    const found = await ask();
    if (found) return found;
    if (Date.now() > end) throw new Error(`timed out: ${what}`);
  }
}

/** Returns the reply of a model that calls a tool. */
export const toolCall = (name, input) => ({ text: `<tool_call>\n${JSON.stringify({ name, arguments: input })}\n</tool_call>` });

/** Returns the lines of the log of a session with events [type, data, turn]. */
function logLines(session, events, first = 0) {
  const lines = events.map(([type, data = {}, turn = 0], index) => {
    const seq = first + index;
    return JSON.stringify({ v: 1, id: `${session.slice(0, 18)}${String(seq).padStart(8, "0")}`, seq, ts: new Date(1_795_000_000_000 + seq * 50).toISOString(), session_id: session, turn, step: null, cause: null, type, data });
  });
  return `${lines.join("\n")}\n`;
}

/**
 * Starts a server whose model plays `replies`, for a folder with `files` and saved `sessions`. `page` of the result is the inspector in a
 * browser that can reach nothing but this machine.
 */
export async function startInspector({ files = {}, replies = [], permissions = "", sessions = {} }) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "lhi-"));
  const home = path.join(folder, "home");
  const project = path.join(folder, "project");
  for (const each of [home, project]) fs.mkdirSync(each, { mode: 0o700 });
  for (const [name, text] of Object.entries(files)) fs.writeFileSync(path.join(project, name), text);
  fs.writeFileSync(path.join(home, "script.json"), JSON.stringify(replies));
  for (const [id, events] of Object.entries(sessions)) {
    const log = path.join(home, "sessions", id);
    fs.mkdirSync(log, { recursive: true, mode: 0o700 });
    fs.writeFileSync(path.join(log, "events.jsonl"), logLines(id, events), { mode: 0o600 });
  }
  fs.writeFileSync(
    path.join(home, "config.toml"),
    `${permissions}\n[runtime.agents.fake]\ncommand = ${JSON.stringify(PYTHON)}\nargs = [${JSON.stringify(FAKE_CLI)}, "--reports", "always"]\n`,
  );
  const env = { ...process.env, LSP_HARNESS_HOME: home, LSP_HARNESS_ENGINE__SCRIPT: path.join(home, "script.json"), PYTHONPATH: ROOT, HOME: folder };
  const log = fs.openSync(path.join(folder, "api.log"), "w");
  const server = spawn(PYTHON, ["-m", "lsp_harness", "api", "--port", "0", "--root", project], { cwd: project, env, stdio: ["ignore", "pipe", log] });
  let printed = "";
  server.stdout.setEncoding("utf8").on("data", (text) => (printed += text));
  const rig = { folder, home, project, visited: [], problems: [] };
  let browser;
  rig.stop = async () => {
    await browser?.close().catch(() => undefined);
    if (server.exitCode === null && server.signalCode === null) {
      const exit = new Promise((done) => server.once("exit", done));
      server.kill("SIGTERM");
      await exit;
    }
    fs.closeSync(log);
    fs.rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
  };
  try {
    const curl = await until(() => {
      if (server.exitCode !== null) throw new Error(`the server ended: ${fs.readFileSync(path.join(folder, "api.log"), "utf8")}`);
      return /CURL_HOME=(\S+)/u.exec(printed);
    }, "the server");
    rig.url = /listens on (\S+)/u.exec(printed)[1];
    const token = fs.readFileSync(path.join(curl[1], "api-token"), "utf8").trim();
    /** Asks the API as a program of the user does. */
    rig.api = async (method, address, body) => {
      const answer = await fetch(`${rig.url}/${address}`, { method, headers: { authorization: `Bearer ${token}`, "content-type": "application/json" }, body: body && JSON.stringify(body) });
      const text = await answer.text();
      if (!answer.ok) throw new Error(`${method} ${address}: ${answer.status} ${text}`);
      return text === "" ? null : JSON.parse(text);
    };
    // every name but this machine is unknown to the browser, as with the network off
    browser = await driver().chromium.launch({
      executablePath: CHROMIUM,
      args: ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-sync", "--disable-background-networking", "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"],
    });
    rig.context = await browser.newContext({ viewport: { width: 1280, height: 800 }, colorScheme: "light" });
    rig.page = await rig.context.newPage();
    rig.page.setDefaultTimeout(PATIENCE);
    rig.page.on("request", (request) => rig.visited.push(request.url()));
    rig.page.on("console", (message) => ["error", "warning"].includes(message.type()) && rig.problems.push(`${message.text()} ${message.location().url}`));
    rig.page.on("pageerror", (error) => rig.problems.push(error.stack ?? error.message));
    /** Opens the page with a new link, as the user does who clicks on the one that the server prints. */
    rig.login = async () => {
      const { url } = await rig.api("POST", "login-links", {});
      await rig.page.goto(url);
      await rig.page.locator(".connection-live").waitFor();
    };
    /** Appends an event to the log of a session, as another process does that has the session open. */
    rig.append = (id, seq, event) => fs.appendFileSync(path.join(home, "sessions", id, "events.jsonl"), logLines(id, [event], seq));
    rig.writeArtifact = (session, id, text) => {
      const artifacts = path.join(home, "sessions", session, "artifacts");
      fs.mkdirSync(artifacts, { recursive: true, mode: 0o700 });
      fs.writeFileSync(path.join(artifacts, id), text, { mode: 0o600 });
    };
    rig.picture = async (name) => {
      if (process.env.PICTURES) await rig.page.screenshot({ path: path.join(IMAGES, `inspector-${name}.png`) });
    };
    return rig;
  } catch (error) {
    await rig.stop();
    throw error;
  }
}
