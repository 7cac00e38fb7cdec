/** Finds the Python environments of a workspace that the user trusts. */

import * as fs from "node:fs/promises";
import * as path from "node:path";
import * as vscode from "vscode";

/** The part of the API of Microsoft's Python extension that is used here. */
interface PythonExtension {
  environments: { getActiveEnvironmentPath(resource?: vscode.Uri): { path: string } };
}

/**
 * Return the folders of the environments, the selected one first. An untrusted workspace has none, because its
 * programs must not be run.
 */
export async function findEnvironments(): Promise<string[]> {
  if (!vscode.workspace.isTrusted) {
    return [];
  }
  const folders = vscode.workspace.workspaceFolders ?? [];
  const local = folders
    .filter((folder) => folder.uri.scheme === "file")
    .flatMap((folder) => [".venv", "venv"].map((name) => path.join(folder.uri.fsPath, name)));
  const active = process.env["VIRTUAL_ENV"];
  const interpreter = await selectedInterpreter(folders[0]?.uri);
  return [...(interpreter ? [environmentOf(interpreter)] : []), ...local, ...(active ? [active] : [])];
}

/** Return the interpreter that the user selected in Microsoft's Python extension, if that is installed. */
export async function selectedInterpreter(resource?: vscode.Uri): Promise<string | undefined> {
  const python = vscode.extensions.getExtension<PythonExtension>("ms-python.python");
  if (python === undefined) {
    return undefined;
  }
  try {
    const selected = (await python.activate()).environments.getActiveEnvironmentPath(resource).path;
    const isFolder = path.isAbsolute(selected) && (await fs.stat(selected)).isDirectory();
    return isFolder ? path.join(selected, process.platform === "win32" ? "python.exe" : "bin/python") : selected;
  } catch {
    // the other extension may fail to start or have another API; this extension works without it
    return undefined;
  }
}

/** Return the environment of an interpreter: `/x` for `/x/bin/python`. */
function environmentOf(interpreter: string): string {
  const folder = path.dirname(interpreter);
  return process.platform === "win32" && path.basename(folder).toLowerCase() !== "scripts"
    ? folder
    : path.dirname(folder);
}
