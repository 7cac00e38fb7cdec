/** The commands of the server. Generated from lsp_harness/server/commands by `make docs`; do not edit. */

import type { ForwardedCommand } from "./protocol";

/** The names in the protocol. The capabilities of the server list the ones that it has. */
export const Command = {
  accepted: "lspHarness.accepted",
  applied: "lspHarness.applied",
  context: "lspHarness.context",
  dismissed: "lspHarness.dismissed",
  docstring: "lspHarness.docstring",
  explain: "lspHarness.explain",
  fix: "lspHarness.fix",
  instruct: "lspHarness.instruct",
  locate: "lspHarness.locate",
  models: "lspHarness.models",
  pause: "lspHarness.pause",
  pullModel: "lspHarness.pullModel",
  restartEngine: "lspHarness.restartEngine",
  statistics: "lspHarness.statistics",
  status: "lspHarness.status",
  tests: "lspHarness.tests",
  why: "lspHarness.why",
} as const;
export type CommandName = keyof typeof Command;

/** The commands of the palette that need no code of their own, by the end of their names. */
export const FORWARDED_COMMANDS: Record<string, ForwardedCommand> = {
  context: { command: "lspHarness.context", handler: "text", resultTitle: "Context", sendsSelection: true },
  docstring: { command: "lspHarness.docstring", handler: "edit", resultTitle: "Docstring", sendsSelection: true },
  explain: { command: "lspHarness.explain", handler: "text", resultTitle: "Explanation", sendsSelection: true },
  tests: { command: "lspHarness.tests", handler: "edit", resultTitle: "Tests", sendsSelection: true },
};
