/** Installing the server into a Python environment of this extension's own. Only when the user asks for it. */

import * as fs from "node:fs/promises";
import * as path from "node:path";
import * as vscode from "vscode";
import type { Harness } from "./client";
import { chosenInterpreter } from "./environments";
import { scripts } from "./places";
import { run } from "./process";
import { managedFolder } from "./server";
import { serverSettings } from "./settings";

const NEEDS = "import sys; sys.exit(sys.version_info < (3, 11) and 'Python 3.11 or newer is needed')";
const LOG = "Show Log";

export async function installServer(context: vscode.ExtensionContext, harness: Harness): Promise<void> {
  if (!vscode.workspace.isTrusted) {
    void vscode.window.showWarningMessage("lsp-harness: trust this workspace first, or install in another window.");
    return;
  }
  const { requirement } = serverSettings();
  const python = await interpreter();
  const folder = managedFolder(context);
  const known = await exists(folder);
  const sure = await vscode.window.showInformationMessage(
    `Install ${requirement} with ${python}?`,
    { modal: true, detail: `pip installs it, and what it needs, into\n${folder}\nand nowhere else.` },
    "Install",
  );
  if (sure === undefined) {
    return;
  }
  const location = vscode.ProgressLocation.Notification;
  const title = "Installing the lsp-harness server";
  await vscode.window.withProgress({ location, title, cancellable: true }, async (progress, token) => {
    const say = (line: string): void => {
      harness.log.info(line);
      progress.report({ message: line.slice(0, 80) });
    };
    try {
      await install(python, folder, requirement, token, say);
    } catch (error) {
      if (!known) {
        // half an environment would be taken for one
        await fs.rm(folder, { recursive: true, force: true });
      }
      if (!token.isCancellationRequested) {
        await failed(harness, error);
      }
      return;
    }
    await harness.restart();
  });
}

async function install(
  python: string,
  folder: string,
  requirement: string,
  token: vscode.CancellationToken,
  say: (line: string) => void,
): Promise<void> {
  await run(python, ["-c", NEEDS], token, say);
  await fs.mkdir(path.dirname(folder), { recursive: true });
  await run(python, ["-m", "venv", folder], token, say);
  const own = path.join(scripts(folder, process.platform), process.platform === "win32" ? "python.exe" : "python");
  const options = ["--disable-pip-version-check", "--no-input", "--progress-bar", "off", "--upgrade"];
  await run(own, ["-m", "pip", "install", ...options, requirement], token, say);
}

/** Not awaited by the progress: that has ended. */
async function failed(harness: Harness, error: unknown): Promise<void> {
  const why = error instanceof Error ? error.message : String(error);
  harness.log.error(`the installation failed: ${why}`);
  void vscode.window.showErrorMessage(`lsp-harness: the installation failed: ${why}`, LOG).then((chosen) => {
    if (chosen === LOG) {
      harness.log.show();
    }
  });
}

async function interpreter(): Promise<string> {
  const usual = process.platform === "win32" ? "python" : "python3";
  return serverSettings().python || (await chosenInterpreter(vscode.workspace.workspaceFolders?.[0]?.uri)) || usual;
}

async function exists(folder: string): Promise<boolean> {
  return fs.access(folder).then(
    () => true,
    () => false,
  );
}
