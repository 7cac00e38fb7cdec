/** Formats the statistics of suggestions as a Markdown page. */

import type { Statistics } from "./protocol";

export function statisticsPage(statistics: Statistics): string {
  const rows: [string, number][] = [
    ["shown", statistics.shown],
    ["accepted", statistics.accepted],
    ["accepted in part", statistics.accepted_partly],
    ["typed by hand", statistics.typed_through],
    ["dismissed", statistics.dismissed],
    ["still in the text later", statistics.survived],
  ];
  const used = statistics.accepted + statistics.accepted_partly + statistics.typed_through;
  const share = statistics.shown > 0 ? `${Math.round((100 * used) / statistics.shown)} % of what was shown was used.` : "";
  return [
    "# Suggestions",
    `Counted since ${statistics.since}, over all your windows. The figures are stored on this machine and sent nowhere.`,
    `| | suggestions |\n|---|---:|\n${rows.map(([name, count]) => `| ${name} | ${count} |`).join("\n")}`,
    share,
    "",
  ].join("\n\n");
}
