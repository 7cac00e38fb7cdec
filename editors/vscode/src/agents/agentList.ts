/** The agents of the server. They are listed again after each event, so that what is shown is what the server has. */

import * as vscode from "vscode";
import type { Harness } from "../client";
import type { Agent, AgentEvent } from "./agentProtocol";

/** Events come in bursts, so that one list answers many of them. */
const REFRESH_DELAY_MS = 80;

export class AgentList implements vscode.Disposable {
  private agents: Agent[] = [];
  private timer: NodeJS.Timeout | undefined;
  private readonly changeEmitter = new vscode.EventEmitter<void>();
  private readonly eventEmitter = new vscode.EventEmitter<AgentEvent>();
  private readonly subscriptions: vscode.Disposable[];

  /** Fires when the agents, their states or their questions have changed. */
  readonly onChange = this.changeEmitter.event;
  /** Fires with each event of an agent. */
  readonly onEvent = this.eventEmitter.event;

  constructor(private readonly harness: Harness) {
    this.subscriptions = [
      harness.onAgentEvent((event) => {
        this.eventEmitter.fire(event);
        this.refreshSoon();
      }),
      harness.onQuestion(() => this.refreshSoon()),
      // agents end with their server
      harness.onChange(() => harness.state.server !== "running" && this.set([])),
    ];
  }

  get all(): readonly Agent[] {
    return this.agents;
  }

  find(id: string): Agent | undefined {
    return this.agents.find((agent) => agent.id === id);
  }

  /** List the agents now. */
  async refresh(): Promise<void> {
    this.set((await this.harness.request<{ agents: Agent[] }>("runtimeList")).agents);
  }

  private refreshSoon(): void {
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      this.refresh().catch((error: unknown) => this.harness.log.debug(`listing the agents failed: ${String(error)}`));
    }, REFRESH_DELAY_MS);
  }

  private set(agents: Agent[]): void {
    if (this.agents.length > 0 || agents.length > 0) {
      this.agents = agents;
      this.changeEmitter.fire();
    }
  }

  dispose(): void {
    clearTimeout(this.timer);
    vscode.Disposable.from(...this.subscriptions, this.changeEmitter, this.eventEmitter).dispose();
  }
}
