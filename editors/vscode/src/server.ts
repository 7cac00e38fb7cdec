/** Finding the server's program. */

import * as fs from "node:fs/promises";
import * as os from "node:os";
import * as vscode from "vscode";
import { environments } from "./environments";
import { places, type Place } from "./places";
import { serverSettings } from "./settings";

/** The folder of the environment that this extension makes when it is asked to. */
export function managedFolder(context: vscode.ExtensionContext): string {
  return vscode.Uri.joinPath(context.globalStorageUri, "server").fsPath;
}

/** The first place that has a server; undefined where none has. What is configured is taken as it is. */
export async function findServer(context: vscode.ExtensionContext): Promise<Place | undefined> {
  const { command } = serverSettings();
  const candidates = places({
    configured: command,
    environments: command.length > 0 ? [] : await environments(),
    path: process.env["PATH"] ?? "",
    home: os.homedir(),
    managed: managedFolder(context),
    platform: process.platform,
  });
  if (command.length > 0) {
    // if it is not there, starting it says so better than anybody
    return candidates[0];
  }
  for (const place of candidates) {
    if (await executable(place.program)) {
      return place;
    }
  }
  return undefined;
}

async function executable(file: string): Promise<boolean> {
  try {
    await fs.access(file, fs.constants.X_OK);
    return (await fs.stat(file)).isFile();
  } catch {
    return false;
  }
}
