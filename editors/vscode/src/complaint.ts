/** Failures of what a person waited for. */

import * as vscode from "vscode";
import { type ResponseError } from "vscode-languageclient/node";

/** Shows what a person waited for and does not get; what they took back themselves is no news. */
export function complain(error: unknown): void {
  if (error instanceof vscode.CancellationError || cancelled(error)) {
    return;
  }
  const message = error instanceof Error ? error.message : String(error);
  void vscode.window.showErrorMessage(`lsp-harness: ${message}`);
}

/** RequestCancelled and ServerCancelled of LSP. */
function cancelled(error: unknown): boolean {
  const code = (error as Partial<ResponseError<unknown>> | null)?.code;
  return code === -32800 || code === -32802;
}
