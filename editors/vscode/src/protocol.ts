/**
 * The methods and types that lsp-harness adds to LSP. They mirror docs/lsp-extensions.md. The commands are in
 * serverCommands.ts.
 */

export const SECTION = "lspHarness";
export const VERDICT_SCHEME = "lsp-harness-verdict";

export const STATUS_NOTIFICATION = "lspHarness/status";
export const DID_MOVE_CURSOR = "lspHarness/didMoveCursor";
export const DID_FOCUS = "lspHarness/didFocus";

/** The command of this client that code actions of the server refer to. */
export const ASK_INSTRUCTION = "lspHarness.askInstruction";

export interface Place {
  uri: string;
  range: { start: { line: number; character: number }; end: { line: number; character: number } };
}

/** A place that a task may be about. */
export interface Site extends Place {
  path: string;
  /** The name of the declaration, or empty outside of declarations. */
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
  /** What the type gate did with it. Absent if there is no type checker for the language. */
  types?: TypeResult;
  types_ms?: number;
  types_reason?: string;
}

/** A type checker that was wanted so far. */
export interface TypeChecker {
  checker: string;
  folder: string;
  state: "off" | "starting" | "ready" | "missing" | "failed";
  /** Why it does not run, or an empty text. */
  reason: string;
}

export type TypeResult = "passed" | "cut" | "replaced" | "hidden" | "skipped";

/** How many suggestions had each result of the type gate. Older servers do not count all of them. */
type TypeCounts = Partial<Record<`types_${TypeResult}`, number>>;

export interface Counts extends TypeCounts {
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
  /** Documents without a syntax tree because they take too long to parse. */
  unparsed?: { uri: string; why: string }[];
  statistics: Counts;
  types?: TypeChecker[];
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

/** The outcome of an edit command, whose edit the server sends by itself. */
export interface Edited {
  applied: boolean;
  summary?: string | null;
  failureReason?: string | null;
  verdict?: string | null;
}

export interface Answer {
  text: string;
}

/** The end of a turn of a conversation, from `lspHarness.agent.run`. */
export interface TurnResult {
  sessionId: string;
  /** `completed`, or why the turn ended before. */
  reason: string;
  detail: string;
  text: string;
}
