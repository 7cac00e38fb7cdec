/** The words of the status bar. Pure: what is known goes in, what is shown comes out. */

import type { Status } from "./protocol";

export type ServerState = "missing" | "starting" | "running" | "restarting" | "failed" | "crashed";

export interface Say {
  server: ServerState;
  why?: string;
  /** Absent until the server has sent one; older servers never do. */
  status?: Status;
}

export interface Shown {
  text: string;
  tooltip: string;
  level: "plain" | "warning" | "error";
}

const NAME = "lsp-harness";

const WITHOUT_STATUS: Record<ServerState, Shown> = {
  missing: line("$(cloud-download) lsp-harness", "The server is not installed. Click to install it.", "warning"),
  starting: line("$(loading~spin) lsp-harness", "The server is starting."),
  running: line("$(sparkle) lsp-harness", "The server is running."),
  restarting: line("$(loading~spin) lsp-harness", "The server stopped by itself and is being started again.", "warning"),
  failed: line("$(error) lsp-harness", "The server did not start.", "error"),
  crashed: line("$(error) lsp-harness", "The server stopped several times and was not started again.", "error"),
};

function line(text: string, said: string, level: Shown["level"] = "plain"): Shown {
  return { text, tooltip: `**${NAME}**\n\n${said}`, level };
}

export function present({ server, why, status }: Say): Shown {
  if (server !== "running" || status === undefined) {
    const shown = WITHOUT_STATUS[server];
    return why ? { ...shown, tooltip: `${shown.tooltip}\n\n${escaped(why)}` } : shown;
  }
  const model = status.model === null ? NAME : short(status.model);
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

const ENGINE = {
  off: "not started yet; it starts with the first suggestion",
  starting: "starting",
  ready: "ready",
  busy: "working",
  failed: "failed",
};

function tooltip(status: Status): string {
  const rows = [`**${NAME}**`, `Model: ${escaped(status.model ?? "none")}  \nEngine: ${ENGINE[status.engine]}`];
  if (status.message) {
    rows.push(escaped(status.message));
  }
  if (status.paused !== false) {
    rows.push(status.paused === "here" ? "Paused in this window." : "Paused in all windows.");
  }
  if (!status.trusted) {
    rows.push("This workspace is not trusted: suggestions only, and nothing of it is run.");
  }
  for (const { uri, why } of status.unparsed ?? []) {
    rows.push(`Only suggestions in ${escaped(uri.slice(uri.lastIndexOf("/") + 1))}: ${escaped(why)}.`);
  }
  if (status.last !== null) {
    const { prompt_tokens, evaluated, reused, generated, ms } = status.last;
    rows.push(
      "Last suggestion\n\n| | tokens |\n|---|---:|\n" +
        `| prompt | ${prompt_tokens} |\n| read anew | ${evaluated} |\n| reused | ${reused} |\n| written | ${generated} |\n\n` +
        `in ${Math.round(ms)} ms${origin(status.last)}`,
    );
  }
  const { shown, accepted, accepted_partly, typed_through, dismissed } = status.statistics;
  rows.push(
    `Since this window was opened: ${shown} shown, ${accepted} taken, ${accepted_partly} in part, ` +
      `${typed_through} typed through, ${dismissed} dismissed`,
  );
  return rows.join("\n\n");
}

function origin(last: { cached?: boolean; typed_along?: boolean }): string {
  return last.typed_along ? ", typed along" : last.cached ? ", worked out before" : "";
}

/** A model file is named by its path; there is little room. */
export function short(model: string): string {
  const name = model.replace(/\\/g, "/").split("/").pop() ?? model;
  return name.replace(/\.gguf$/, "");
}

/** A server's sentence may quote code, which must not become Markdown or a link. */
export function escaped(text: string): string {
  return text.replace(/[\\`*_{}[\]()#+!|<>~$-]/g, "\\$&").replace(/\n/g, "  \n");
}
