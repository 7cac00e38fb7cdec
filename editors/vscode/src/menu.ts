/** The menu behind the status-bar item: only what can be done now. */

import * as vscode from "vscode";
import type { Harness } from "./client";

interface Entry extends vscode.QuickPickItem {
  command: string;
}

export async function showMenu(harness: Harness): Promise<void> {
  const chosen = await vscode.window.showQuickPick(entries(harness), { title: "lsp-harness" });
  if (chosen) {
    await vscode.commands.executeCommand(chosen.command);
  }
}

function entries(harness: Harness): Entry[] {
  const { server, status } = harness.say;
  const paused = status?.paused ?? false;
  const found: Entry[] = [];
  const add = (icon: string, label: string, command: string, description = ""): void => {
    found.push({ label: `$(${icon}) ${label}`, command: `lsp-harness.${command}`, description });
  };
  if (server === "missing") {
    add("cloud-download", "Install the server…", "installServer");
  }
  if (harness.has("pause")) {
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
  if (harness.has("models")) {
    add("arrow-swap", "Switch model…", "switchModel", status?.model ?? "");
  }
  if (harness.has("models") && harness.has("pullModel")) {
    add("cloud-download", "Download a model…", "downloadModel");
  }
  if (harness.has("statistics")) {
    add("graph", "Statistics", "statistics");
  }
  add("output", "Show log", "showLog");
  if (harness.has("restartEngine")) {
    add("debug-restart", "Restart engine", "restartEngine", "the process that holds the model");
  }
  add("refresh", "Restart server", "restartServer");
  add("gear", "Settings", "openSettings");
  return found;
}
