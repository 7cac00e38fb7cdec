/** The view of agents: each agent with its state, and below it its open questions and facts. */

import * as vscode from "vscode";
import type { AgentList } from "./agentList";
import type { Agent, AgentQuestion } from "./agentProtocol";
import { contextValue, describeAgent, describeQuestion, describeState, look } from "./agentText";

export const VIEW_ID = "lsp-harness.agents";

interface QuestionRow {
  agent: Agent;
  question: AgentQuestion;
}
interface FactRow {
  label: string;
  value: string;
}
/** What a menu of the view gives to its command. */
export type Row = Agent | QuestionRow | FactRow;

const isAgent = (row: Row): row is Agent => "id" in row;
const isQuestion = (row: Row): row is QuestionRow => "question" in row;

export class AgentTree implements vscode.TreeDataProvider<Row> {
  readonly onDidChangeTreeData: vscode.Event<void>;

  constructor(private readonly list: AgentList) {
    this.onDidChangeTreeData = list.onChange;
  }

  getChildren(row?: Row): Row[] {
    if (row === undefined) {
      return [...this.list.all];
    }
    return isAgent(row) ? [...(row.questions ?? []).map((question) => ({ agent: row, question })), ...facts(row)] : [];
  }

  getTreeItem(row: Row): vscode.TreeItem {
    if (isAgent(row)) {
      return agentItem(row);
    }
    return isQuestion(row) ? questionItem(row) : factItem(row);
  }
}

function agentItem(agent: Agent): vscode.TreeItem {
  const hasQuestions = (agent.questions?.length ?? 0) > 0;
  const item = new vscode.TreeItem(agent.name, hasQuestions ? vscode.TreeItemCollapsibleState.Expanded : vscode.TreeItemCollapsibleState.Collapsed);
  // an id for each state of the questions, because VS Code keeps a row collapsed that it knows
  item.id = hasQuestions ? `${agent.id}?` : agent.id;
  item.description = describeAgent(agent);
  const { icon, color } = look(agent);
  item.iconPath = new vscode.ThemeIcon(icon, color === undefined ? undefined : new vscode.ThemeColor(color));
  item.contextValue = contextValue(agent);
  // not Markdown: the texts are those of the agent
  item.tooltip = facts(agent).map(({ label, value }) => `${label}: ${value}`).join("\n");
  item.accessibilityInformation = { label: `${agent.name}, ${describeState(agent)}` };
  return item;
}

function questionItem({ agent, question }: QuestionRow): vscode.TreeItem {
  const item = new vscode.TreeItem(describeQuestion(question));
  item.id = `${agent.id}/${question.questionId}`;
  item.iconPath = new vscode.ThemeIcon("comment-unresolved");
  item.tooltip = describeQuestion(question);
  item.contextValue = "question";
  item.command = { title: "Answer", command: "lsp-harness.agents.answer", arguments: [{ agent, question }] };
  return item;
}

function factItem({ label, value }: FactRow): vscode.TreeItem {
  const item = new vscode.TreeItem(label);
  item.description = value;
  item.contextValue = "fact";
  return item;
}

function facts(agent: Agent): FactRow[] {
  const { state } = agent;
  const rows = [
    { label: "state", value: describeState(agent) },
    { label: "known by", value: state.rule },
    { label: "says", value: state.message },
    { label: "kind", value: `${agent.type}, ${agent.transport}${agent.isolation === "worktree" ? ", own worktree" : ""}` },
    { label: "folder", value: agent.workdir },
    { label: "exit status", value: agent.exitCode === null ? "" : String(agent.exitCode) },
    { label: "id", value: agent.id },
  ];
  return rows.filter(({ value }) => value !== "");
}
