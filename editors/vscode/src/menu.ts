/** The menu of the status-bar item. It has only the entries that are possible now. */

import * as vscode from "vscode";
import type { Harness } from "./client";

interface Entry extends vscode.QuickPickItem {
  command: string;
}

export async function showMenu(harness: Harness): Promise<void> {
  const entry = await vscode.window.showQuickPick(entries(harness), { title: "lsp-harness" });
  if (entry) {
    await vscode.commands.executeCommand(entry.command);
  }
}

function entries(harness: Harness): Entry[] {
  const { server, status } = harness.state;
  const paused = status?.paused ?? false;
  const result: Entry[] = [];
  const add = (icon: string, label: string, command: string, description = ""): void => {
    result.push({ label: `$(${icon}) ${label}`, command: `lsp-harness.${command}`, description });
  };
  if (server === "missing") {
    add("cloud-download", "Install the server…", "installServer");
  }
  if (harness.provides("pause")) {
    if (paused !== false) {
      add("debug-start", "Resume suggestions", "resume", paused === "here" ? "paused here" : "paused everywhere");
    }
    if (paused === false) {
      add("debug-pause", "Pause suggestions here", "pauseHere", "this window");
    }
    if (paused !== "everywhere") {
      add("debug-pause", "Pause suggestions everywhere", "pauseEverywhere", "all windows of this user");
    }
  }
  if (harness.provides("models")) {
    add("arrow-swap", "Switch model…", "switchModel", status?.model ?? "");
  }
  if (harness.provides("models") && harness.provides("pullModel")) {
    add("cloud-download", "Download a model…", "downloadModel");
  }
  if (harness.provides("statistics")) {
    add("graph", "Statistics", "statistics");
  }
  add("output", "Show log", "showLog");
  if (harness.provides("restartEngine")) {
    add("debug-restart", "Restart engine", "restartEngine", "the process that holds the model");
  }
  add("refresh", "Restart server", "restartServer");
  add("gear", "Settings", "openSettings");
  return result;
}
