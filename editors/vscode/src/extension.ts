/** Puts the parts together; what they do is in their own files. */

import * as vscode from "vscode";
import { registerAdvice } from "./advice";
import { registerAttention } from "./attention";
import { Harness } from "./client";
import { registerCommands } from "./commands";
import { middleware } from "./middleware";
import { noteModel } from "./models";
import { registerReview } from "./review";
import { needsRestart, Settings } from "./settings";
import { registerStatus } from "./status";
import { registerPages } from "./verdict";

let harness: Harness | undefined;

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  const log = vscode.window.createOutputChannel("lsp-harness", { log: true });
  const settings = new Settings(context.extension.packageJSON);
  const running = new Harness(context, settings, (harness) => middleware(harness, settings), log);
  harness = running;
  context.subscriptions.push(
    log,
    running,
    registerStatus(running),
    registerAdvice(running),
    registerCommands(context, running),
    registerPages(running),
    registerReview(),
    registerAttention(running),
    vscode.workspace.onDidGrantWorkspaceTrust(() => running.restart()),
    vscode.workspace.onDidChangeConfiguration((change) => needsRestart(change) && running.restart()),
  );
  await running.restart();
  await noteModel(running).catch((error: unknown) => log.debug(`asking for the models: ${String(error)}`));
}

export async function deactivate(): Promise<void> {
  await harness?.shutdown();
}
