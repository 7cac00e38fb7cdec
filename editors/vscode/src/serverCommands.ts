/** The commands of the server: those that this extension uses by name, and those that package.json lists. */

/** The names in the protocol that the code uses. The capabilities of the server list the ones that it has. */
export const Command = {
  agentRun: "lspHarness.agent.run",
  dismissed: "lspHarness.dismissed",
  instruct: "lspHarness.instruct",
  locate: "lspHarness.locate",
  models: "lspHarness.models",
  pause: "lspHarness.pause",
  pullModel: "lspHarness.pullModel",
  restartEngine: "lspHarness.restartEngine",
  runtimeAnswer: "lspHarness.runtime.answer",
  runtimeApply: "lspHarness.runtime.apply",
  runtimeAttach: "lspHarness.runtime.attach",
  runtimeChanges: "lspHarness.runtime.changes",
  runtimeDetach: "lspHarness.runtime.detach",
  runtimeDiscard: "lspHarness.runtime.discard",
  runtimeExplain: "lspHarness.runtime.explain",
  runtimeInterrupt: "lspHarness.runtime.interrupt",
  runtimeList: "lspHarness.runtime.list",
  runtimeLogs: "lspHarness.runtime.logs",
  runtimePress: "lspHarness.runtime.press",
  runtimeRead: "lspHarness.runtime.read",
  runtimeResize: "lspHarness.runtime.resize",
  runtimeSend: "lspHarness.runtime.send",
  runtimeSpawn: "lspHarness.runtime.spawn",
  runtimeStop: "lspHarness.runtime.stop",
  runtimeTypes: "lspHarness.runtime.types",
  runtimeUndo: "lspHarness.runtime.undo",
  statistics: "lspHarness.statistics",
  why: "lspHarness.why",
} as const;
export type CommandName = keyof typeof Command;

/** A command of the palette that the extension only sends to the server, and whose result it shows. */
export interface ForwardedCommand {
  command: string;
  /** How the result is shown: `text` is a page, `edit` reports an edit that was not applied. */
  handler: "text" | "edit";
  /** The title of the page. */
  resultTitle: string;
  /** Whether the argument is a `Place`. Otherwise there is none. */
  sendsSelection: boolean;
}

/** The forwarded commands, by the end of their names. */
export type ForwardedCommands = Readonly<Record<string, ForwardedCommand>>;

/** Return the forwarded commands in package.json, which `make docs` writes. A new one needs no code here. */
export function forwardedCommands(packageJson: { lspHarness: { forwardedCommands: ForwardedCommands } }): ForwardedCommands {
  return packageJson.lspHarness.forwardedCommands;
}

/** Return the names in the protocol of all commands that this extension knows, by the end of their names. */
export function knownCommands(forwarded: ForwardedCommands): Record<string, string> {
  const names = Object.entries(forwarded).map(([name, { command }]) => [name, command]);
  return { ...Command, ...Object.fromEntries(names) };
}
