// A unified diff. The signs at the beginning of the lines stay, so that colour is not the only difference.

import { element, emptyNote } from "./dom.js";
import { shownText } from "./shown_text.js";

const SHOWN_LINES = 2_000;

/** Returns the kind of a line of a diff. */
export function diffLineKind(line) {
  if (line.startsWith("+++") || line.startsWith("---") || line.startsWith("diff ") || line.startsWith("index ")) return "file";
  if (line.startsWith("@@")) return "hunk";
  if (line.startsWith("+")) return "added";
  return line.startsWith("-") ? "removed" : "same";
}

/** Returns an element with a diff. */
export function diffView(diff, label = "Diff") {
  if (!diff) return emptyNote("No lines are different.");
  const lines = shownText(diff, 500_000).replace(/\n$/u, "").split("\n");
  const rows = lines.slice(0, SHOWN_LINES).map((line) => element("span", { class: `diff-${diffLineKind(line)}` }, `${line}\n`));
  if (lines.length > SHOWN_LINES) rows.push(element("span", { class: "diff-hunk" }, `… ${lines.length - SHOWN_LINES} more lines`));
  return element("pre", { class: "diff", tabindex: "0", role: "region", "aria-label": label }, rows);
}
