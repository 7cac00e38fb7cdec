/**
 * Shows an edit to the user as a diff with the buttons Apply and Discard. The title names the checks that it passed.
 */

import * as path from "node:path";
import * as vscode from "vscode";
import type { ApplyWorkspaceEditResult, CodeAction, WorkspaceEdit } from "vscode-languageclient/node";
import type { Harness } from "./client";
import { type PendingEdit, pendingEdit, withoutAnnotations } from "./confirmation";
import { showError } from "./errors";

const SCHEME = "lsp-harness-review";

interface Review {
  uri: vscode.Uri;
  text: string;
  decide: (apply: boolean) => void;
}

let current: Review | undefined;
let count = 0;

export function registerReview(): vscode.Disposable {
  return vscode.Disposable.from(
    vscode.workspace.registerTextDocumentContentProvider(SCHEME, {
      provideTextDocumentContent: (uri) => (uri.toString() === current?.uri.toString() ? current.text : ""),
    }),
    vscode.commands.registerCommand("lsp-harness.applyEdit", () => current?.decide(true)),
    vscode.commands.registerCommand("lsp-harness.discardEdit", () => current?.decide(false)),
    // closing the page discards the edit
    vscode.window.tabGroups.onDidChangeTabs(({ closed }) => {
      if (closed.some(showsCurrentReview)) {
        current?.decide(false);
      }
    }),
  );
}

/** Resolve a code action, let the user review its edit if necessary, and apply it. */
export async function resolveAndApply(harness: Harness, action: CodeAction): Promise<void> {
  try {
    const { edit, command } = await harness.resolve(action);
    if (!edit || !(await applyAfterReview(edit, (reviewed) => harness.apply(reviewed))).applied) {
      return;
    }
    if (command) {
      await vscode.commands.executeCommand(command.command, ...(command.arguments ?? []));
    }
  } catch (error) {
    showError(error);
  }
}

/** Apply an edit. If it needs confirmation, the user reviews it first and may discard it. */
export async function applyAfterReview(
  edit: WorkspaceEdit,
  apply: (edit: WorkspaceEdit) => Promise<ApplyWorkspaceEditResult>,
): Promise<ApplyWorkspaceEditResult> {
  const pending = pendingEdit(edit);
  if (!pending) {
    return apply(edit);
  }
  if (!(await review(pending))) {
    return { applied: false };
  }
  const result = await apply(withoutAnnotations(edit));
  if (result.applied && pending.creates) {
    // the new file is shown so that the user sees and saves it
    await vscode.window.showTextDocument(vscode.Uri.parse(pending.uri, true), { preview: false });
  }
  return result;
}

/** Show an edit and return whether the user applies it. An older review that is still open is discarded. */
async function review({ uri, label, creates, edits }: PendingEdit): Promise<boolean> {
  current?.decide(false);
  const target = vscode.Uri.parse(uri, true);
  // a file that does not exist yet is compared with an empty text
  const document = await vscode.workspace.openTextDocument(creates ? target.with({ scheme: SCHEME }) : target);
  const { version } = document;
  let text = document.getText();
  const replacements = edits.map(({ range: { start, end }, newText }) => ({
    start: document.offsetAt(new vscode.Position(start.line, start.character)),
    end: document.offsetAt(new vscode.Position(end.line, end.character)),
    newText,
  }));
  for (const { start, end, newText } of replacements.sort((first, second) => second.start - first.start)) {
    text = text.slice(0, start) + newText + text.slice(end);
  }
  count += 1;
  const name = path.posix.basename(document.uri.path);
  const page = vscode.Uri.from({ scheme: SCHEME, path: `/${count}/${name}` });
  const decision = new Promise<boolean>((decide) => (current = { uri: page, text, decide }));
  const own = current;
  await vscode.commands.executeCommand("setContext", "lsp-harness.reviewing", true);
  await vscode.commands.executeCommand("vscode.diff", document.uri, page, `${name}: ${label.replace(/^lsp-harness: /, "")}`, { preview: true });
  const isAccepted = await decision;
  if (current === own) {
    current = undefined;
    await vscode.commands.executeCommand("setContext", "lsp-harness.reviewing", false);
  }
  const tabs = vscode.window.tabGroups.all.flatMap((group) => group.tabs).filter((tab) => modifiedUri(tab) === page.toString());
  // if the user closed the page, there is no tab, and the user is in another editor already
  if (!creates && tabs.length > 0) {
    await vscode.window.showTextDocument(document, { preview: false });
  }
  await vscode.window.tabGroups.close(tabs);
  if (isAccepted && document.version !== version) {
    void vscode.window.showWarningMessage("lsp-harness: the file has changed since the edit was computed. Run the command again.");
    return false;
  }
  return isAccepted;
}

const showsCurrentReview = (tab: vscode.Tab): boolean => current !== undefined && modifiedUri(tab) === current.uri.toString();

/** Return the right-hand document of a diff tab. */
function modifiedUri({ input }: vscode.Tab): string | undefined {
  return input instanceof vscode.TabInputTextDiff ? input.modified.toString() : undefined;
}
