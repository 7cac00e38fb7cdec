/** The types of agents in the protocol. They mirror docs/lsp-extensions.md. */

export const EVENT_NOTIFICATION = "$/lspHarness/event";
export const QUESTION_NOTIFICATION = "$/lspHarness/question";

export type AgentStatus =
  | "pending"
  | "starting"
  | "authenticating"
  | "ready"
  | "busy"
  | "blocked"
  | "unknown"
  | "stopping"
  | "stopped"
  | "error";

export interface AgentState {
  status: AgentStatus;
  /** Who knows it: `transport`, `hook`, `osc`, `title`, `screen`, `stall` or `process`. */
  source: string;
  rule: string;
  kind: string;
  message: string;
}

/** A question that an agent waits for. Its texts come from the agent and are not trusted. */
export interface AgentQuestion {
  questionId: string;
  kind: string;
  question: string;
  tool: string;
  input: Record<string, unknown>;
  options: string[];
  loginUrl: string;
  /** All of the question and of what it is about, in a form that hides nothing. An older server has none. */
  text?: string;
}

export interface Agent {
  id: string;
  name: string;
  type: string;
  status: AgentStatus;
  state: AgentState;
  workdir: string;
  transport: string;
  isolation: string;
  hasTerminal: boolean;
  openQuestions: number;
  queue?: unknown[];
  exitCode: number | null;
  /** The open questions, in the answer of `runtime.list`. */
  questions?: AgentQuestion[];
}

/** A kind of agent, from `runtime.types`. */
export interface AgentType {
  type: string;
  transports: string[];
  program: string;
  version: string;
  isInstalled: boolean;
  isRecorded: boolean;
  auth: string;
  hint: string;
}

/** An event of an agent. Events of sessions have `type` instead of `event`. */
export interface AgentEvent {
  event: string;
  agentId: string;
  seq: number;
  data: { agent?: Agent; error?: { code: string; message: string; resolution: string }; reason?: string } & Partial<AgentQuestion>;
}

/** A question that the user must answer, with its agent. */
export interface AskedQuestion extends AgentQuestion {
  agentId: string;
  agent: Agent;
}

export interface Reply {
  sent: boolean;
  submitted: boolean;
  response: string;
  queued: boolean;
}

/** What an agent changed in its own worktree, with the outcome of the checks. */
export interface Changes {
  reviewId: string;
  passed: boolean;
  verdict: string;
  findings: string[];
  files: { path: string; kind: "created" | "changed" | "removed" }[];
  /** Path → why it is neither checked nor applied. */
  leftOut: Record<string, string>;
  /** The diff. */
  text: string;
}

export interface Attached {
  viewerId: string;
  columns: number;
  rows: number;
}

export interface Piece {
  /** Bytes in base64. Empty if nothing came for a while. */
  data: string;
  isEnd: boolean;
  /** Why it ended. */
  reason: string;
}

export const ENDED: readonly AgentStatus[] = ["stopped", "error"];

export const hasEnded = (agent: Agent): boolean => ENDED.includes(agent.status);
