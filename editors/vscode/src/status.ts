/** The item in the status bar: what the server and its engine are doing, and the way to the menu. */

import * as vscode from "vscode";
import type { Harness } from "./client";
import { present, type Shown } from "./present";

const BACKGROUND: Record<Shown["level"], string | undefined> = {
  plain: undefined,
  warning: "statusBarItem.warningBackground",
  error: "statusBarItem.errorBackground",
};

export function registerStatus(harness: Harness): vscode.Disposable {
  const item = vscode.window.createStatusBarItem("lsp-harness.status", vscode.StatusBarAlignment.Right, 100);
  item.name = "lsp-harness";
  item.command = "lsp-harness.menu";
  const show = (): void => {
    const { text, tooltip, level } = present(harness.say);
    item.text = text;
    item.tooltip = new vscode.MarkdownString(tooltip);
    const background = BACKGROUND[level];
    item.backgroundColor = background === undefined ? undefined : new vscode.ThemeColor(background);
  };
  show();
  item.show();
  return vscode.Disposable.from(item, harness.onChange(show));
}
