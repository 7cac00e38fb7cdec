/** The suggestion on the screen, as far as an extension can know: the last that was given to VS Code for a document. */

import * as vscode from "vscode";
import type { Harness } from "./client";

type Given = vscode.InlineCompletionItem[] | vscode.InlineCompletionList | null | undefined;

let last: { uri: string; id: string } | undefined;

/** Keeps the first item's id, which travels in the arguments of its command. */
export function remember(document: vscode.TextDocument, given: Given): Given {
  const items = Array.isArray(given) ? given : (given?.items ?? []);
  const id: unknown = items[0]?.command?.arguments?.[1];
  last = typeof id === "string" ? { uri: document.uri.toString(), id } : undefined;
  return given;
}

/**
 * Takes ghost text off the screen, and tells the server if it was ours, so that it does not come back at the same
 * place. VS Code tells an extension nothing of the Escape key, so it is bound to this command while ghost text is shown.
 */
export async function dismiss(harness: Harness): Promise<void> {
  await vscode.commands.executeCommand("editor.action.inlineSuggest.hide");
  const shown = last;
  last = undefined;
  if (shown && shown.uri === vscode.window.activeTextEditor?.document.uri.toString() && harness.has("dismissed")) {
    await harness.ask("dismissed", shown.uri, shown.id).catch((error: unknown) => harness.log.debug(String(error)));
  }
}
