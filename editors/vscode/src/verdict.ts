/** Pages that are not files: the verdict on an edit, which the server writes, and answers to a question. */

import * as vscode from "vscode";
import type { Harness } from "./client";
import { type Answer, VERDICT_SCHEME } from "./protocol";

const ANSWER_SCHEME = "lsp-harness-answer";
const KEPT = 20;
const answers = new Map<string, string>();
let asked = 0;

export function registerPages(harness: Harness): vscode.Disposable {
  const verdicts: vscode.TextDocumentContentProvider = {
    provideTextDocumentContent: async (uri) =>
      // a server that can be asked for documents is asked by the language client, which has registered itself
      harness.providesVerdicts ? undefined : (await harness.ask<Answer>("why", uri.toString())).text,
  };
  return vscode.Disposable.from(
    vscode.workspace.registerTextDocumentContentProvider(VERDICT_SCHEME, verdicts),
    vscode.workspace.registerTextDocumentContentProvider(ANSWER_SCHEME, {
      provideTextDocumentContent: (uri) => answers.get(uri.path) ?? "This answer is no longer kept. Ask again.\n",
    }),
  );
}

export function showVerdict(uri: string): Promise<void> {
  return showPage(vscode.Uri.parse(uri, true));
}

export async function showAnswer(title: string, text: string): Promise<void> {
  asked += 1;
  const uri = vscode.Uri.from({ scheme: ANSWER_SCHEME, path: `/${asked}/${title}.md` });
  answers.set(uri.path, text);
  for (const path of [...answers.keys()].slice(0, -KEPT)) {
    answers.delete(path);
  }
  await showPage(uri);
}

/** As a Markdown preview, or as text where VS Code's own Markdown support is switched off. */
async function showPage(uri: vscode.Uri): Promise<void> {
  const document = await vscode.workspace.openTextDocument(uri);
  try {
    await vscode.commands.executeCommand("markdown.showPreview", uri);
  } catch {
    await vscode.window.showTextDocument(document, { preview: true });
  }
}
