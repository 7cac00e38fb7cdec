/** Markdown that this extension writes itself. */

import type { Statistics } from "./protocol";

export function statisticsPage(found: Statistics): string {
  const rows: [string, number][] = [
    ["shown", found.shown],
    ["taken whole", found.accepted],
    ["taken in part", found.accepted_partly],
    ["typed through", found.typed_through],
    ["dismissed", found.dismissed],
    ["still in the text later", found.survived],
  ];
  const used = found.accepted + found.accepted_partly + found.typed_through;
  const share = found.shown > 0 ? `${Math.round((100 * used) / found.shown)} % of what was shown was used.` : "";
  return [
    "# Suggestions",
    `Counted since ${found.since}, over all your windows. The figures are kept on this machine and sent nowhere.`,
    `| | suggestions |\n|---|---:|\n${rows.map(([name, count]) => `| ${name} | ${count} |`).join("\n")}`,
    share,
    "",
  ].join("\n\n");
}
