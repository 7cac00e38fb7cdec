/**
 * Tracks the suggestion on the screen, as well as an extension can: the last one that VS Code received for a document.
 */

import * as vscode from "vscode";
import type { Harness } from "./client";

type Completions = vscode.InlineCompletionItem[] | vscode.InlineCompletionList | null | undefined;

let last: { uri: string; id: string } | undefined;

/** Store the id of the first item, which is an argument of its command. Return the completions unchanged. */
export function recordSuggestion(document: vscode.TextDocument, completions: Completions): Completions {
  const items = Array.isArray(completions) ? completions : (completions?.items ?? []);
  const id: unknown = items[0]?.command?.arguments?.[1];
  last = typeof id === "string" ? { uri: document.uri.toString(), id } : undefined;
  return completions;
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
