// The kinds of agents and the runners that the form for a new agent offers.

import { shownLine } from "./shown_text.js";

/** The kinds that are offered until the server has told its own. */
export const KNOWN_KINDS = ["claude", "codex", "gemini", "opencode", "lsp-harness", "shell", "echo"].map((value) => ({ value, label: "" }));

/** Returns the installed kinds as values with labels, those that can be used at once first. */
export function installedKinds(kinds = []) {
  const needsLogin = (kind) => kind.auth === "missing";
  return kinds
    .filter((kind) => kind.isInstalled)
    .sort((one, other) => needsLogin(one) - needsLogin(other))
    .map((kind) => ({ value: kind.type, label: [shownLine(kind.version ?? "", 20), needsLogin(kind) && `needs a login: ${shownLine(kind.hint, 80)}`].filter(Boolean).join(", ") }));
}

/** Returns the runners that can be used. */
export const usableRunners = (runners = []) => runners.filter((runner) => !runner.problem).map((runner) => ({ value: runner.runner, label: runner.closesNetwork ? "can close the network" : "" }));
