/**
 * Tracks the suggestion on the screen, as well as an extension can: the last one that VS Code received for a document.
 */

import * as vscode from "vscode";
import type { Harness } from "./client";

type Completions = vscode.InlineCompletionItem[] | vscode.InlineCompletionList | null | undefined;

let last: { uri: string; version: number; position: vscode.Position; id: string } | undefined;

/**
 * Store the place of the completions and the id of the first item, which is an argument of its command. Return the
 * items.
 */
export function recordSuggestion(document: vscode.TextDocument, position: vscode.Position, completions: Completions): vscode.InlineCompletionItem[] {
  const items = Array.isArray(completions) ? completions : (completions?.items ?? []);
  const id: unknown = items[0]?.command?.arguments?.[1];
  last = typeof id === "string" ? { uri: document.uri.toString(), version: document.version, position, id } : undefined;
  return items;
}

/** Return whether a suggestion of ours is displayed for exactly this text and place. */
export function isDisplayed(document: vscode.TextDocument, position: vscode.Position): boolean {
  return last?.uri === document.uri.toString() && last.version === document.version && last.position.isEqual(position);
}

/**
 * Hide the ghost text, and tell the server if the suggestion was ours, so that it does not suggest it again at the
 * same place. VS Code does not report the Escape key to extensions, so Escape is bound to this command while ghost text
 * is visible.
 */
export async function dismiss(harness: Harness): Promise<void> {
  await vscode.commands.executeCommand("editor.action.inlineSuggest.hide");
  const dismissed = last;
  last = undefined;
  if (dismissed && dismissed.uri === vscode.window.activeTextEditor?.document.uri.toString() && harness.provides("dismissed")) {
    await harness.request("dismissed", dismissed.uri, dismissed.id).catch((error: unknown) => harness.log.debug(String(error)));
  }
}
