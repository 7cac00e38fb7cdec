/**
 * Commands that stay valid after VS Code refreshes its code actions. VS Code keeps the arguments of a code action's
 * command only until it requests the actions of the place again. It does so with every new diagnostic, also between the
 * choice of an action and its execution, and then reports that the command is not found. A command without arguments
 * has nothing to lose, so each action gets a command of its own.
 */

import * as vscode from "vscode";
import type { CodeAction, Command } from "vscode-languageclient/node";

const PREFIX = "lsp-harness.chosen.";
/** Far more commands than one menu has, because other actions are requested while a menu is open. */
const MAX_COMMANDS = 500;

const registrations: vscode.Disposable[] = [];
let count = 0;

/** Register a command without arguments that calls `run`. */
export function permanentCommand(title: string, run: () => unknown): Command {
  count += 1;
  const command = `${PREFIX}${count}`;
  registrations.push(vscode.commands.registerCommand(command, run));
  registrations.splice(0, registrations.length - MAX_COMMANDS).forEach((registration) => registration.dispose());
  return { title, command };
}

/** Return whether the command of an action is a permanent command, which needs no resolving. */
export function hasPermanentCommand({ command }: CodeAction): boolean {
  return command?.command.startsWith(PREFIX) ?? false;
}
