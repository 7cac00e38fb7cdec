/** The entry points of the extension. They create the parts and connect them. */

import * as vscode from "vscode";
import { registerAdvice } from "./advice";
import { registerAgents } from "./agents/agents";
import { Harness } from "./client";
import { registerCommands } from "./commands";
import { registerCursorNotification } from "./cursorNotification";
import { middleware } from "./middleware";
import { updateModelContext } from "./models";
import { registerPages } from "./pages";
import { registerReview } from "./review";
import { needsRestart, Settings } from "./settings";
import { registerStatus } from "./status";

let harness: Harness | undefined;

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  const log = vscode.window.createOutputChannel("lsp-harness", { log: true });
  const settings = new Settings(context.extension.packageJSON);
  const created = new Harness(context, settings, (target) => middleware(target, settings), log);
  harness = created;
  context.subscriptions.push(
    log,
    created,
    registerStatus(created),
    registerAdvice(created),
    registerCommands(context, created),
    registerAgents(created),
    registerPages(created),
    registerReview(),
    registerCursorNotification(created),
    vscode.workspace.onDidGrantWorkspaceTrust(() => created.restart()),
    vscode.workspace.onDidChangeConfiguration((change) => needsRestart(change) && created.restart()),
  );
  await created.restart();
  await updateModelContext(created).catch((error: unknown) => log.debug(`listing the models failed: ${String(error)}`));
}

export async function deactivate(): Promise<void> {
  await harness?.shutdown();
}
