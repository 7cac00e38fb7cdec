/** Finds the program of the server. */

import * as fs from "node:fs/promises";
import * as os from "node:os";
import * as vscode from "vscode";
import { findEnvironments } from "./environments";
import { type ServerCandidate, serverCandidates } from "./serverCandidates";
import { serverSettings } from "./settings";

/** Return the folder of the Python environment that this extension creates when the user asks for it. */
export function managedFolder(context: vscode.ExtensionContext): string {
  return vscode.Uri.joinPath(context.globalStorageUri, "server").fsPath;
}

/** Return the first candidate that exists, or undefined. A configured command is returned without a check. */
export async function findServer(context: vscode.ExtensionContext): Promise<ServerCandidate | undefined> {
  const { command } = serverSettings();
  const candidates = serverCandidates({
    configured: command,
    environments: command.length > 0 ? [] : await findEnvironments(),
    path: process.env["PATH"] ?? "",
    home: os.homedir(),
    managed: managedFolder(context),
    platform: process.platform,
  });
  if (command.length > 0) {
    // if it does not exist, the error at its start says so best
    return candidates[0];
  }
  for (const candidate of candidates) {
    if (await isExecutable(candidate.program)) {
      return candidate;
    }
  }
  return undefined;
}

async function isExecutable(file: string): Promise<boolean> {
  try {
    await fs.access(file, fs.constants.X_OK);
    return (await fs.stat(file)).isFile();
  } catch {
    return false;
  }
}
