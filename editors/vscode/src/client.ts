/** Starts and restarts the server of this window, and sends requests to it. */

import * as vscode from "vscode";
import { CloseAction, type CodeAction, CodeActionResolveRequest, ErrorAction, LanguageClient, type Middleware, State, type StaticFeature, type WorkspaceEdit } from "vscode-languageclient/node";
import { type AgentEvent, type AskedQuestion, EVENT_NOTIFICATION, QUESTION_NOTIFICATION } from "./agents/agentProtocol";
import { CrashCounter } from "./crashes";
import { ASK_INSTRUCTION, SECTION, STATUS_NOTIFICATION, type Status } from "./protocol";
import { RestartQueue } from "./restartQueue";
import { findServer } from "./server";
import { Command, type CommandName, type ForwardedCommands, forwardedCommands, knownCommands } from "./serverCommands";
import { type Settings, serverSettings } from "./settings";
import { type HarnessState } from "./statusText";

/** Documents of every language, but only files and texts that will become files. */
export const SELECTOR = [{ scheme: "file" }, { scheme: "untitled" }];

const NOT_RUNNING = "the lsp-harness server is not running";

/** Announce in `initialize` the client capabilities that are not part of LSP. */
const extraCapabilities: StaticFeature = {
  fillClientCapabilities(capabilities) {
    capabilities.experimental = {
      ...(capabilities.experimental as object | undefined),
      [SECTION]: { status: true, fallback: true, agents: true, questions: true, commands: [ASK_INSTRUCTION] },
    };
  },
  initialize() {},
  getState: () => ({ kind: "static" }),
  clear() {},
};

export class Harness implements vscode.Disposable {
  private client: LanguageClient | undefined;
  private readonly queue = new RestartQueue(() => this.startNewServer());
  private readonly changeEmitter = new vscode.EventEmitter<void>();
  private readonly agentEmitter = new vscode.EventEmitter<AgentEvent>();
  private readonly questionEmitter = new vscode.EventEmitter<AskedQuestion>();
  private currentState: HarnessState = { server: "starting" };

  /** Fires when `state` changes. */
  readonly onChange = this.changeEmitter.event;

  /** Fires with each event of an agent. */
  readonly onAgentEvent = this.agentEmitter.event;

  /** Fires when an agent asks what the user must answer. */
  readonly onQuestion = this.questionEmitter.event;

  /** The commands of the palette that need no code of their own. */
  readonly forwardedCommands: ForwardedCommands;

  /** `middleware` creates the language client's middleware. */
  constructor(
    private readonly context: vscode.ExtensionContext,
    private readonly settings: Settings,
    private readonly middleware: (harness: Harness) => Middleware,
    readonly log: vscode.LogOutputChannel,
  ) {
    this.forwardedCommands = forwardedCommands(context.extension.packageJSON);
  }

  /** The state of the server, for the status bar. */
  get state(): HarnessState {
    return this.currentState;
  }

  /** Start or restart the server. Calls during a restart share one further restart. */
  restart(): Promise<void> {
    return this.queue.run();
  }

  /** Return whether the running server has a command. An older server may not have it. */
  provides(name: CommandName): boolean {
    return this.executes(Command[name]);
  }

  /**
   * Execute a command of the server and return its result, which is not shown. Reject with the server's error
   * message.
   */
  request<T>(name: CommandName, ...args: unknown[]): Promise<T> {
    if (this.client === undefined || !this.provides(name)) {
      return Promise.reject(new Error(this.missingCommandMessage(name)));
    }
    return this.client.sendRequest<T>("workspace/executeCommand", { command: Command[name], arguments: args });
  }

  /** Send a notification, or drop it if no server runs. */
  notify(method: string, params: object): void {
    if (this.client?.state === State.Running) {
      this.client.sendNotification(method, params).catch((error: unknown) => this.log.debug(String(error)));
    }
  }

  /** Return a code action with its edit. Reject with the server's error message. */
  resolve(action: CodeAction): Promise<CodeAction> {
    return this.client?.sendRequest(CodeActionResolveRequest.type, action) ?? Promise.reject(new Error(NOT_RUNNING));
  }

  /** Apply an edit of the server. */
  async apply(edit: WorkspaceEdit): Promise<{ applied: boolean }> {
    const converted = await this.client?.protocol2CodeConverter.asWorkspaceEdit(edit);
    return { applied: converted !== undefined && (await vscode.workspace.applyEdit(converted)) };
  }

  /** Return the document and the cursor of an editor in LSP terms, or undefined if there is no client. */
  position(editor: vscode.TextEditor): { textDocument: { uri: string }; position: object } | undefined {
    const client = this.client;
    return client && {
      textDocument: { uri: client.code2ProtocolConverter.asUri(editor.document.uri) },
      position: client.code2ProtocolConverter.asPosition(editor.selection.active),
    };
  }

  /** Return whether the server receives this document. */
  serves(document: vscode.TextDocument): boolean {
    return vscode.languages.match(SELECTOR, document) > 0;
  }

  /** Whether the server has `workspace/textDocumentContent`. */
  get providesVerdicts(): boolean {
    return this.client?.initializeResult?.capabilities.workspace?.textDocumentContent !== undefined;
  }

  private executes(command: string): boolean {
    const commands = this.client?.initializeResult?.capabilities.executeCommandProvider?.commands;
    return this.client?.state === State.Running && (commands?.includes(command) ?? false);
  }

  private missingCommandMessage(name: CommandName): string {
    return this.client?.state === State.Running
      ? `this version of the server has no ${Command[name]}; update lsp-harness`
      : NOT_RUNNING;
  }

  private async startNewServer(): Promise<void> {
    await this.stop();
    const candidate = await findServer(this.context);
    if (candidate === undefined) {
      this.setState({ server: "missing" });
      return;
    }
    this.log.info(`starting ${[candidate.program, ...candidate.args].join(" ")}, found in ${candidate.source}`);
    const client = this.createClient(candidate.program, candidate.args);
    this.client = client;
    try {
      await client.start();
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      this.log.error(`the server did not start: ${reason}`);
      this.setState({ server: "failed", reason });
    }
  }

  private createClient(command: string, args: string[]): LanguageClient {
    const env = { ...process.env, ...serverSettings().environment };
    const crashes = new CrashCounter();
    const client = new LanguageClient(SECTION, "lsp-harness", { command, args, options: { env } }, {
      documentSelector: SELECTOR,
      outputChannel: this.log,
      // the middleware shows errors, and only those that the user waits for
      revealOutputChannelOn: 4,
      initializationOptions: () => ({ ...this.settings.forServer(), trusted: vscode.workspace.isTrusted }),
      errorHandler: {
        // The connection of a killed process may be reset before it is closed. By default the language client then
        // shuts down for good. With `Continue` the close of the connection follows and restarts the server.
        error: () => ({ action: ErrorAction.Continue, handled: true }),
        closed: () => {
          const mayRestart = crashes.recordCrash();
          this.log.warn(mayRestart ? "the server stopped unexpectedly; starting it again" : "the server stops too often; it is not started again");
          this.setState({ server: mayRestart ? "restarting" : "crashed" });
          return { action: mayRestart ? CloseAction.Restart : CloseAction.DoNotRestart, handled: true };
        },
      },
      middleware: this.middleware(this),
    });
    client.registerFeature(extraCapabilities);
    client.onNotification(STATUS_NOTIFICATION, (status: Status) => this.setState({ server: "running", status }));
    client.onNotification(EVENT_NOTIFICATION, (event: AgentEvent) => this.agentEmitter.fire(event));
    client.onNotification(QUESTION_NOTIFICATION, (question: AskedQuestion) => this.questionEmitter.fire(question));
    client.onDidChangeState(({ newState }) => {
      // between a crash and the restart the client is stopped, but `closed` has already set a more exact state
      const isRestarting = this.currentState.server === "restarting";
      if (newState === State.Running) {
        this.setState({ server: "running" });
      } else if (newState === State.Starting && !isRestarting) {
        this.setState({ server: "starting" });
      } else if (newState === State.StartFailed && isRestarting) {
        this.setState({ server: "crashed" });
      } else if (newState === State.Stopped && !isRestarting && this.client === client) {
        // this extension did not stop it
        this.setState({ server: "crashed" });
      }
    });
    return client;
  }

  private setState(state: HarnessState): void {
    this.currentState = state;
    void vscode.commands.executeCommand("setContext", "lsp-harness.running", state.server === "running");
    if (state.server === "running" && state.status === undefined) {
      for (const [name, command] of Object.entries(knownCommands(this.forwardedCommands))) {
        void vscode.commands.executeCommand("setContext", `lsp-harness.can.${name}`, this.executes(command));
      }
    }
    this.changeEmitter.fire();
  }

  private async stop(): Promise<void> {
    const client = this.client;
    this.client = undefined;
    this.setState({ server: "starting" });
    // the client kills a server that does not stop in time; the error of a dead server is of no interest
    await client?.dispose().catch((error: unknown) => this.log.debug(`stopping the server: ${String(error)}`));
  }

  async shutdown(): Promise<void> {
    await this.client?.dispose().catch(() => undefined);
  }

  dispose(): void {
    this.changeEmitter.dispose();
    this.agentEmitter.dispose();
    this.questionEmitter.dispose();
  }
}
