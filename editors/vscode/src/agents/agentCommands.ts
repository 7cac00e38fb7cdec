/** The commands about agents: in the palette they ask for an agent, in the view they have one. */

import * as vscode from "vscode";
import type { Harness } from "../client";
import { showError } from "../errors";
import { showText } from "../pages";
import type { AgentList } from "./agentList";
import { type Agent, type AgentQuestion, type AgentType, type Changes, hasEnded, type Reply } from "./agentProtocol";
import type { AgentQuestions } from "./agentQuestions";
import type { AgentTerminals } from "./agentTerminal";
import { changesPage, cleanLine, describeAgent, describeChanges, describeQuestion, look } from "./agentText";

/** How long an agent may work on one message, in milliseconds. The user can interrupt it at any time. */
const SEND_TIMEOUT_MS = 3_600_000;

interface QuestionArgument {
  agent: Agent;
  question: AgentQuestion;
}

export class AgentCommands {
  constructor(
    private readonly harness: Harness,
    private readonly list: AgentList,
    private readonly terminals: AgentTerminals,
    private readonly questions: AgentQuestions,
  ) {}

  register(): vscode.Disposable {
    const commands: Record<string, (argument?: never) => unknown> = {
      spawn: () => this.spawn(),
      refresh: () => this.list.refresh(),
      send: (agent?: Agent) => this.with(agent, "Send a message to", live, (chosen) => this.send(chosen)),
      interrupt: (agent?: Agent) => this.with(agent, "Interrupt", live, ({ id }) => this.harness.request("runtimeInterrupt", { agentId: id })),
      stop: (agent?: Agent) => this.with(agent, "Stop", live, (chosen) => this.stop(chosen)),
      terminal: (agent?: Agent) => this.with(agent, "Show the terminal of", (each) => each.hasTerminal, (chosen) => this.terminals.show(chosen)),
      logs: (agent?: Agent) => this.with(agent, "Show the log of", () => true, (chosen) => this.showLog(chosen)),
      explain: (agent?: Agent) => this.with(agent, "Explain the state of", () => true, (chosen) => this.explain(chosen)),
      changes: (agent?: Agent) => this.with(agent, "Show the changes of", inWorktree, (chosen) => this.showChanges(chosen)),
      apply: (agent?: Agent) => this.with(agent, "Apply the changes of", inWorktree, (chosen) => this.apply(chosen)),
      discard: (agent?: Agent) => this.with(agent, "Discard the changes of", inWorktree, (chosen) => this.discard(chosen)),
      undo: (agent?: Agent) => this.with(agent, "Undo the changes of", inWorktree, (chosen) => this.change("runtimeUndo", chosen)),
      answer: (row?: QuestionArgument) => this.answer(row),
    };
    const registrations = Object.entries(commands).map(([name, handler]) =>
      vscode.commands.registerCommand(`lsp-harness.agents.${name}`, async (argument?: never) => {
        try {
          await handler(argument);
        } catch (error) {
          showError(error);
        }
      }),
    );
    return vscode.Disposable.from(...registrations);
  }

  /** Let the user choose a kind of agent, where it works and the first message, and start it. */
  private async spawn(): Promise<void> {
    const folder = await chooseFolder();
    if (folder === undefined) {
      return;
    }
    const types = this.harness.request<{ types: AgentType[] }>("runtimeTypes").then(({ types: found }) => found.map(typeEntry));
    const type = await vscode.window.showQuickPick(types, { title: "Start an agent", placeHolder: "Which one?", matchOnDescription: true });
    if (type === undefined) {
      return;
    }
    const place = await vscode.window.showQuickPick(PLACES, { title: `Start ${type.type.type}`, placeHolder: "Where does it work?" });
    if (place === undefined) {
      return;
    }
    const request = { type: type.type.type, uri: folder.uri.toString(), isolation: place.isolation, terminal: place.terminal };
    const title = `Starting ${type.type.type}`;
    const agent = await vscode.window.withProgress({ location: vscode.ProgressLocation.Notification, title }, () => this.harness.request<Agent>("runtimeSpawn", request));
    await this.list.refresh();
    if (agent.hasTerminal) {
      this.terminals.show(agent);
    } else {
      await vscode.commands.executeCommand("lsp-harness.agents.focus");
    }
  }

  /** Ask for a message and show the answer. The progress can be cancelled, which interrupts the agent. */
  private async send(agent: Agent): Promise<void> {
    const name = cleanLine(agent.name, 40);
    const message = await vscode.window.showInputBox({ title: `Message to ${name}`, prompt: "What should it do? It asks before it changes a file or runs a command.", ignoreFocusOut: true });
    if (!message?.trim()) {
      return;
    }
    const queue = agent.status === "busy";
    const reply = await vscode.window.withProgress({ location: vscode.ProgressLocation.Notification, title: `${name} works`, cancellable: true }, (progress, cancellation) => {
      const subscription = this.list.onChange(() => {
        const present = this.list.find(agent.id);
        if (present) {
          progress.report({ message: describeAgent(present) });
        }
      });
      cancellation.onCancellationRequested(() => this.harness.request("runtimeInterrupt", { agentId: agent.id }).catch(showError));
      const request = { agentId: agent.id, message: message.trim(), queue, timeoutMs: SEND_TIMEOUT_MS };
      return this.harness.request<Reply>("runtimeSend", request).finally(() => subscription.dispose());
    });
    if (!reply.submitted) {
      void vscode.window.showWarningMessage(`lsp-harness: ${name} did not take the message; look at its terminal`);
    } else if (reply.response.trim()) {
      await showText(`Answer of ${name}`, reply.response);
    }
  }

  private async stop(agent: Agent): Promise<void> {
    const title = `Stopping ${cleanLine(agent.name, 40)}`;
    await vscode.window.withProgress({ location: vscode.ProgressLocation.Window, title }, () => this.harness.request("runtimeStop", { agentId: agent.id }));
    await this.list.refresh();
  }

  private async showLog(agent: Agent): Promise<void> {
    const { lines } = await this.harness.request<{ lines: string[] }>("runtimeLogs", { agentId: agent.id, lines: 1000 });
    await showText(`Log of ${cleanLine(agent.name, 40)}`, lines.join("\n"));
  }

  private async explain(agent: Agent): Promise<void> {
    const facts = await this.harness.request<object>("runtimeExplain", { agentId: agent.id });
    await showText(`State of ${cleanLine(agent.name, 40)}`, JSON.stringify(facts, null, 2));
  }

  private async showChanges(agent: Agent): Promise<void> {
    const changes = await this.review(agent);
    if (changes) {
      await showText(`Changes of ${cleanLine(agent.name, 40)}`, changesPage(changes), "diff");
    }
  }

  /** Show the verdict, and apply exactly what it is about. */
  private async apply(agent: Agent): Promise<void> {
    const changes = await this.review(agent);
    if (changes === undefined) {
      return;
    }
    const [apply, show] = ["Apply", "Show Changes"];
    const name = cleanLine(agent.name, 40);
    const button = changes.passed
      ? await vscode.window.showInformationMessage(`Apply the changes of ${name}? ${describeChanges(changes)}`, { modal: true }, apply, show)
      : await vscode.window.showWarningMessage(`lsp-harness: the changes of ${name} do not pass: ${describeChanges(changes)}`, show);
    if (button === apply) {
      await this.change("runtimeApply", agent, { reviewId: changes.reviewId });
    } else if (button === show) {
      await showText(`Changes of ${name}`, changesPage(changes), "diff");
    }
  }

  /** Let the server verify what an agent changed. Return undefined, and say so, if it changed nothing. */
  private async review(agent: Agent): Promise<Changes | undefined> {
    const title = `Checking the changes of ${cleanLine(agent.name, 40)}`;
    const request = () => this.harness.request<Changes>("runtimeChanges", { agentId: agent.id });
    const changes = await vscode.window.withProgress({ location: vscode.ProgressLocation.Window, title }, request);
    if (changes.files.length > 0 || Object.keys(changes.leftOut).length > 0) {
      return changes;
    }
    void vscode.window.showInformationMessage(`lsp-harness: ${cleanLine(agent.name, 40)} changed nothing`);
    return undefined;
  }

  private async change(name: "runtimeApply" | "runtimeUndo" | "runtimeDiscard", agent: Agent, fields: object = {}): Promise<void> {
    const { text } = await this.harness.request<{ text: string }>(name, { agentId: agent.id, ...fields });
    void vscode.window.showInformationMessage(`lsp-harness: ${cleanLine(text)}`);
    await this.list.refresh();
  }

  private async discard(agent: Agent): Promise<void> {
    const button = "Discard";
    const question = `Discard all that ${cleanLine(agent.name, 40)} changed? Its worktree and its branch are removed.`;
    if ((await vscode.window.showWarningMessage(question, { modal: true }, button)) === button) {
      await this.change("runtimeDiscard", agent);
    }
  }

  private async answer(row?: QuestionArgument): Promise<void> {
    const open = this.list.all.flatMap((agent) => (agent.questions ?? []).map((question) => ({ agent, question })));
    const asked = row ?? (open.length === 1 ? open[0] : await chooseQuestion(open));
    if (asked) {
      await this.questions.ask(asked.agent, asked.question);
    }
  }

  /** Run something with the agent of a row, or with one that the user chooses. */
  private async with(agent: Agent | undefined, title: string, isPossible: (agent: Agent) => boolean, run: (agent: Agent) => unknown): Promise<void> {
    if (agent === undefined) {
      await this.list.refresh();
    }
    const chosen = agent ?? (await chooseAgent(title, this.list.all.filter(isPossible)));
    if (chosen) {
      await run(chosen);
    }
  }
}

const live = (agent: Agent): boolean => !hasEnded(agent);
const inWorktree = (agent: Agent): boolean => agent.isolation === "worktree";

const PLACES = [
  { label: "$(git-branch) In a worktree of its own", detail: "You see its changes, checked, before they are applied. Needs git.", isolation: "worktree", terminal: false },
  { label: "$(folder) In this folder", detail: "It changes your files. The changes are checked, and shown as diagnostics.", isolation: "none", terminal: false },
  { label: "$(terminal) In this folder, in a terminal", detail: "You use it as in a shell.", isolation: "none", terminal: true },
];

interface TypeEntry extends vscode.QuickPickItem {
  type: AgentType;
}

function typeEntry(type: AgentType): TypeEntry {
  const facts = type.isInstalled ? [type.version, type.auth === "missing" ? "not logged in" : "", type.isRecorded ? "" : "not a recorded version"] : ["not installed"];
  return { type, label: `$(${type.isInstalled ? "robot" : "cloud-download"}) ${type.type}`, description: facts.filter(Boolean).join(", "), ...(type.hint ? { detail: type.hint } : {}) };
}

async function chooseFolder(): Promise<vscode.WorkspaceFolder | undefined> {
  const folders = vscode.workspace.workspaceFolders ?? [];
  if (folders.length === 0) {
    void vscode.window.showInformationMessage("lsp-harness: open a folder first; an agent works in one.");
    return undefined;
  }
  return folders.length === 1 ? folders[0] : vscode.window.showWorkspaceFolderPick({ placeHolder: "The folder of the agent" });
}

async function chooseAgent(title: string, agents: readonly Agent[]): Promise<Agent | undefined> {
  if (agents.length === 0) {
    void vscode.window.showInformationMessage("lsp-harness: there is no agent for that. Start one first.");
    return undefined;
  }
  const entries = agents.map((agent) => ({ label: `$(${look(agent).icon}) ${cleanLine(agent.name, 40)}`, description: describeAgent(agent), agent }));
  return agents.length === 1 ? agents[0] : (await vscode.window.showQuickPick(entries, { title: `${title} which agent?` }))?.agent;
}

async function chooseQuestion(open: QuestionArgument[]): Promise<QuestionArgument | undefined> {
  if (open.length === 0) {
    void vscode.window.showInformationMessage("lsp-harness: no agent asks anything.");
    return undefined;
  }
  const entries = open.map((row) => ({ label: cleanLine(row.agent.name, 40), description: describeQuestion(row.question), row }));
  return (await vscode.window.showQuickPick(entries, { title: "Answer which question?" }))?.row;
}
