/** The item in the status bar. It shows the state of the server and its engine, and opens the menu. */

import * as vscode from "vscode";
import type { Harness } from "./client";
import { statusText, type StatusText } from "./statusText";

const BACKGROUND: Record<StatusText["level"], string | undefined> = {
  plain: undefined,
  warning: "statusBarItem.warningBackground",
  error: "statusBarItem.errorBackground",
};

export function registerStatus(harness: Harness): vscode.Disposable {
  const item = vscode.window.createStatusBarItem("lsp-harness.status", vscode.StatusBarAlignment.Right, 100);
  item.name = "lsp-harness";
  item.command = "lsp-harness.menu";
  const update = (): void => {
    const { text, tooltip, level } = statusText(harness.state);
    item.text = text;
    item.tooltip = new vscode.MarkdownString(tooltip);
    const background = BACKGROUND[level];
    item.backgroundColor = background === undefined ? undefined : new vscode.ThemeColor(background);
  };
  update();
  item.show();
  return vscode.Disposable.from(item, harness.onChange(update));
}
