/** The commands of the palette and the menus. Their names are `lsp-harness.…`; `lspHarness.…` are the server's own. */

import * as vscode from "vscode";
import type { Harness } from "./client";
import { complain } from "./complaint";
import { installServer } from "./install";
import { locate } from "./locating";
import { showMenu } from "./menu";
import { downloadModel, switchModel } from "./models";
import { ASK_INSTRUCTION, Command, type CommandName, type Place, type Statistics } from "./protocol";
import { statisticsPage } from "./pages";
import { dismiss } from "./suggestions";
import { showAnswer } from "./verdict";

export function registerCommands(context: vscode.ExtensionContext, harness: Harness): vscode.Disposable {
  const commands: Record<string, (...args: never[]) => unknown> = {
    "lsp-harness.menu": () => showMenu(harness),
    "lsp-harness.showLog": () => harness.log.show(),
    "lsp-harness.restartServer": () => harness.restart(),
    "lsp-harness.installServer": () => installServer(context, harness),
    "lsp-harness.openSettings": () =>
      vscode.commands.executeCommand("workbench.action.openSettings", `@ext:${context.extension.id}`),
    "lsp-harness.restartEngine": () => harness.ask("restartEngine"),
    "lsp-harness.pauseHere": () => harness.ask("pause", "here", true),
    "lsp-harness.pauseEverywhere": () => harness.ask("pause", "everywhere", true),
    // ends the pause of all windows, too
    "lsp-harness.resume": () => harness.ask("pause", "here", false),
    "lsp-harness.switchModel": () => switchModel(harness),
    "lsp-harness.downloadModel": () => downloadModel(harness),
    "lsp-harness.statistics": async () =>
      showAnswer("Statistics", statisticsPage(await harness.ask<Statistics>("statistics"))),
    "lsp-harness.dismiss": () => dismiss(harness),
    "lsp-harness.instruct": () => instruct(),
    "lsp-harness.locate": () => locate(harness),
    "lsp-harness.explain": () => onSelection("explain"),
    "lsp-harness.context": () => onSelection("context"),
    "lsp-harness.docstring": () => onSelection("docstring"),
    "lsp-harness.tests": () => onSelection("tests"),
    [ASK_INSTRUCTION]: (place: Place) => instruct(place),
  };
  const registered = Object.entries(commands).map(([name, run]) =>
    vscode.commands.registerCommand(name, async (...args: never[]) => {
      try {
        await run(...args);
      } catch (error) {
        complain(error);
      }
    }),
  );
  return vscode.Disposable.from(...registered);
}

let instruction = "";

/** Asks what to do. What was typed last time is there, selected, so that a second try is a small change. */
async function instruct(place = selection()): Promise<void> {
  if (place === undefined) {
    return;
  }
  const typed = await vscode.window.showInputBox({
    title: "Edit with lsp-harness",
    prompt: "What should be changed here? The edit is checked, and shown to you before it is made.",
    placeHolder: "for example: raise ValueError where the list is empty",
    value: instruction,
    // whoever looks something up meanwhile finds it as it was; and a menu that closes late gives the keyboard to the editor
    ignoreFocusOut: true,
  });
  if (typed?.trim()) {
    instruction = typed.trim();
    await run("instruct", { ...place, instruction });
  }
}

async function onSelection(name: CommandName): Promise<void> {
  const place = selection();
  if (place) {
    await run(name, place);
  }
}

/** By way of VS Code's command, so that the middleware shows what comes of it, as for a code action. */
async function run(name: CommandName, argument: object): Promise<void> {
  await vscode.commands.executeCommand(Command[name], argument);
}

/** The selection of the editor; without one the cursor, whose function the server finds. */
function selection(): Place | undefined {
  const editor = vscode.window.activeTextEditor;
  if (editor === undefined) {
    void vscode.window.showInformationMessage("lsp-harness: open a file first.");
    return undefined;
  }
  const { start, end } = editor.selection;
  const at = ({ line, character }: vscode.Position) => ({ line, character });
  return { uri: editor.document.uri.toString(), range: { start: at(start), end: at(end) } };
}
