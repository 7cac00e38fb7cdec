/** The Python environments of a workspace that the user trusts. */

import * as fs from "node:fs/promises";
import * as path from "node:path";
import * as vscode from "vscode";

/** As much as is used of the interface of Microsoft's Python extension. */
interface PythonExtension {
  environments: { getActiveEnvironmentPath(resource?: vscode.Uri): { path: string } };
}

/** Folders, the chosen one first. Nothing where the workspace is not trusted: its programs must not be run. */
export async function environments(): Promise<string[]> {
  if (!vscode.workspace.isTrusted) {
    return [];
  }
  const folders = vscode.workspace.workspaceFolders ?? [];
  const local = folders
    .filter((folder) => folder.uri.scheme === "file")
    .flatMap((folder) => [".venv", "venv"].map((name) => path.join(folder.uri.fsPath, name)));
  const active = process.env["VIRTUAL_ENV"];
  const chosen = await chosenInterpreter(folders[0]?.uri);
  return [...(chosen ? [environmentOf(chosen)] : []), ...local, ...(active ? [active] : [])];
}

/** What the user chose in Microsoft's Python extension, where that is installed. */
export async function chosenInterpreter(resource?: vscode.Uri): Promise<string | undefined> {
  const python = vscode.extensions.getExtension<PythonExtension>("ms-python.python");
  if (python === undefined) {
    return undefined;
  }
  try {
    const found = (await python.activate()).environments.getActiveEnvironmentPath(resource).path;
    const isFolder = path.isAbsolute(found) && (await fs.stat(found)).isDirectory();
    return isFolder ? path.join(found, process.platform === "win32" ? "python.exe" : "bin/python") : found;
  } catch {
    // another extension that does not start, or is of another time, is no reason for this one not to
    return undefined;
  }
}

/** The folder an interpreter belongs to: `/x/bin/python` is `/x`'s. */
function environmentOf(interpreter: string): string {
  const folder = path.dirname(interpreter);
  return process.platform === "win32" && path.basename(folder).toLowerCase() !== "scripts"
    ? folder
    : path.dirname(folder);
}
