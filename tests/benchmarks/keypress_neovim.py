"""How long a user of Neovim waits: from a key to the suggestion on the screen, in a real Neovim with the real model.

    python -m tests.benchmarks.keypress_neovim [--keys 100] [--minutes 30] [--out ROWS.jsonl]

Recorded edits (`LSP_HARNESS_EVAL_DATA`) are typed key by key. After each key there is time until a suggestion is on the
screen or the server has answered that there is none, then a gap as between keys. All times are Neovim's own monotonic
clock: the key where Neovim takes it up (`vim.on_key`), the screen where a redraw ends that has the suggestion in it.
What the engine took is the server's own figure for that suggestion. Goes on until the model wrote for `--keys` keys.
"""

import argparse
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lsp_harness.bench.edits import real_edits
from lsp_harness.bench.keystrokes import strokes
from tests.benchmarks.keypress import WRITTEN, Keypress, keypress, line, table
from tests.benchmarks.taking import presses
from tests.benchmarks.writing import Look, Writing, writing

GAP = 0.125
"""Seconds between keys."""
LONGEST, FIRST = 5.0, 60.0
"""Seconds after which no suggestion is waited for any more; the first key starts the engine and makes no row."""
TOLD = 0.5
"""Seconds within which the server tells its figures, which it does ten times a second at most."""
MOST = 60
"""Keys of one edit."""
MS = 1e-6


class Seen:
    """What came of one key."""

    def __init__(self, here: Writing) -> None:
        self._here = here
        self.drawn: dict[str, Any] | None = None
        self.figures: dict[str, dict[str, Any]] = {}
        self._look()
        self.drawn = None

    def _look(self) -> Look:
        look = self._here.look()
        self.figures |= {each["id"]: each for each in look.raw["figures"] if each.get("id")}
        self.drawn = look.raw["drawn"][-1] if look.raw["drawn"] else self.drawn
        return look

    def wait(self, longest: float) -> Keypress | None:
        """Until it is on the screen and its figures are known; None where nothing came."""
        end = time.monotonic() + longest
        while not self.drawn and time.monotonic() < end:
            key = self._look().raw.get("key") or {}
            if key.get("answered") and not key.get("id"):
                return None
            time.sleep(0.01)
        drawn, end = self.drawn, time.monotonic() + TOLD
        if not drawn:
            return None
        id = drawn.get("id") or ""
        while id and id not in self.figures and time.monotonic() < end:
            time.sleep(0.01)
            self._look()
        if id and id not in self.figures:
            # without the engine's share this is no row
            return None
        at = {name: drawn[name] * MS for name in ("at", "sent", "answered", "drawn") if drawn.get(name)}
        figures = self.figures.get(id, {})
        return keypress(drawn["number"], at["at"], at.get("sent"), at.get("answered"), at["drawn"], figures)


def measured(here: Writing, minutes: float) -> Iterator[Keypress]:
    """A row for each key that led to a suggestion, until the time is over."""
    end = time.monotonic() + 60 * minutes
    longest = FIRST
    for edit in real_edits(None):
        here.open(edit)
        written = ""
        for state in strokes(edit, 0, MOST).typed:
            for key in presses(written, state):
                if time.monotonic() > end:
                    return
                seen = Seen(here)
                here.press(key)
                row = seen.wait(longest)
                if row and longest != FIRST:
                    yield row
                longest = LONGEST
                time.sleep(GAP)
            written = state
        here.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--keys", type=int, default=100)
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    rows: list[Keypress] = []
    out = args.out.open("w") if args.out else None
    try:
        with writing() as here:
            for row in measured(here, args.minutes):
                rows.append(row)
                print(line(row), file=out or sys.stdout, flush=True)
                if sum(row.kind == WRITTEN for row in rows) >= args.keys:
                    break
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
    finally:
        print(table(rows) if rows else "no key led to a suggestion")


if __name__ == "__main__":
    main()
