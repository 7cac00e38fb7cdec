/** Tells the server where the user is: it reads the text there in the background, before it is asked. */

import * as vscode from "vscode";
import type { Harness } from "./client";
import { DID_FOCUS, DID_MOVE_CURSOR } from "./protocol";

/** A cursor that stays so long rests; one that is passing through would only make the engine read for nothing. */
const REST_MS = 150;

export function registerAttention(harness: Harness): vscode.Disposable {
  let timer: NodeJS.Timeout | undefined;
  const state = ({ uri, version }: vscode.TextDocument) => `${version} ${uri}`;
  /** The text the cursor was last seen in, or that was there when its editor came to the front. */
  let seen = vscode.window.activeTextEditor && state(vscode.window.activeTextEditor.document);
  const rested = (editor: vscode.TextEditor): void => {
    const params = editor === vscode.window.activeTextEditor ? harness.position(editor) : undefined;
    if (params) {
      harness.tell(DID_MOVE_CURSOR, params);
    }
  };
  return vscode.Disposable.from(
    new vscode.Disposable(() => clearTimeout(timer)),
    vscode.window.onDidChangeTextEditorSelection(({ textEditor }) => {
      clearTimeout(timer);
      // typing moves the cursor, too; there the request for a suggestion says where it is
      const moved = seen === state(textEditor.document);
      seen = state(textEditor.document);
      if (moved && harness.serves(textEditor.document)) {
        timer = setTimeout(() => rested(textEditor), REST_MS);
      }
    }),
    vscode.window.onDidChangeActiveTextEditor((editor) => {
      seen = editor && state(editor.document);
      const params = editor && harness.serves(editor.document) ? harness.position(editor) : undefined;
      if (params) {
        harness.tell(DID_FOCUS, { textDocument: params.textDocument });
      }
    }),
  );
}
