/** Installs the server into a Python environment of this extension, if the user asks for it. */

import * as fs from "node:fs/promises";
import * as path from "node:path";
import * as vscode from "vscode";
import type { Harness } from "./client";
import { selectedInterpreter } from "./environments";
import { run } from "./process";
import { withExtras } from "./requirement";
import { managedFolder } from "./server";
import { scriptsFolder } from "./serverCandidates";
import { serverSettings } from "./settings";

const VERSION_CHECK = "import sys; sys.exit(sys.version_info < (3, 11) and 'Python 3.11 or newer is needed')";
const LOG_BUTTON = "Show Log";

export async function installServer(context: vscode.ExtensionContext, harness: Harness): Promise<void> {
  if (!vscode.workspace.isTrusted) {
    void vscode.window.showWarningMessage("lsp-harness: trust this workspace first, or install in another window.");
    return;
  }
  const requirement = withExtras(serverSettings().requirement);
  const python = await findInterpreter();
  const folder = managedFolder(context);
  const existed = await exists(folder);
  const button = await vscode.window.showInformationMessage(
    `Install ${requirement} with ${python}?`,
    {
      modal: true,
      detail: `pip installs it and its dependencies only into\n${folder}\nIf llama.cpp is not on this machine, it is downloaded (10 MiB).`,
    },
    "Install",
  );
  if (button === undefined) {
    return;
  }
  const location = vscode.ProgressLocation.Notification;
  const title = "Installing the lsp-harness server";
  await vscode.window.withProgress({ location, title, cancellable: true }, async (progress, token) => {
    const report = (line: string): void => {
      harness.log.info(line);
      progress.report({ message: line.slice(0, 80) });
    };
    try {
      await install(python, folder, requirement, token, report);
    } catch (error) {
      if (!existed) {
        // an incomplete environment would be used at the next start
        await fs.rm(folder, { recursive: true, force: true });
      }
      if (!token.isCancellationRequested) {
        reportFailure(harness, error);
      }
      return;
    }
    try {
      await fetchLibrary(folder, token, report);
    } catch (error) {
      // the server works without it, and says itself what is missing
      harness.log.warn(`the library of llama.cpp was not fetched: ${error instanceof Error ? error.message : String(error)}`);
    }
    await harness.restart();
  });
}

async function install(
  python: string,
  folder: string,
  requirement: string,
  token: vscode.CancellationToken,
  report: (line: string) => void,
): Promise<void> {
  await run(python, ["-c", VERSION_CHECK], token, report);
  await fs.mkdir(path.dirname(folder), { recursive: true });
  await run(python, ["-m", "venv", folder], token, report);
  const environmentPython = path.join(scriptsFolder(folder, process.platform), process.platform === "win32" ? "python.exe" : "python");
  const options = ["--disable-pip-version-check", "--no-input", "--progress-bar", "off", "--upgrade"];
  await run(environmentPython, ["-m", "pip", "install", ...options, requirement], token, report);
}

/** Download the prebuilt library of llama.cpp for this machine, if the engine has none. */
async function fetchLibrary(folder: string, token: vscode.CancellationToken, report: (line: string) => void): Promise<void> {
  const name = process.platform === "win32" ? "lsp-harness.exe" : "lsp-harness";
  const program = path.join(scriptsFolder(folder, process.platform), name);
  const { environment } = serverSettings();
  const lines: string[] = [];
  const subject = ["engine", "libraries"];
  await run(program, [...subject, "list", "--json"], token, (line) => lines.push(line), environment);
  // warnings may stand before it
  const answer = lines.join("\n");
  const { used } = JSON.parse(answer.slice(answer.indexOf("{\n"))) as { used: object | null };
  if (used === null) {
    report("downloading llama.cpp");
    await run(program, [...subject, "use", "--quiet"], token, report, environment);
  }
}

/** Show an error. It does not wait for the user, because the progress notification ends with the installation. */
function reportFailure(harness: Harness, error: unknown): void {
  const reason = error instanceof Error ? error.message : String(error);
  harness.log.error(`the installation failed: ${reason}`);
  void vscode.window.showErrorMessage(`lsp-harness: the installation failed: ${reason}`, LOG_BUTTON).then((button) => {
    if (button === LOG_BUTTON) {
      harness.log.show();
    }
  });
}

async function findInterpreter(): Promise<string> {
  const defaultName = process.platform === "win32" ? "python" : "python3";
  return serverSettings().python || (await selectedInterpreter(vscode.workspace.workspaceFolders?.[0]?.uri)) || defaultName;
}

async function exists(folder: string): Promise<boolean> {
  return fs.access(folder).then(
    () => true,
    () => false,
  );
}
