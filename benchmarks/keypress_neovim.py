"""The wait of a user of Neovim: from a key to the suggestion on the screen, in a real Neovim with the real model.

    python -m benchmarks.keypress_neovim [--keys 100] [--minutes 15] [--out ROWS.jsonl]

Recorded edits (`LSP_HARNESS_EVAL_DATA`) are typed key by key, after the engine has been started. After each key there
is time until a suggestion is on the screen or the server has answered that there is none, then a gap as between keys.
All times are Neovim's own monotonic clock: the key where Neovim takes it up (`vim.on_key`), the screen where the last
redraw ends that has the suggestion in it. What the engine took is the server's own figure for that suggestion. Goes on
until the model wrote for `--keys` keys. Keys that led to no suggestion are counted by reason, not timed.
"""

import argparse
import json
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from benchmarks.engine.keystrokes import make_trace
from benchmarks.engine.real_edits import RealEdit, load_real_edits
from benchmarks.keypress import WRITTEN, Keypress, format_row, format_table, make_keypress
from benchmarks.taking import list_key_names
from benchmarks.writing import ScreenLook, Writing, open_workspace

GAP = 0.125
"""Seconds between keys."""
LONGEST = 5.0
"""Seconds after which no suggestion is waited for any more."""
FIGURES_WAIT_S = 0.5
"""Seconds within which the server tells its figures, which it does ten times a second at most."""
MOST, EACH = 60, 5
"""Keys of one edit, and those of them for which the model wrote: the next edit is another place, mostly another
language."""
MS = 1e-6
NOT_SHOWN, NOT_TOLD, LATE = "suggested, but not shown", "shown, its figures not told", f"nothing in {LONGEST:.0f} s"
SILENT, QUIET = "nothing suggested", "kept quiet: "


class KeyObservation:
    """The result of one key."""

    def __init__(self, workspace: Writing) -> None:
        self._here = workspace
        self.drawn: dict[str, Any] | None = None
        self.figures: dict[str, dict[str, Any]] = {}
        self.rule = ""
        self._look()
        self.drawn, self.rule = None, ""

    def _look(self) -> ScreenLook:
        look = self._here.look()
        for each in look.raw["figures"]:
            self.figures[each.get("id") or ""] = each
            self.rule = each.get("quiet") or ""
        self.drawn = look.raw["drawn"][-1] if look.raw["drawn"] else self.drawn
        return look

    def wait(self) -> Keypress | str:
        """Wait until the suggestion is on the screen and return its row, or the reason why there is none."""
        end = time.monotonic() + LONGEST
        while not self.drawn:
            key = self._look().raw.get("key") or {}
            if self.drawn:
                break
            if key.get("answered") and not key.get("id"):
                return f"{QUIET}{self.rule}" if self._within(lambda: self.rule) else SILENT
            if time.monotonic() > end:
                return NOT_SHOWN if key.get("id") else LATE
            time.sleep(0.01)
        drawn = self.drawn
        id = drawn.get("id") or ""
        if id and not self._within(lambda: id in self.figures):
            # without the engine's share this is no row
            return NOT_TOLD
        at = {name: drawn[name] * MS for name in ("at", "sent", "answered", "drawn") if drawn.get(name)}
        figures = self.figures.get(id, {})
        return make_keypress(drawn["number"], at["at"], at.get("sent"), at.get("answered"), at["drawn"], figures)

    def _within(self, get_figures: Callable[[], object]) -> bool:
        """Return whether the server reports its figures in time."""
        end = time.monotonic() + FIGURES_WAIT_S
        while not get_figures() and time.monotonic() < end:
            time.sleep(0.01)
            self._look()
        return bool(get_figures())


def measure_keys(workspace: Writing, minutes: float) -> Iterator[Keypress | str]:
    """Yield a row for each key, or the reason why there is none, until the time is over."""
    first, *edits = load_real_edits(None)
    workspace.open(first)
    workspace.ready()
    workspace.close()
    end = time.monotonic() + 60 * minutes
    for edit in edits:
        workspace.open(edit)
        written = 0
        for row in press_keys(workspace, edit):
            yield row
            written += isinstance(row, Keypress) and row.kind == WRITTEN
            if written >= EACH or time.monotonic() > end:
                break
        workspace.close()
        if time.monotonic() > end:
            break


def press_keys(workspace: Writing, edit: RealEdit) -> Iterator[Keypress | str]:
    """Return the records of the keys of one edit, from its beginning."""
    written = ""
    for state in make_trace(edit, 0, MOST).states:
        for key in list_key_names(written, state):
            observation = KeyObservation(workspace)
            workspace.press(key)
            yield observation.wait()
            time.sleep(GAP)
        written = state


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--keys", type=int, default=100)
    parser.add_argument("--minutes", type=float, default=15.0)
    parser.add_argument("--out", type=Path, default=Path(tempfile.gettempdir()) / "keypress.jsonl")
    args = parser.parse_args()
    rows: list[Keypress] = []
    without: Counter[str] = Counter()
    print(f"rows: {args.out}", file=sys.stderr)
    try:
        with args.out.open("w") as out, open_workspace() as workspace:
            for row in measure_keys(workspace, args.minutes):
                if isinstance(row, Keypress):
                    rows.append(row)
                    print(format_row(row), file=out, flush=True)
                else:
                    without[row] += 1
                    print(json.dumps({"nothing": row}), file=out, flush=True)
                if sum(row.kind == WRITTEN for row in rows) >= args.keys:
                    break
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
    finally:
        print(format_table(rows, without))
    if (found := sum(row.kind == WRITTEN for row in rows)) < args.keys:
        sys.exit(f"the model wrote for {found} keys, not for {args.keys}")


if __name__ == "__main__":
    main()
