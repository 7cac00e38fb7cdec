/** Asks the user what agents ask: for permissions, for answers, and whether a login may be opened in the browser. */

import * as vscode from "vscode";
import type { Harness } from "../client";
import { showError } from "../errors";
import type { AgentList } from "./agentList";
import type { Agent, AgentEvent, AgentQuestion } from "./agentProtocol";
import type { AgentTerminals } from "./agentTerminal";
import { cleanLine, describeQuestion, foldQuestion, isPermission, loginAddress } from "./agentText";

const ALLOW = "Allow";
const DENY = "Deny";
const ANSWER = "Answer…";
const TERMINAL = "Show Terminal";
const OPEN = "Open in Browser";
const SHOW_ALL = "Show All";

export class AgentQuestions implements vscode.Disposable {
  private readonly subscriptions: vscode.Disposable[];

  constructor(
    private readonly harness: Harness,
    list: AgentList,
    private readonly terminals: AgentTerminals,
  ) {
    this.subscriptions = [
      harness.onQuestion((question) => void this.notify(question.agent, question).catch(showError)),
      list.onEvent((event) => this.showFailure(event)),
    ];
  }

  /** Ask the user and send the answer. Nothing is sent if the user closes the question. */
  async ask(agent: Agent, question: AgentQuestion): Promise<void> {
    if (question.kind === "auth") {
      await this.askLogin(agent, question);
    } else if (isPermission(question)) {
      await this.askPermission(agent, question);
    } else {
      await this.askText(agent, question);
    }
  }

  private async notify(agent: Agent, question: AgentQuestion): Promise<void> {
    if (question.kind === "auth" || isPermission(question)) {
      await this.ask(agent, question);
      return;
    }
    const terminal = agent.hasTerminal ? [TERMINAL] : [];
    const button = await vscode.window.showInformationMessage(`${cleanLine(agent.name, 40)} asks: ${describeQuestion(question)}`, ANSWER, ...terminal);
    if (button === ANSWER) {
      await this.askText(agent, question);
    } else if (button === TERMINAL) {
      this.terminals.show(agent);
    }
  }

  private async askPermission(agent: Agent, question: AgentQuestion): Promise<void> {
    const { message, isWhole } = foldQuestion(question);
    const others = [...(isWhole ? [] : [SHOW_ALL]), ...(agent.hasTerminal ? [TERMINAL] : [])];
    const button = await vscode.window.showWarningMessage(`${cleanLine(agent.name, 40)} asks: ${message}`, ALLOW, DENY, ...others);
    if (button === SHOW_ALL) {
      await vscode.window.showTextDocument(await vscode.workspace.openTextDocument({ content: question.text ?? "" }), { preview: true });
      await this.askPermission(agent, question);
    } else if (button === TERMINAL) {
      this.terminals.show(agent);
    } else if (button !== undefined) {
      await this.answer(agent, question, { isAllowed: button === ALLOW, reason: button === DENY ? "the user denied it" : "" });
    }
  }

  private async askText(agent: Agent, question: AgentQuestion): Promise<void> {
    const title = `${cleanLine(agent.name, 40)} asks`;
    const text =
      question.options.length > 0
        ? await vscode.window.showQuickPick(question.options.map((option) => cleanLine(option)), { title, placeHolder: describeQuestion(question), ignoreFocusOut: true })
        : await vscode.window.showInputBox({ title, prompt: describeQuestion(question), ignoreFocusOut: true });
    if (text !== undefined) {
      // an option goes back as the agent wrote it
      const original = question.options.find((option) => cleanLine(option) === text) ?? text;
      await this.answer(agent, question, { isAllowed: true, text: original });
    }
  }

  private async askLogin(agent: Agent, question: AgentQuestion): Promise<void> {
    const address = loginAddress(question);
    const name = cleanLine(agent.name, 40);
    const buttons = [...(address ? [OPEN] : []), ...(agent.hasTerminal ? [TERMINAL] : [])];
    const where = address ? ` at ${new URL(address).host}` : "";
    const button = await vscode.window.showWarningMessage(`${name} wants you to log in${where}. ${cleanLine(question.question)}`.trim(), ...buttons);
    if (button === OPEN && address) {
      await vscode.env.openExternal(vscode.Uri.parse(address, true));
    } else if (button === TERMINAL) {
      this.terminals.show(agent);
    }
  }

  private async answer(agent: Agent, { questionId }: AgentQuestion, fields: object): Promise<void> {
    await this.harness.request("runtimeAnswer", { agentId: agent.id, questionId, ...fields });
  }

  private showFailure({ event, data }: AgentEvent): void {
    const name = cleanLine(data.agent?.name ?? "the agent", 40);
    if (event === "agent_error" && data.error) {
      void vscode.window.showErrorMessage(`lsp-harness: ${name}: ${cleanLine(data.error.message)} ${cleanLine(data.error.resolution)}`.trim());
    } else if (event === "approval_undelivered") {
      void vscode.window.showWarningMessage(`lsp-harness: ${name} did not take the answer; look at its terminal`);
    }
  }

  dispose(): void {
    vscode.Disposable.from(...this.subscriptions).dispose();
  }
}
