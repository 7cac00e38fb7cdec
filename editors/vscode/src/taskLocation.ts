/** Finds the code that a task is about: the server searches, the user chooses, an editor shows the choice. */

import * as vscode from "vscode";
import type { Harness } from "./client";
import type { Located, Site } from "./protocol";

interface Item extends vscode.QuickPickItem {
  site: Site;
}

let lastTask = "";

/** Ask for a task and show its code. The last task is the default text, so that a second try is a small change. */
export async function locate(harness: Harness): Promise<void> {
  const input = await vscode.window.showInputBox({
    title: "Find code for a task",
    prompt: "What do you want to do? The code that it concerns is shown.",
    placeHolder: "for example: let the parser skip comments",
    value: lastTask,
    ignoreFocusOut: true,
  });
  if (!input?.trim()) {
    return;
  }
  lastTask = input.trim();
  const folder = await searchFolder();
  if (folder === undefined) {
    return;
  }
  const located = await harness.request<Located>("locate", { task: lastTask, ...folder });
  const item = await vscode.window.showQuickPick(items(located), {
    title: `Code for: ${lastTask}`,
    placeHolder: "The most likely place comes first",
    matchOnDescription: true,
    matchOnDetail: true,
  });
  if (item) {
    await showSite(item.site);
  }
}

/**
 * Return the URI that names the folder to search: that of the active editor, or of a folder that the user chooses.
 * With a single folder the URI is left out. Return undefined if the user chooses no folder.
 */
async function searchFolder(): Promise<{ uri?: string } | undefined> {
  const activeUri = vscode.window.activeTextEditor?.document.uri;
  if (activeUri && vscode.workspace.getWorkspaceFolder(activeUri)) {
    return { uri: activeUri.toString() };
  }
  if ((vscode.workspace.workspaceFolders?.length ?? 0) < 2) {
    return {};
  }
  const folder = await vscode.window.showWorkspaceFolderPick({ placeHolder: "Which folder is searched?" });
  return folder && { uri: folder.uri.toString() };
}

function items({ candidates, chosen }: Located): Item[] {
  const best = candidates[chosen];
  const sites = best ? [best, ...candidates.filter((site) => site !== best)] : candidates;
  return sites.map((site) => ({
    label: site.symbol || site.signature,
    description: `${site.path}:${site.range.start.line + 1}`,
    detail: site.symbol ? `${site.signature}  [${site.reasons.join(", ")}]` : `[${site.reasons.join(", ")}]`,
    site,
  }));
}

async function showSite({ uri, range: { start, end } }: Site): Promise<void> {
  const range = new vscode.Range(start.line, start.character, end.line, end.character);
  const editor = await vscode.window.showTextDocument(vscode.Uri.parse(uri));
  // the cursor goes to the start of the declaration, where the commands that work on a function find it
  editor.selection = new vscode.Selection(range.start, range.start);
  editor.revealRange(range, vscode.TextEditorRevealType.InCenterIfOutsideViewport);
}
