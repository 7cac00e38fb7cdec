/** Runs a prompt as a turn of a conversation, and shows the answer. The server shows the steps as progress. */

import * as vscode from "vscode";
import type { Harness } from "./client";
import { showAnswer } from "./pages";
import type { TurnResult } from "./protocol";

let sessionId = "";

/** Ask for a prompt and run it. It continues the last conversation of this window. */
export async function runAgent(harness: Harness): Promise<void> {
  const prompt = await vscode.window.showInputBox({
    title: "Ask the agent",
    prompt: "What should be done? The agent may use tools, and you are asked before it changes a file or runs a command.",
    placeHolder: "for example: who calls parse_config?",
    ignoreFocusOut: true,
  });
  if (!prompt?.trim()) {
    return;
  }
  const uri = vscode.window.activeTextEditor?.document.uri.toString() ?? "";
  const result = await harness.request<TurnResult>("agentRun", { prompt: prompt.trim(), sessionId, uri });
  sessionId = result.sessionId;
  if (result.reason !== "completed") {
    void vscode.window.showWarningMessage(`lsp-harness: ${result.detail} (${result.reason})`);
  }
  if (result.text) {
    await showAnswer("Answer", result.text);
  }
}
