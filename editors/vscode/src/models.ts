/** Chooses and downloads models. The server does the work: it has the catalogue and the folder of the models. */

import * as vscode from "vscode";
import type { Harness } from "./client";
import { type Model, SECTION } from "./protocol";
import { Command } from "./serverCommands";

interface Entry extends vscode.QuickPickItem {
  model: Model;
}

/** Let the user choose a completion model and use it. The model is downloaded first if necessary. */
export async function switchModel(harness: Harness): Promise<void> {
  const model = await choose(harness, "Model for suggestions and fixes", () => true);
  if (model === undefined || model.current || !(model.present || (await pull(model.name)))) {
    return;
  }
  // the server learns of the model through the change of settings
  const section = vscode.workspace.getConfiguration(SECTION);
  await section.update("model.path", model.name, vscode.ConfigurationTarget.Global);
}

/** Download the current model, or, if it is on this machine, a model that the user chooses. */
export async function downloadModel(harness: Harness): Promise<void> {
  const models = await listModels(harness);
  const current = models.find((model) => model.current);
  if (current && !current.present) {
    await pull(current.name);
    return;
  }
  const model = await choose(harness, "Download a model", (candidate) => !candidate.present);
  if (model) {
    await pull(model.name);
  }
}

/** Download a model and return whether it succeeded. The server reports progress; the middleware shows errors. */
async function pull(name: string): Promise<boolean> {
  const pulled = await vscode.commands.executeCommand<{ path: string } | undefined>(Command.pullModel, name);
  if (pulled === undefined) {
    return false;
  }
  void vscode.commands.executeCommand("setContext", "lsp-harness.modelPresent", true);
  void vscode.window.showInformationMessage(`lsp-harness: ${name} is ready to use.`);
  return true;
}

/** Set the context key for the walkthrough that says whether the current model is on this machine. */
export async function updateModelContext(harness: Harness): Promise<void> {
  if (harness.provides("models")) {
    const present = (await listModels(harness)).some((model) => model.current && model.present);
    await vscode.commands.executeCommand("setContext", "lsp-harness.modelPresent", present);
  }
}

function listModels(harness: Harness): Promise<Model[]> {
  return harness.request<Model[]>("models");
}

async function choose(harness: Harness, title: string, filter: (model: Model) => boolean): Promise<Model | undefined> {
  const entries = listModels(harness).then((models) => models.filter((model) => model.kind === "completion" && filter(model)).map(toEntry));
  return (await vscode.window.showQuickPick(entries, { title, matchOnDescription: true }))?.model;
}

function toEntry(model: Model): Entry {
  const icon = model.current ? "check" : model.present ? "database" : "cloud-download";
  const size = model.bytes === null ? [] : [`${Math.round(model.bytes / 2 ** 20)} MiB`];
  const state = model.current ? "in use" : model.present ? "on this machine" : "to download";
  return { label: `$(${icon}) ${model.name}`, description: [state, ...size].join(", "), detail: [model.title, `licence: ${model.licence}`, model.note].filter(Boolean).join(" · "), model };
}
