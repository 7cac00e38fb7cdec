/** What a user is told when there is no server to talk to: once for each time that it becomes so. */

import * as vscode from "vscode";
import type { Harness } from "./client";
import type { ServerState } from "./present";

const INSTALL = "Install…";
const CHOOSE = "Choose Its Path";
const LOG = "Show Log";
const RESTART = "Restart";

const COMMAND: Record<string, [string, ...unknown[]]> = {
  [INSTALL]: ["lsp-harness.installServer"],
  [CHOOSE]: ["workbench.action.openSettings", "lspHarness.server.command"],
  [LOG]: ["lsp-harness.showLog"],
  [RESTART]: ["lsp-harness.restartServer"],
};

const ADVICE: Partial<Record<ServerState, [string, ...string[]]>> = {
  missing: ["lsp-harness: the server is not installed on this machine.", INSTALL, CHOOSE],
  failed: ["lsp-harness: the server did not start.", LOG, RESTART],
  crashed: ["lsp-harness: the server stopped five times in three minutes and was not started again.", LOG, RESTART],
};

export function registerAdvice(harness: Harness): vscode.Disposable {
  let before: ServerState | undefined;
  return harness.onChange(() => {
    const { server } = harness.say;
    const advice = server === before ? undefined : ADVICE[server];
    before = server;
    if (advice) {
      const [message, ...choices] = advice;
      void vscode.window.showWarningMessage(message, ...choices).then((chosen) => {
        const command = chosen === undefined ? undefined : COMMAND[chosen];
        if (command) {
          void vscode.commands.executeCommand(...command);
        }
      });
    }
  });
}
