/** The terminals of agents. Closing one does not end its agent. */

import * as vscode from "vscode";
import type { Harness } from "../client";
import type { Agent, Attached, Piece } from "./agentProtocol";
import { cleanLine } from "./agentText";
import { PieceReader } from "./pieceReader";

const toBase64 = (text: string): string => Buffer.from(text, "utf8").toString("base64");
const DEFAULT_SIZE = { columns: 120, rows: 40 };
const DIM = (text: string): string => `\r\n\x1b[0;2m${text}\x1b[0m\r\n`;

class AgentPseudoterminal implements vscode.Pseudoterminal {
  private readonly writeEmitter = new vscode.EventEmitter<string>();
  private readonly closeEmitter = new vscode.EventEmitter<void>();
  private readonly reader: PieceReader;
  private hasEnded = false;
  readonly onDidWrite = this.writeEmitter.event;
  readonly onDidClose = this.closeEmitter.event;

  constructor(
    private readonly harness: Harness,
    private readonly agentId: string,
  ) {
    this.reader = new PieceReader({
      attach: (columns, rows) => harness.request<Attached>("runtimeAttach", { agentId, columns, rows }),
      read: (viewerId) => harness.request<Piece>("runtimeRead", { viewerId }),
      detach: (viewerId) => harness.request("runtimeDetach", { viewerId }),
    });
  }

  open(size: vscode.TerminalDimensions | undefined): void {
    const { columns, rows } = size ?? DEFAULT_SIZE;
    void this.follow(columns, rows);
  }

  private async follow(columns: number, rows: number): Promise<void> {
    let reason: string;
    try {
      reason = await this.reader.run(columns, rows, (text) => this.writeEmitter.fire(text));
    } catch (error) {
      reason = error instanceof Error ? error.message : String(error);
    }
    this.hasEnded = true;
    this.writeEmitter.fire(DIM(`[${cleanLine(reason) || "the agent has ended"}; press a key to close]`));
  }

  handleInput(keys: string): void {
    if (this.hasEnded) {
      this.closeEmitter.fire();
      return;
    }
    this.send("runtimePress", { keys: toBase64(keys) });
  }

  setDimensions({ columns, rows }: vscode.TerminalDimensions): void {
    if (!this.hasEnded) {
      this.send("runtimeResize", { columns, rows });
    }
  }

  close(): void {
    this.reader.close();
  }

  private send(name: "runtimePress" | "runtimeResize", fields: object): void {
    this.harness.request(name, { agentId: this.agentId, ...fields }).catch((error: unknown) => this.harness.log.debug(`${name}: ${String(error)}`));
  }
}

/** Shows one terminal for each agent. */
export class AgentTerminals implements vscode.Disposable {
  private readonly terminals = new Map<string, vscode.Terminal>();
  private readonly subscription = vscode.window.onDidCloseTerminal((closed) => {
    for (const [id, terminal] of this.terminals) {
      if (terminal === closed) {
        this.terminals.delete(id);
      }
    }
  });

  constructor(private readonly harness: Harness) {}

  show(agent: Agent): void {
    let terminal = this.terminals.get(agent.id);
    if (terminal === undefined) {
      const name = cleanLine(agent.name, 40);
      terminal = vscode.window.createTerminal({ name, iconPath: new vscode.ThemeIcon("robot"), pty: new AgentPseudoterminal(this.harness, agent.id), isTransient: true });
      this.terminals.set(agent.id, terminal);
    }
    terminal.show();
  }

  dispose(): void {
    this.subscription.dispose();
    this.terminals.forEach((terminal) => terminal.dispose());
  }
}
