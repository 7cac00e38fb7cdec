/** An edit laid before the user: a diff whose title is what it passed, with Apply and Discard. */

import * as path from "node:path";
import * as vscode from "vscode";
import type { ApplyWorkspaceEditResult, CodeAction, WorkspaceEdit } from "vscode-languageclient/node";
import type { Harness } from "./client";
import { complain } from "./complaint";
import { confirmable, confirmed, type Confirmable } from "./confirmable";

const SCHEME = "lsp-harness-review";

interface Open {
  uri: vscode.Uri;
  text: string;
  decide: (apply: boolean) => void;
}

let open: Open | undefined;
let count = 0;

export function registerReview(): vscode.Disposable {
  return vscode.Disposable.from(
    vscode.workspace.registerTextDocumentContentProvider(SCHEME, {
      provideTextDocumentContent: (uri) => (uri.toString() === open?.uri.toString() ? open.text : ""),
    }),
    vscode.commands.registerCommand("lsp-harness.applyEdit", () => open?.decide(true)),
    vscode.commands.registerCommand("lsp-harness.discardEdit", () => open?.decide(false)),
    // who closes the page does not want it
    vscode.window.tabGroups.onDidChangeTabs(({ closed }) => {
      if (closed.some(shows)) {
        open?.decide(false);
      }
    }),
  );
}

/** Has a code action worked out, laid before the user where that is wanted, and made. */
export async function workedOut(harness: Harness, action: CodeAction): Promise<void> {
  try {
    const { edit, command } = await harness.resolve(action);
    if (!edit || !(await agreedTo(edit, (each) => harness.apply(each))).applied) {
      return;
    }
    if (command) {
      await vscode.commands.executeCommand(command.command, ...(command.arguments ?? []));
    }
  } catch (error) {
    complain(error);
  }
}

/** Has an edit made, after the user was shown it where that is wanted and if they want it then. */
export async function agreedTo(
  edit: WorkspaceEdit,
  make: (edit: WorkspaceEdit) => Promise<ApplyWorkspaceEditResult>,
): Promise<ApplyWorkspaceEditResult> {
  const wanted = confirmable(edit);
  if (!wanted) {
    return make(edit);
  }
  if (!(await agreed(wanted))) {
    return { applied: false };
  }
  const result = await make(confirmed(edit));
  if (result.applied && wanted.creates) {
    // so that it is seen and saved
    await vscode.window.showTextDocument(vscode.Uri.parse(wanted.uri, true), { preview: false });
  }
  return result;
}

/** Shows the edit; whether the user wants it. One that is still open is discarded. */
async function agreed({ uri, label, creates, edits }: Confirmable): Promise<boolean> {
  open?.decide(false);
  const target = vscode.Uri.parse(uri, true);
  // what is not there yet is empty
  const document = await vscode.workspace.openTextDocument(creates ? target.with({ scheme: SCHEME }) : target);
  const { version } = document;
  let text = document.getText();
  const places = edits.map(({ range: { start, end }, newText }) => ({
    start: document.offsetAt(new vscode.Position(start.line, start.character)),
    end: document.offsetAt(new vscode.Position(end.line, end.character)),
    newText,
  }));
  for (const { start, end, newText } of places.sort((one, other) => other.start - one.start)) {
    text = text.slice(0, start) + newText + text.slice(end);
  }
  count += 1;
  const name = path.posix.basename(document.uri.path);
  const page = vscode.Uri.from({ scheme: SCHEME, path: `/${count}/${name}` });
  const decided = new Promise<boolean>((decide) => (open = { uri: page, text, decide }));
  const mine = open;
  await vscode.commands.executeCommand("setContext", "lsp-harness.reviewing", true);
  await vscode.commands.executeCommand("vscode.diff", document.uri, page, `${name}: ${label.replace(/^lsp-harness: /, "")}`, { preview: true });
  const apply = await decided;
  if (open === mine) {
    open = undefined;
    await vscode.commands.executeCommand("setContext", "lsp-harness.reviewing", false);
  }
  const tabs = vscode.window.tabGroups.all.flatMap((group) => group.tabs).filter((tab) => showing(tab) === page.toString());
  // whoever closed the page is elsewhere already
  if (!creates && tabs.length > 0) {
    await vscode.window.showTextDocument(document, { preview: false });
  }
  await vscode.window.tabGroups.close(tabs);
  if (apply && document.version !== version) {
    void vscode.window.showWarningMessage("lsp-harness: the file has changed since the edit was worked out; ask again.");
    return false;
  }
  return apply;
}

const shows = (tab: vscode.Tab): boolean => open !== undefined && showing(tab) === open.uri.toString();

function showing({ input }: vscode.Tab): string | undefined {
  return input instanceof vscode.TabInputTextDiff ? input.modified.toString() : undefined;
}
