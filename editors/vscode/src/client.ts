/** The server of this window: started, restarted, asked. */

import * as vscode from "vscode";
import { CloseAction, type CodeAction, CodeActionResolveRequest, ErrorAction, LanguageClient, type Middleware, State, type StaticFeature, type WorkspaceEdit } from "vscode-languageclient/node";
import { Crashes } from "./crashes";
import { type Say } from "./present";
import { ASK_INSTRUCTION, Command, type CommandName, SECTION, STATUS_NOTIFICATION, type Status } from "./protocol";
import { Queue } from "./queue";
import { findServer } from "./server";
import { type Settings, serverSettings } from "./settings";

/** What files are served: any language, but only what is, or will be, a file. */
export const SELECTOR = [{ scheme: "file" }, { scheme: "untitled" }];

const GONE = "the lsp-harness server does not run";

/** Says in `initialize` what this client understands beyond LSP. */
const abilities: StaticFeature = {
  fillClientCapabilities(capabilities) {
    capabilities.experimental = {
      ...(capabilities.experimental as object | undefined),
      [SECTION]: { status: true, fallback: true, commands: [ASK_INSTRUCTION] },
    };
  },
  initialize() {},
  getState: () => ({ kind: "static" }),
  clear() {},
};

export class Harness implements vscode.Disposable {
  private client: LanguageClient | undefined;
  private readonly queue = new Queue(() => this.startAnew());
  private readonly changed = new vscode.EventEmitter<void>();
  private said: Say = { server: "starting" };

  /** Anything in `say` is another than it was. */
  readonly onChange = this.changed.event;

  /** `middleware` gives what stands between VS Code and a server of this. */
  constructor(
    private readonly context: vscode.ExtensionContext,
    private readonly settings: Settings,
    private readonly middleware: (harness: Harness) => Middleware,
    readonly log: vscode.LogOutputChannel,
  ) {}

  /** What the status bar has to say. */
  get say(): Say {
    return this.said;
  }

  /** Starts the server, or starts it again; requests meanwhile are one. */
  restart(): Promise<void> {
    return this.queue.run();
  }

  /** Whether the server that runs has this command. Servers of another version have others. */
  has(name: CommandName): boolean {
    const commands = this.client?.initializeResult?.capabilities.executeCommandProvider?.commands;
    return this.client?.state === State.Running && (commands?.includes(Command[name]) ?? false);
  }

  /** Executes a server's command without the interface around it. Rejects with the server's own sentence. */
  ask<T>(name: CommandName, ...args: unknown[]): Promise<T> {
    if (this.client === undefined || !this.has(name)) {
      return Promise.reject(new Error(this.missing(name)));
    }
    return this.client.sendRequest<T>("workspace/executeCommand", { command: Command[name], arguments: args });
  }

  /** Tells the server something it did not ask for; dropped where no server runs. */
  tell(method: string, params: object): void {
    if (this.client?.state === State.Running) {
      this.client.sendNotification(method, params).catch((error: unknown) => this.log.debug(String(error)));
    }
  }

  /** The code action with its edit. Rejects with the server's own sentence. */
  resolve(action: CodeAction): Promise<CodeAction> {
    return this.client?.sendRequest(CodeActionResolveRequest.type, action) ?? Promise.reject(new Error(GONE));
  }

  /** Makes an edit that the server has worked out. */
  async apply(edit: WorkspaceEdit): Promise<{ applied: boolean }> {
    const converted = await this.client?.protocol2CodeConverter.asWorkspaceEdit(edit);
    return { applied: converted !== undefined && (await vscode.workspace.applyEdit(converted)) };
  }

  position(editor: vscode.TextEditor): { textDocument: { uri: string }; position: object } | undefined {
    const client = this.client;
    return client && {
      textDocument: { uri: client.code2ProtocolConverter.asUri(editor.document.uri) },
      position: client.code2ProtocolConverter.asPosition(editor.selection.active),
    };
  }

  /** Whether this is a document the server was told of. */
  serves(document: vscode.TextDocument): boolean {
    return vscode.languages.match(SELECTOR, document) > 0;
  }

  get providesVerdicts(): boolean {
    return this.client?.initializeResult?.capabilities.workspace?.textDocumentContent !== undefined;
  }

  private missing(name: CommandName): string {
    return this.client?.state === State.Running
      ? `this version of the server has no ${Command[name]}; update lsp-harness`
      : GONE;
  }

  private async startAnew(): Promise<void> {
    await this.stop();
    const place = await findServer(this.context);
    if (place === undefined) {
      this.tellState({ server: "missing" });
      return;
    }
    this.log.info(`starting ${[place.program, ...place.args].join(" ")}, from ${place.from}`);
    const client = this.make(place.program, place.args);
    this.client = client;
    try {
      await client.start();
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      this.log.error(`the server did not start: ${why}`);
      this.tellState({ server: "failed", why });
    }
  }

  private make(command: string, args: string[]): LanguageClient {
    const env = { ...process.env, ...serverSettings().environment };
    const crashes = new Crashes();
    const client = new LanguageClient(SECTION, "lsp-harness", { command, args, options: { env } }, {
      documentSelector: SELECTOR,
      outputChannel: this.log,
      // failures are shown by the middleware, in the server's words and only where somebody waits
      revealOutputChannelOn: 4,
      initializationOptions: () => ({ ...this.settings.forServer(), trusted: vscode.workspace.isTrusted }),
      errorHandler: {
        // the connection of a process that was killed may be reset before it is closed. To shut down then, as the language
        // client does by itself, would be to stop for good; the end of the connection follows, and starts the server anew
        error: () => ({ action: ErrorAction.Continue, handled: true }),
        closed: () => {
          const again = crashes.again();
          this.log.warn(again ? "the server stopped by itself; starting it again" : "the server keeps stopping");
          this.tellState({ server: again ? "restarting" : "crashed" });
          return { action: again ? CloseAction.Restart : CloseAction.DoNotRestart, handled: true };
        },
      },
      middleware: this.middleware(this),
    });
    client.registerFeature(abilities);
    client.onNotification(STATUS_NOTIFICATION, (status: Status) => this.tellState({ server: "running", status }));
    client.onDidChangeState(({ newState }) => {
      // between a crash and the next start it is stopped, which `closed` has told better
      const again = this.said.server === "restarting";
      if (newState === State.Running) {
        this.tellState({ server: "running" });
      } else if (newState === State.Starting && !again) {
        this.tellState({ server: "starting" });
      } else if (newState === State.StartFailed && again) {
        this.tellState({ server: "crashed" });
      } else if (newState === State.Stopped && !again && this.client === client) {
        // nobody here asked for that
        this.tellState({ server: "crashed" });
      }
    });
    return client;
  }

  private tellState(say: Say): void {
    this.said = say;
    void vscode.commands.executeCommand("setContext", "lsp-harness.running", say.server === "running");
    if (say.server === "running" && say.status === undefined) {
      for (const name of Object.keys(Command) as CommandName[]) {
        void vscode.commands.executeCommand("setContext", `lsp-harness.can.${name}`, this.has(name));
      }
    }
    this.changed.fire();
  }

  private async stop(): Promise<void> {
    const client = this.client;
    this.client = undefined;
    this.tellState({ server: "starting" });
    // a server that does not stop in its time is killed by the client; a dead one has nothing to stop
    await client?.dispose().catch((error: unknown) => this.log.debug(`stopping the server: ${String(error)}`));
  }

  async shutdown(): Promise<void> {
    await this.client?.dispose().catch(() => undefined);
  }

  dispose(): void {
    this.changed.dispose();
  }
}
