/**
 * Commands that VS Code cannot forget. It keeps the arguments of a code action's command only until it has asked for the
 * actions of the place again, as it does with every new diagnostic, also between the choice of an action and its execution:
 * then whoever chose is told that the command is not found. So the commands it is given have no arguments.
 */

import * as vscode from "vscode";
import type { CodeAction, Command } from "vscode-languageclient/node";

const CHOSEN = "lsp-harness.chosen.";
/** Commands that are kept: far more than one menu has, as others are asked for while it is open. */
const KEPT = 500;

const kept: vscode.Disposable[] = [];
let count = 0;

/** A command that does this. */
export function lasting(title: string, run: () => unknown): Command {
  count += 1;
  const command = `${CHOSEN}${count}`;
  kept.push(vscode.commands.registerCommand(command, run));
  kept.splice(0, kept.length - KEPT).forEach((old) => old.dispose());
  return { title, command };
}

/** Whether all that an action does is in such a command. */
export function complete({ command }: CodeAction): boolean {
  return command?.command.startsWith(CHOSEN) ?? false;
}
