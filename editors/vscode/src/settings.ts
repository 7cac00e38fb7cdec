/** Reads the settings of the extension and those that are sent to the server. */

import * as vscode from "vscode";
import { explicitSettings, serverKeys, type Tables } from "./explicitSettings";
import { SECTION } from "./protocol";

/**
 * Settings for finding and starting the server. They have machine scope: a workspace cannot choose what is executed.
 */
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

  /** Return the settings that are sent to the server. */
  forServer(): Tables {
    const section = vscode.workspace.getConfiguration(SECTION);
    return explicitSettings(this.keys, (key) => section.inspect(key), vscode.workspace.isTrusted);
  }
}

/** Return whether a change concerns the start of the server; all other settings are sent to the running server. */
export function needsRestart(change: vscode.ConfigurationChangeEvent): boolean {
  return ["command", "environment"].some((key) => change.affectsConfiguration(`${SECTION}.server.${key}`));
}
