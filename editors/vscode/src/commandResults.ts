/** Shows the results of the server's commands, whether a code action or this extension executed them. */

import * as vscode from "vscode";
import { showAnswer, showVerdict } from "./pages";
import type { Answer, Edited } from "./protocol";
import { Command, type ForwardedCommands } from "./serverCommands";

export async function showCommandResult(
  command: string,
  args: readonly unknown[],
  result: unknown,
  forwardedCommands: ForwardedCommands,
): Promise<void> {
  if (command === Command.why) {
    return showVerdict(String(args[0]));
  }
  const forwarded = Object.values(forwardedCommands).find((candidate) => candidate.command === command);
  if (forwarded?.handler === "text") {
    return showAnswer(forwarded.resultTitle, (result as Answer | null)?.text ?? "");
  }
  if (forwarded?.handler === "edit" || command === Command.instruct) {
    return showFailedEdit((result ?? { applied: true }) as Edited);
  }
}

/** Show why an edit was not applied. An applied edit needs no message because the user sees it in the text. */
async function showFailedEdit(edited: Edited): Promise<void> {
  if (edited.applied) {
    return;
  }
  const reason = edited.failureReason ?? edited.summary;
  if (!reason) {
    // the user discarded the edit in the preview
    return;
  }
  const whyButton = "Why";
  const button = await vscode.window.showWarningMessage(`lsp-harness: ${reason}`, ...(edited.verdict ? [whyButton] : []));
  if (button === whyButton && edited.verdict) {
    await showVerdict(edited.verdict);
  }
}
