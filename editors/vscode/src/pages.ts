/** Shows pages that are not files: the server's verdict on an edit, and answers. */

import * as vscode from "vscode";
import type { Harness } from "./client";
import { type Answer, VERDICT_SCHEME } from "./protocol";

const ANSWER_SCHEME = "lsp-harness-answer";
const MAX_ANSWERS = 20;
const answers = new Map<string, string>();
let answerCount = 0;

export function registerPages(harness: Harness): vscode.Disposable {
  const verdicts: vscode.TextDocumentContentProvider = {
    provideTextDocumentContent: async (uri) =>
      // if the server has `workspace/textDocumentContent`, the language client has registered a provider that uses it
      harness.providesVerdicts ? undefined : (await harness.request<Answer>("why", uri.toString())).text,
  };
  return vscode.Disposable.from(
    vscode.workspace.registerTextDocumentContentProvider(VERDICT_SCHEME, verdicts),
    vscode.workspace.registerTextDocumentContentProvider(ANSWER_SCHEME, {
      provideTextDocumentContent: (uri) => answers.get(uri.path) ?? "This answer is no longer stored. Run the command again.\n",
    }),
  );
}

export function showVerdict(uri: string): Promise<void> {
  return showPage(vscode.Uri.parse(uri, true));
}

export async function showAnswer(title: string, text: string): Promise<void> {
  answerCount += 1;
  const uri = vscode.Uri.from({ scheme: ANSWER_SCHEME, path: `/${answerCount}/${title}.md` });
  store(uri, text);
  await showPage(uri);
}

/**
 * Show a text that is not from the server itself, such as the answer of an agent. It is not rendered, because a page may
 * load pictures, and so tell somebody what was in it.
 */
export async function showText(title: string, text: string, languageId = "plaintext"): Promise<void> {
  answerCount += 1;
  const uri = vscode.Uri.from({ scheme: ANSWER_SCHEME, path: `/${answerCount}/${title.replaceAll("/", " ")}` });
  store(uri, text);
  const document = await vscode.workspace.openTextDocument(uri);
  await vscode.window.showTextDocument(await vscode.languages.setTextDocumentLanguage(document, languageId), { preview: true });
}

function store(uri: vscode.Uri, text: string): void {
  answers.set(uri.path, text);
  for (const path of [...answers.keys()].slice(0, -MAX_ANSWERS)) {
    answers.delete(path);
  }
}

/** Show a Markdown preview, or the text if VS Code's own Markdown extension is disabled. */
async function showPage(uri: vscode.Uri): Promise<void> {
  const document = await vscode.workspace.openTextDocument(uri);
  try {
    await vscode.commands.executeCommand("markdown.showPreview", uri);
  } catch {
    await vscode.window.showTextDocument(document, { preview: true });
  }
}
