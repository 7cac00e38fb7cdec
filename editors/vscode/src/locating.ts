/** The code that a task is about: found by the server, chosen by the user, shown in an editor. */

import * as vscode from "vscode";
import type { Harness } from "./client";
import type { Located, Site } from "./protocol";

interface Item extends vscode.QuickPickItem {
  site: Site;
}

let task = "";

/** Asks what is to be done, and goes to where. What was typed last time is there, selected, so that a second try is a small change. */
export async function locate(harness: Harness): Promise<void> {
  const typed = await vscode.window.showInputBox({
    title: "Find code for a task",
    prompt: "What is to be done? You are shown the code that this is about.",
    placeHolder: "for example: let the parser skip comments",
    value: task,
    ignoreFocusOut: true,
  });
  if (!typed?.trim()) {
    return;
  }
  task = typed.trim();
  const near = await nearby();
  if (near === undefined) {
    return;
  }
  const found = await harness.ask<Located>("locate", { task, ...near });
  const chosen = await vscode.window.showQuickPick(items(found), {
    title: `Code for: ${task}`,
    placeHolder: "The likeliest is the first",
    matchOnDescription: true,
    matchOnDetail: true,
  });
  if (chosen) {
    await show(chosen.site);
  }
}

/** In which folder is looked: that of the editor, else the only one, else one that the user chooses; undefined where they choose none. */
async function nearby(): Promise<{ uri?: string } | undefined> {
  const open = vscode.window.activeTextEditor?.document.uri;
  if (open && vscode.workspace.getWorkspaceFolder(open)) {
    return { uri: open.toString() };
  }
  if ((vscode.workspace.workspaceFolders?.length ?? 0) < 2) {
    return {};
  }
  const folder = await vscode.window.showWorkspaceFolderPick({ placeHolder: "Where is the code?" });
  return folder && { uri: folder.uri.toString() };
}

function items({ candidates, chosen }: Located): Item[] {
  const first = candidates[chosen];
  const sites = first ? [first, ...candidates.filter((site) => site !== first)] : candidates;
  return sites.map((site) => ({
    label: site.symbol || site.signature,
    description: `${site.path}:${site.range.start.line + 1}`,
    detail: site.symbol ? `${site.signature}  [${site.reasons.join(", ")}]` : `[${site.reasons.join(", ")}]`,
    site,
  }));
}

async function show({ uri, range: { start, end } }: Site): Promise<void> {
  const range = new vscode.Range(start.line, start.character, end.line, end.character);
  const editor = await vscode.window.showTextDocument(vscode.Uri.parse(uri));
  // the cursor is where the declaration begins: the commands that work on a function find it there
  editor.selection = new vscode.Selection(range.start, range.start);
  editor.revealRange(range, vscode.TextEditorRevealType.InCenterIfOutsideViewport);
}
