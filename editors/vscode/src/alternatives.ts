/**
 * Shows the alternatives of a suggestion that the user requested.
 *
 * The server answers such a request with one suggestion, so that it comes early, and sends the alternatives when the
 * client requests again at the same place. VS Code does not, because it takes the first answer for complete. It sends
 * the request again only if there is a provider that was not asked yet. So this module registers a provider that has no
 * suggestions and triggers the request once more. VS Code keeps the first suggestion on the screen in the meantime, and
 * drops the request if the user types, moves the cursor or hides the suggestion.
 */

import * as vscode from "vscode";
import type { InlineCompletionParams } from "vscode-languageclient/node";
import { isDisplayed } from "./suggestions";

/** The token of a request whose progress is not shown, because the user did not send it. */
const HIDDEN_PROGRESS_TOKEN = "lsp-harness/alternatives";

interface Place {
  uri: string;
  position: vscode.Position;
}

export class Alternatives {
  private pending: Place | undefined;

  constructor(private readonly log: vscode.LogOutputChannel) {}

  /** Request the alternatives of the suggestion at a place, as soon as VS Code displays it there. */
  async request(document: vscode.TextDocument, position: vscode.Position): Promise<void> {
    const { version } = document;
    try {
      // the command ends when the running request does; `explicit: false` does not start another one
      await trigger({ explicit: false });
      if (document.version === version && isCursorAt(document, position) && isDisplayed(document, position)) {
        await this.requestAgain(document, position);
      }
    } catch (error) {
      // the first suggestion is on the screen, and the user did not ask for more
      this.log.debug(`requesting alternatives failed: ${String(error)}`);
    }
  }

  /** Return the parameters of a request. The progress of a request for alternatives is not shown. */
  withHiddenProgress(params: InlineCompletionParams): InlineCompletionParams {
    const { pending } = this;
    const isOurs = pending?.uri === params.textDocument.uri && pending.position.isEqual(toVscode(params.position));
    return isOurs ? { ...params, workDoneToken: HIDDEN_PROGRESS_TOKEN } : params;
  }

  private async requestAgain(document: vscode.TextDocument, position: vscode.Position): Promise<void> {
    const { uri } = document;
    const selector = { scheme: uri.scheme, language: document.languageId };
    const empty = vscode.languages.registerInlineCompletionItemProvider(selector, { provideInlineCompletionItems: () => [] });
    this.pending = { uri: uri.toString(), position };
    try {
      await trigger({ explicit: true });
    } finally {
      this.pending = undefined;
      empty.dispose();
    }
  }
}

const trigger = (options: { explicit: boolean }): Thenable<void> =>
  vscode.commands.executeCommand("editor.action.inlineSuggest.trigger", options);

const toVscode = ({ line, character }: { line: number; character: number }): vscode.Position => new vscode.Position(line, character);

function isCursorAt(document: vscode.TextDocument, position: vscode.Position): boolean {
  const editor = vscode.window.activeTextEditor;
  return editor?.document === document && editor.selection.isEmpty && editor.selection.active.isEqual(position);
}
