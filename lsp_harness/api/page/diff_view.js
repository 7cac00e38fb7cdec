// A unified diff. The signs at the beginning of the lines stay, so that colour is not the only difference.

import { element, emptyNote } from "./dom.js";
import { shownText } from "./shown_text.js";

const SHOWN_LINES = 2_000;

/**
 * Returns a function that tells the kind of each line of a diff, one after another. The numbers in the head of a part say where it ends:
 * by its signs alone, a removed line `-- a` looks like the head of a file.
 */
export function diffLineKinds() {
  let [removed, added] = [0, 0];
  return (line) => {
    if (removed > 0 || added > 0) {
      if (line[0] !== "+" && line[0] !== "\\") removed -= 1;
      if (line[0] !== "-" && line[0] !== "\\") added -= 1;
      return { "+": "added", "-": "removed" }[line[0]] ?? "same";
    }
    const head = /^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@/u.exec(line);
    if (head) [removed, added] = head.slice(1).map((count) => Number(count ?? 1));
    if (head) return "hunk";
    if (/^(?:\+\+\+|---|diff|index) /u.test(line)) return "file";
    return { "+": "added", "-": "removed" }[line[0]] ?? "same";
  };
}

/** Returns an element with a diff. */
export function diffView(diff, label = "Diff") {
  if (!diff) return emptyNote("No lines are different.");
  const lines = shownText(diff, 500_000).replace(/\n$/u, "").split("\n");
  const kindOf = diffLineKinds();
  const rows = lines.slice(0, SHOWN_LINES).map((line) => element("span", { class: `diff-${kindOf(line)}` }, `${line}\n`));
  if (lines.length > SHOWN_LINES) rows.push(element("span", { class: "diff-hunk" }, `… ${lines.length - SHOWN_LINES} more lines`));
  return element("pre", { class: "diff", tabindex: "0", role: "region", "aria-label": label }, rows);
}
