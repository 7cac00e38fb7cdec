/** Shows the results of the server's commands, whether a code action or this extension executed them. */

import * as vscode from "vscode";
import { showAnswer, showVerdict } from "./pages";
import { Command, type Answer, type Edited } from "./protocol";

export async function showCommandResult(command: string, args: readonly unknown[], result: unknown): Promise<void> {
  switch (command) {
    case Command.why:
      return showVerdict(String(args[0]));
    case Command.explain:
      return showAnswer("Explanation", (result as Answer | null)?.text ?? "");
    case Command.context:
      return showAnswer("Context", (result as Answer | null)?.text ?? "");
    case Command.instruct:
    case Command.docstring:
    case Command.tests:
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
