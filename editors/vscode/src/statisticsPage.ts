/** Formats the statistics of suggestions as a Markdown page. */

import type { Statistics, TypeChecker } from "./protocol";
import { escapeMarkdown } from "./statusText";
import { checkerLine, typeCounts } from "./typeChecks";

/** Return the page. `checkers` are the type checkers of this window's server. */
export function statisticsPage(statistics: Statistics, checkers: readonly TypeChecker[] = []): string {
  const used = statistics.accepted + statistics.accepted_partly + statistics.typed_through;
  const share = statistics.shown > 0 ? `${Math.round((100 * used) / statistics.shown)} % of what was shown was used.` : "";
  const sections = [
    "# Suggestions",
    `Counted since ${statistics.since}, over all your windows. The figures are stored on this machine and sent nowhere.`,
    table([
      ["shown", statistics.shown],
      ["accepted", statistics.accepted],
      ["accepted in part", statistics.accepted_partly],
      ["typed by hand", statistics.typed_through],
      ["dismissed", statistics.dismissed],
      ["still in the text later", statistics.survived],
    ]),
    share,
  ];
  const types = typeCounts(statistics);
  if (types.length > 0) {
    sections.push("# Types", "What the type checker did with suggestions before they were shown.", table(types));
    sections.push(checkers.map((checker) => `- ${escapeMarkdown(checkerLine(checker))}`).join("\n"));
  }
  return `${sections.filter(Boolean).join("\n\n")}\n`;
}

function table(rows: readonly [name: string, count: number][]): string {
  return `| | suggestions |\n|---|---:|\n${rows.map(([name, count]) => `| ${name} | ${count} |`).join("\n")}`;
}
