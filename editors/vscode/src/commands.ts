/**
 * The commands of the palette and the menus, `lsp-harness.…`. The names `lspHarness.…` belong to the server's commands.
 */

import * as vscode from "vscode";
import { runAgent } from "./agent";
import type { Harness } from "./client";
import { showError } from "./errors";
import { installServer } from "./install";
import { showMenu } from "./menu";
import { downloadModel, switchModel } from "./models";
import { showAnswer } from "./pages";
import { ASK_INSTRUCTION, type Place, type Statistics } from "./protocol";
import { Command, type ForwardedCommand } from "./serverCommands";
import { statisticsPage } from "./statisticsPage";
import { dismiss } from "./suggestions";
import { locate } from "./taskLocation";

export function registerCommands(context: vscode.ExtensionContext, harness: Harness): vscode.Disposable {
  const commands: Record<string, (...args: never[]) => unknown> = {
    "lsp-harness.menu": () => showMenu(harness),
    "lsp-harness.showLog": () => harness.log.show(),
    "lsp-harness.restartServer": () => harness.restart(),
    "lsp-harness.installServer": () => installServer(context, harness),
    "lsp-harness.openSettings": () =>
      vscode.commands.executeCommand("workbench.action.openSettings", `@ext:${context.extension.id}`),
    "lsp-harness.restartEngine": () => harness.request("restartEngine"),
    "lsp-harness.pauseHere": () => harness.request("pause", "here", true),
    "lsp-harness.pauseEverywhere": () => harness.request("pause", "everywhere", true),
    // this also ends a pause of all windows
    "lsp-harness.resume": () => harness.request("pause", "here", false),
    "lsp-harness.switchModel": () => switchModel(harness),
    "lsp-harness.downloadModel": () => downloadModel(harness),
    "lsp-harness.statistics": async () =>
      showAnswer("Statistics", statisticsPage(await harness.request<Statistics>("statistics"), harness.state.status?.types)),
    "lsp-harness.dismiss": () => dismiss(harness),
    "lsp-harness.instruct": () => instruct(),
    "lsp-harness.locate": () => locate(harness),
    "lsp-harness.agent": () => runAgent(harness),
    [ASK_INSTRUCTION]: (place: Place) => instruct(place),
  };
  for (const [name, forwarded] of Object.entries(harness.forwardedCommands)) {
    commands[`lsp-harness.${name}`] = () => forward(forwarded);
  }
  const registrations = Object.entries(commands).map(([name, handler]) =>
    vscode.commands.registerCommand(name, async (...args: never[]) => {
      try {
        await handler(...args);
      } catch (error) {
        showError(error);
      }
    }),
  );
  return vscode.Disposable.from(...registrations);
}

let lastInstruction = "";

/**
 * Ask for an instruction and run it. The last instruction is the default text, so that a second try is a small
 * change.
 */
async function instruct(place = selection()): Promise<void> {
  if (place === undefined) {
    return;
  }
  const input = await vscode.window.showInputBox({
    title: "Edit with lsp-harness",
    prompt: "What should be changed here? The edit is checked, and you see it before it is applied.",
    placeHolder: "for example: raise ValueError if the list is empty",
    value: lastInstruction,
    // the input stays open while the user looks something up, or when a menu closes late and gives the focus to the
    // editor
    ignoreFocusOut: true,
  });
  if (input?.trim()) {
    lastInstruction = input.trim();
    await execute(Command.instruct, { ...place, instruction: lastInstruction });
  }
}

/** Send a command that needs no code of its own. */
async function forward({ command, sendsSelection }: ForwardedCommand): Promise<void> {
  if (!sendsSelection) {
    await execute(command);
    return;
  }
  const place = selection();
  if (place) {
    await execute(command, place);
  }
}

/** Execute a server's command through VS Code, so that the middleware shows the result, as for a code action. */
async function execute(command: string, ...args: object[]): Promise<void> {
  await vscode.commands.executeCommand(command, ...args);
}

/** Return the selection of the active editor. If it is empty, the server uses the function around the cursor. */
function selection(): Place | undefined {
  const editor = vscode.window.activeTextEditor;
  if (editor === undefined) {
    void vscode.window.showInformationMessage("lsp-harness: open a file first, then run the command again.");
    return undefined;
  }
  const { start, end } = editor.selection;
  const toLsp = ({ line, character }: vscode.Position) => ({ line, character });
  return { uri: editor.document.uri.toString(), range: { start: toLsp(start), end: toLsp(end) } };
}
