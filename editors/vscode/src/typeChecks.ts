/** Says in words what the type checkers did with suggestions. Pure functions without VS Code. */

import type { Completion, Counts, TypeChecker, TypeResult } from "./protocol";

/** The results of the type gate, in the order of a table. Older servers do not count all of them. */
const RESULTS: Record<TypeResult, string> = {
  passed: "without a type error",
  cut: "cut before a type error",
  replaced: "replaced because of a type error",
  hidden: "hidden because of a type error",
  skipped: "not checked",
};

const CHECKER_STATES: Record<TypeChecker["state"], string> = {
  off: "not running",
  starting: "starting",
  ready: "ready",
  missing: "not installed",
  failed: "failed",
};

/** Return the counts of the type gate with their names, or nothing if the server does not count them. */
export function typeCounts(counts: Counts): [name: string, count: number][] {
  return Object.entries(RESULTS).flatMap(([result, name]): [string, number][] => {
    const count = counts[`types_${result as TypeResult}`];
    return count === undefined ? [] : [[name, count]];
  });
}

/** Return what the type gate did with a suggestion, or undefined if it had nothing to do. */
export function typeResult({ types, types_ms, types_reason }: Completion): string | undefined {
  if (types === undefined) {
    return undefined;
  }
  const time = types_ms === undefined ? "" : ` (${Math.round(types_ms)} ms)`;
  return `Types: ${RESULTS[types] ?? types}${types_reason ? `: ${types_reason}` : ""}${time}`;
}

/** Return a line about a type checker: its folder, its state, and why it does not run. */
export function checkerLine({ checker, folder, state, reason }: TypeChecker): string {
  // the reason names the checker and says more than the state
  return `Type checker ${checker} in ${folder}: ${reason || (CHECKER_STATES[state] ?? state)}`;
}
