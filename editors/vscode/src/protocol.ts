/** What is lsp-harness's own on the wire: the mirror of docs/lsp-extensions.md. */

export const SECTION = "lspHarness";
export const VERDICT_SCHEME = "lsp-harness-verdict";

export const STATUS_NOTIFICATION = "lspHarness/status";
export const DID_MOVE_CURSOR = "lspHarness/didMoveCursor";
export const DID_FOCUS = "lspHarness/didFocus";

/** Commands of the server; which of them there are, it says in its capabilities. */
export const Command = {
  context: "lspHarness.context",
  dismissed: "lspHarness.dismissed",
  docstring: "lspHarness.docstring",
  explain: "lspHarness.explain",
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

/** Run by this client when a code action of the server names it. */
export const ASK_INSTRUCTION = "lspHarness.askInstruction";

export interface Place {
  uri: string;
  range: { start: { line: number; character: number }; end: { line: number; character: number } };
}

/** Lines that a task may be about. */
export interface Site extends Place {
  path: string;
  /** Empty where they are in no declaration. */
  symbol: string;
  kind: string;
  signature: string;
  reasons: string[];
}

export interface Located {
  candidates: Site[];
  chosen: number;
  by: "index" | "model";
}

export type EngineState = "off" | "starting" | "ready" | "busy" | "failed";
export type Paused = false | "here" | "everywhere";

export interface Completion {
  prompt_tokens: number;
  evaluated: number;
  reused: number;
  generated: number;
  ms: number;
  cached?: boolean;
  typed_along?: boolean;
}

export interface Counts {
  shown: number;
  accepted: number;
  accepted_partly: number;
  typed_through: number;
  dismissed: number;
}

export interface Status {
  engine: EngineState;
  model: string | null;
  message: string | null;
  paused: Paused;
  trusted: boolean;
  last: Completion | null;
  /** Documents without a syntax tree, because parsing them costs too much. */
  unparsed?: { uri: string; why: string }[];
  statistics: Counts;
}

export interface Model {
  name: string;
  bytes: number | null;
  licence: string;
  present: boolean;
  current: boolean;
  kind: "completion" | "embedding";
  title?: string;
  note?: string | null;
}

export interface Statistics extends Counts {
  survived: number;
  since: string;
}

/** What became of an edit that the server made by itself. */
export interface Edited {
  applied: boolean;
  summary?: string | null;
  failureReason?: string | null;
  verdict?: string | null;
}

export interface Answer {
  text: string;
}
