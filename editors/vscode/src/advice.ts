/** Warns the user when there is no server to talk to, once each time the server gets into such a state. */

import * as vscode from "vscode";
import type { Harness } from "./client";
import type { ServerState } from "./statusText";

const INSTALL = "Install…";
const CHOOSE = "Choose Its Path";
const LOG = "Show Log";
const RESTART = "Restart";

const BUTTON_COMMANDS: Record<string, [string, ...unknown[]]> = {
  [INSTALL]: ["lsp-harness.installServer"],
  [CHOOSE]: ["workbench.action.openSettings", "lspHarness.server.command"],
  [LOG]: ["lsp-harness.showLog"],
  [RESTART]: ["lsp-harness.restartServer"],
};

/** The message and its buttons. */
const ADVICE: Partial<Record<ServerState, [string, ...string[]]>> = {
  missing: ["lsp-harness: the server is not installed on this machine.", INSTALL, CHOOSE],
  failed: ["lsp-harness: the server did not start.", LOG, RESTART],
  crashed: ["lsp-harness: the server stopped five times in three minutes and was not started again.", LOG, RESTART],
};

export function registerAdvice(harness: Harness): vscode.Disposable {
  let previous: ServerState | undefined;
  return harness.onChange(() => {
    const { server } = harness.state;
    const advice = server === previous ? undefined : ADVICE[server];
    previous = server;
    if (advice) {
      const [message, ...buttons] = advice;
      void vscode.window.showWarningMessage(message, ...buttons).then((button) => {
        const command = button === undefined ? undefined : BUTTON_COMMANDS[button];
        if (command) {
          void vscode.commands.executeCommand(...command);
        }
      });
    }
  });
}
