/** Settings: the extension's own, and those that are passed on to the server. */

import * as vscode from "vscode";
import { explicit, serverKeys, type Tables } from "./explicit";
import { SECTION } from "./protocol";

/** How the server is found and started. All of machine scope: a workspace cannot choose what is executed. */
export interface ServerSettings {
  command: string[];
  environment: Record<string, string>;
  python: string;
  requirement: string;
}

export function serverSettings(): ServerSettings {
  const section = vscode.workspace.getConfiguration(`${SECTION}.server`);
  return {
    command: section.get<string[]>("command", []),
    environment: section.get<Record<string, string>>("environment", {}),
    python: section.get<string>("python", ""),
    requirement: section.get<string>("requirement", "") || "lsp-harness",
  };
}

export class Settings {
  private readonly keys: string[];

  constructor(packageJson: { contributes: { configuration: { properties: Record<string, unknown> }[] } }) {
    const properties = packageJson.contributes.configuration.flatMap((group) => Object.keys(group.properties));
    this.keys = serverKeys(properties, SECTION);
  }

  /** What the server is told. */
  forServer(): Tables {
    const section = vscode.workspace.getConfiguration(SECTION);
    return explicit(this.keys, (key) => section.inspect(key), vscode.workspace.isTrusted);
  }
}

/** Whether a change concerns how the server is started, rather than what it is told. */
export function needsRestart(change: vscode.ConfigurationChangeEvent): boolean {
  return ["command", "environment"].some((key) => change.affectsConfiguration(`${SECTION}.server.${key}`));
}
