/** Creates the parts about agents and connects them. */

import * as vscode from "vscode";
import type { Harness } from "../client";
import { AgentCommands } from "./agentCommands";
import { AgentList } from "./agentList";
import { AgentQuestions } from "./agentQuestions";
import { AgentTerminals } from "./agentTerminal";
import { AgentTree, VIEW_ID } from "./agentTree";

export function registerAgents(harness: Harness): vscode.Disposable {
  const list = new AgentList(harness);
  const terminals = new AgentTerminals(harness);
  const questions = new AgentQuestions(harness, list, terminals);
  const commands = new AgentCommands(harness, list, terminals, questions);
  const view = vscode.window.createTreeView(VIEW_ID, { treeDataProvider: new AgentTree(list), showCollapseAll: true });
  list.onChange(() => {
    const open = list.all.reduce((count, agent) => count + (agent.questions?.length ?? 0), 0);
    view.badge = open > 0 ? { value: open, tooltip: open === 1 ? "an agent waits for an answer" : `${open} questions of agents` } : undefined;
  });
  return vscode.Disposable.from(view, list, terminals, questions, commands.register());
}
