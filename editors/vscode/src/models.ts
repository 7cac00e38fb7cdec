/** Choosing a model, and fetching one. Both by the server, which knows the catalogue and where models are kept. */

import * as vscode from "vscode";
import type { Harness } from "./client";
import { Command, type Model, SECTION } from "./protocol";

interface Entry extends vscode.QuickPickItem {
  model: Model;
}

/** Lets the user choose among all models and makes that the one; what is not there yet is fetched first. */
export async function switchModel(harness: Harness): Promise<void> {
  const model = await choose(harness, "Model for suggestions and fixes", () => true);
  if (model === undefined || model.current || !(model.present || (await pull(model.name)))) {
    return;
  }
  // the server hears of it by the change of settings, like of any other
  const section = vscode.workspace.getConfiguration(SECTION);
  await section.update("model.path", model.name, vscode.ConfigurationTarget.Global);
}

/** Fetches the model that is set, or another where that one is there already. */
export async function downloadModel(harness: Harness): Promise<void> {
  const models = await listed(harness);
  const current = models.find((model) => model.current);
  if (current && !current.present) {
    await pull(current.name);
    return;
  }
  const model = await choose(harness, "Download a model", (each) => !each.present);
  if (model) {
    await pull(model.name);
  }
}

/** Whether the model is there now. Progress and its cancel button come from the server, complaints are the middleware's. */
async function pull(name: string): Promise<boolean> {
  const pulled = await vscode.commands.executeCommand<{ path: string } | undefined>(Command.pullModel, name);
  if (pulled === undefined) {
    return false;
  }
  void vscode.commands.executeCommand("setContext", "lsp-harness.modelPresent", true);
  void vscode.window.showInformationMessage(`lsp-harness: ${name} is ready to use.`);
  return true;
}

/** For the walkthrough: whether the model that is set needs no download. */
export async function noteModel(harness: Harness): Promise<void> {
  if (harness.has("models")) {
    const present = (await listed(harness)).some((model) => model.current && model.present);
    await vscode.commands.executeCommand("setContext", "lsp-harness.modelPresent", present);
  }
}

function listed(harness: Harness): Promise<Model[]> {
  return harness.ask<Model[]>("models");
}

async function choose(harness: Harness, title: string, wanted: (model: Model) => boolean): Promise<Model | undefined> {
  const entries = listed(harness).then((models) => models.filter((each) => each.kind === "completion" && wanted(each)).map(entry));
  return (await vscode.window.showQuickPick(entries, { title, matchOnDescription: true }))?.model;
}

function entry(model: Model): Entry {
  const icon = model.current ? "check" : model.present ? "database" : "cloud-download";
  const size = model.bytes === null ? [] : [`${Math.round(model.bytes / 2 ** 20)} MiB`];
  const state = model.current ? "in use" : model.present ? "on this machine" : "to download";
  return { label: `$(${icon}) ${model.name}`, description: [state, ...size].join(", "), detail: [model.title, `licence: ${model.licence}`, model.note].filter(Boolean).join(" · "), model };
}
