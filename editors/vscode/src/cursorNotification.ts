/** Tells the server where the cursor is, so that it can evaluate the text there before a suggestion is requested. */

import * as vscode from "vscode";
import type { Harness } from "./client";
import { DID_FOCUS, DID_MOVE_CURSOR } from "./protocol";

/**
 * Time without movement after which the cursor rests. For a cursor that passes through, the engine would work in vain.
 */
const REST_MS = 150;

export function registerCursorNotification(harness: Harness): vscode.Disposable {
  let timer: NodeJS.Timeout | undefined;
  const versionOf = ({ uri, version }: vscode.TextDocument) => `${version} ${uri}`;
  /** The document version at the last event. If it is unchanged, the cursor moved without an edit. */
  let lastVersion = vscode.window.activeTextEditor && versionOf(vscode.window.activeTextEditor.document);
  const notifyRest = (editor: vscode.TextEditor): void => {
    const params = editor === vscode.window.activeTextEditor ? harness.position(editor) : undefined;
    if (params) {
      harness.notify(DID_MOVE_CURSOR, params);
    }
  };
  return vscode.Disposable.from(
    new vscode.Disposable(() => clearTimeout(timer)),
    vscode.window.onDidChangeTextEditorSelection(({ textEditor }) => {
      clearTimeout(timer);
      // typing moves the cursor too, but then the request for a suggestion carries the position
      const movedWithoutEdit = lastVersion === versionOf(textEditor.document);
      lastVersion = versionOf(textEditor.document);
      if (movedWithoutEdit && harness.serves(textEditor.document)) {
        timer = setTimeout(() => notifyRest(textEditor), REST_MS);
      }
    }),
    vscode.window.onDidChangeActiveTextEditor((editor) => {
      lastVersion = editor && versionOf(editor.document);
      const params = editor && harness.serves(editor.document) ? harness.position(editor) : undefined;
      if (params) {
        harness.notify(DID_FOCUS, { textDocument: params.textDocument });
      }
    }),
  );
}
