/** Shows the errors of actions that the user waits for. */

import * as vscode from "vscode";
import { type ResponseError } from "vscode-languageclient/node";

/** The error codes RequestCancelled and ServerCancelled of LSP. */
const CANCELLED_CODES = [-32800, -32802];

/** Show an error to the user. A cancellation is not shown because the user caused it. */
export function showError(error: unknown): void {
  if (error instanceof vscode.CancellationError || isCancellation(error)) {
    return;
  }
  const message = error instanceof Error ? error.message : String(error);
  void vscode.window.showErrorMessage(`lsp-harness: ${message}`);
}

function isCancellation(error: unknown): boolean {
  const code = (error as Partial<ResponseError<unknown>> | null)?.code;
  return code !== undefined && CANCELLED_CODES.includes(code);
}
