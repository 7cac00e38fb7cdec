/** Formats the state of the server for the status bar. Pure functions without VS Code. */

import type { Status } from "./protocol";
import { checkerLine, typeResult } from "./typeChecks";

export type ServerState = "missing" | "starting" | "running" | "restarting" | "failed" | "crashed";

export interface HarnessState {
  server: ServerState;
  reason?: string;
  /** Absent until the server has sent one. Older servers send none. */
  status?: Status;
}

export interface StatusText {
  text: string;
  tooltip: string;
  level: "plain" | "warning" | "error";
}

const NAME = "lsp-harness";

const WITHOUT_STATUS: Record<ServerState, StatusText> = {
  missing: line("$(cloud-download) lsp-harness", "The server is not installed. Click to install it.", "warning"),
  starting: line("$(loading~spin) lsp-harness", "The server is starting."),
  running: line("$(sparkle) lsp-harness", "The server is running."),
  restarting: line("$(loading~spin) lsp-harness", "The server stopped unexpectedly and is being started again.", "warning"),
  failed: line("$(error) lsp-harness", "The server did not start.", "error"),
  crashed: line("$(error) lsp-harness", "The server stopped several times and was not started again.", "error"),
};

function line(text: string, sentence: string, level: StatusText["level"] = "plain"): StatusText {
  return { text, tooltip: `**${NAME}**\n\n${sentence}`, level };
}

export function statusText({ server, reason, status }: HarnessState): StatusText {
  if (server !== "running" || status === undefined) {
    const text = WITHOUT_STATUS[server];
    return reason ? { ...text, tooltip: `${text.tooltip}\n\n${escapeMarkdown(reason)}` } : text;
  }
  const model = status.model === null ? NAME : modelName(status.model);
  return { text: barText(status, model), tooltip: tooltip(status), level: status.engine === "failed" ? "error" : "plain" };
}

function barText(status: Status, model: string): string {
  if (status.engine === "failed") {
    return `$(error) ${model}`;
  }
  if (status.paused !== false) {
    return `$(debug-pause) ${model} paused`;
  }
  const reused = status.last === null ? "" : ` ⟲ ${status.last.reused}`;
  const icon = { off: "circle-outline", starting: "loading~spin", ready: "sparkle", busy: "sync~spin" }[status.engine];
  return `$(${icon}) ${model}${reused}`;
}

const ENGINE_STATES = {
  off: "not started yet; it starts with the first suggestion",
  starting: "starting",
  ready: "ready",
  busy: "working",
  failed: "failed",
};

function tooltip(status: Status): string {
  const rows = [`**${NAME}**`, `Model: ${escapeMarkdown(status.model ?? "none")}  \nEngine: ${ENGINE_STATES[status.engine]}`];
  if (status.message) {
    rows.push(escapeMarkdown(status.message));
  }
  if (status.paused !== false) {
    rows.push(status.paused === "here" ? "Paused in this window." : "Paused in all windows.");
  }
  if (!status.trusted) {
    rows.push("This workspace is not trusted: you get only suggestions, and none of its programs are run.");
  }
  for (const { uri, why } of status.unparsed ?? []) {
    rows.push(`Only suggestions in ${escapeMarkdown(uri.slice(uri.lastIndexOf("/") + 1))}: ${escapeMarkdown(why)}.`);
  }
  if (status.last !== null) {
    const { prompt_tokens, evaluated, reused, generated, ms } = status.last;
    rows.push(
      "Last suggestion\n\n| | tokens |\n|---|---:|\n" +
        `| prompt | ${prompt_tokens} |\n| evaluated | ${evaluated} |\n| reused | ${reused} |\n| generated | ${generated} |\n\n` +
        `in ${Math.round(ms)} ms${origin(status.last)}`,
    );
    rows.push(escapeMarkdown(typeResult(status.last) ?? ""));
  }
  rows.push(...(status.types ?? []).map((checker) => escapeMarkdown(checkerLine(checker))));
  const { shown, accepted, accepted_partly, typed_through, dismissed } = status.statistics;
  rows.push(
    `Since this window was opened: ${shown} shown, ${accepted} accepted, ${accepted_partly} in part, ` +
      `${typed_through} typed through, ${dismissed} dismissed`,
  );
  return rows.filter(Boolean).join("\n\n");
}

function origin(last: { cached?: boolean; typed_along?: boolean }): string {
  return last.typed_along ? ", typed along" : last.cached ? ", from the cache" : "";
}

/** Return the name of a model file without its folder and extension, because the status bar has little room. */
export function modelName(model: string): string {
  const name = model.replace(/\\/g, "/").split("/").pop() ?? model;
  return name.replace(/\.gguf$/, "");
}

/** Escape Markdown, because the server's messages may quote code, which must not become a link or an image. */
export function escapeMarkdown(text: string): string {
  return text.replace(/[\\`*_{}[\]()#+!|<>~$-]/g, "\\$&").replace(/\n/g, "  \n");
}
