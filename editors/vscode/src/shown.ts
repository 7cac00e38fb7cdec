/** What a server's command answers, where a person should see it; whoever executed it, a code action or we. */

import * as vscode from "vscode";
import { Command, type Answer, type Edited } from "./protocol";
import { showAnswer, showVerdict } from "./verdict";

export async function shownResult(command: string, args: readonly unknown[], result: unknown): Promise<void> {
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
      return showOutcome((result ?? { applied: true }) as Edited);
  }
}

/** Nothing where the edit is in the text: the text is what there is to see. */
async function showOutcome(edited: Edited): Promise<void> {
  if (edited.applied) {
    return;
  }
  const why = edited.failureReason ?? edited.summary;
  if (!why) {
    // the person said no in the preview, and knows
    return;
  }
  const look = "Why";
  const chosen = await vscode.window.showWarningMessage(`lsp-harness: ${why}`, ...(edited.verdict ? [look] : []));
  if (chosen === look && edited.verdict) {
    await showVerdict(edited.verdict);
  }
}
