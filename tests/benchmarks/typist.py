"""Someone who writes for an hour in a real Neovim, with the real server and model, and takes what fits.

    python -m tests.benchmarks.typist [--minutes 60] [--keys-per-second 8] [--out ROWS.jsonl]
    python -m tests.benchmarks.typist --report ROWS.jsonl

Recorded edits (`LSP_HARNESS_EVAL_DATA`) are typed one after the other, with their slips, from the beginning again once
all are written. A suggestion that is what the record has next is taken in three of four cases, its first word in one of
two where only that is right; else typing goes on. Before and after each key what is on the screen is held against the
answers that came: see `stale`. Rows are written as they come; the table is of the rows.
"""

import argparse
import json
import random
import sys
import tempfile
import time
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any, TextIO

from lsp_harness.bench.edits import RealEdit, real_edits
from lsp_harness.bench.keystrokes import strokes
from tests.benchmarks import growth
from tests.benchmarks.stale import Offer, ghost, wrong
from tests.benchmarks.taking import Taker, left, presses
from tests.benchmarks.typist_report import Row, table
from tests.benchmarks.writing import ENGINE, SERVER, Look, Writing, writing

ACCEPT, ACCEPT_WORD = "<Tab>", "<C-Right>"
ALL = 10**6
THOUGHT = 0.25
"""Of the places between words, those at which one pauses to think; and before an edit."""


class Typist:
    """`keep` takes each row."""

    def __init__(self, here: Writing, keep: Any, minutes: float, rate: float, seed: int, pause: float) -> None:
        self._here = here
        self._keep = keep
        self._gap = 1 / rate
        self._pause = pause
        self._dice = random.Random(seed)
        self._taker = Taker(seed)
        self._began = self._due = time.monotonic()
        self._end = self._began + 60 * minutes
        self._sampled = -growth.EVERY
        self._offers: list[Offer] = []
        self._done: dict[str, int] = {}
        self._raw: dict[str, Any] = {}

    @property
    def over(self) -> bool:
        return time.monotonic() >= self._end

    def edit(self, edit: RealEdit, seed: int) -> None:
        """Write one edit. What was done of it is kept when it is broken off, too."""
        self._done = dict.fromkeys(("keys", "whole", "words", "saved", "looks", "ghosts"), 0)
        self._here.open(edit)
        self._offers.clear()
        try:
            self._write(edit, list(strokes(edit, seed, ALL).typed))
            self._here.close()
        finally:
            if self._raw:
                row = {"path": edit.path, "language": edit.language, "requests": self._raw["counts"]}
                self._row("edit", **row, statistics=self._raw.get("statistics"), **self._done)

    def _write(self, edit: RealEdit, states: list[str]) -> None:
        written = ""
        while states and not self.over:
            self._pace(written)
            shown = self._look() or ""
            deed = self._taker.decide(written, shown, edit.text)
            if deed == "type":
                wanted = states[0]
                for number, key in enumerate(presses(written, wanted)):
                    if number:
                        self._due += self._gap
                    self._press(key)
            else:
                wanted = written + shown if deed == "whole" else ""
                self._press(ACCEPT if deed == "whole" else ACCEPT_WORD)
            self._look()
            now = self._written()
            if now is None or (wanted and now != wanted) or not (wanted or shown.startswith(now[len(written) :])):
                self._row("text", path=edit.path, deed=deed, wanted=wanted, found=now)
                if now is None:
                    return
            if deed != "type":
                self._done["whole" if deed == "whole" else "words"] += 1
                self._done["saved"] += len(now) - len(written) - 1
            states = states[1:] if now == states[0] else left(states, now)
            written = now

    def _press(self, key: str) -> None:
        self._here.press(key)
        self._done["keys"] += 1

    def _pace(self, written: str) -> None:
        """Until the next key is due; one that is late makes the rest late, too."""
        self._sample()
        thinks = not written or (not written[-1].isalnum() and self._dice.random() < THOUGHT)
        self._due = max(self._due + self._gap + (self._pause if thinks else 0), time.monotonic())
        time.sleep(max(0.0, self._due - time.monotonic()))

    def _look(self) -> str | None:
        look: Look = self._here.look()
        self._now, self._raw = look, look.raw
        self._offers += look.offers
        for figures in look.raw["figures"]:
            self._row("figures", **figures)
        if why := wrong(look.view, self._offers):
            marks = [[mark.row, mark.col, mark.text] for mark in look.view.marks]
            self._row("stale", why=why, before=look.view.place.before[-80:], marks=marks)
        self._done["looks"] += 1
        self._done["ghosts"] += bool(look.view.marks)
        return ghost(look.view, self._offers)

    def _written(self) -> str | None:
        return self._here.written(self._now)

    def _sample(self) -> None:
        if time.monotonic() - self._sampled < growth.EVERY:
            return
        self._sampled = time.monotonic()
        for who, name in (("server", SERVER), ("engine", ENGINE)):
            if (pid := self._here.process(name)) and (found := growth.sample(pid)):
                self._row("sample", who=who, **found)

    def _row(self, name: str, **facts: Any) -> None:
        self._keep({"row": name, "seconds": round(time.monotonic() - self._began, 2), **facts})


def edits(seed: int) -> Iterator[tuple[RealEdit, int]]:
    """Without end; each time through with other slips."""
    found = [edit for edit in real_edits(None) if "\r" not in edit.before + edit.text + edit.after]
    for turn in count(seed):
        yield from ((edit, turn) for edit in found)


def run(out: TextIO, minutes: float, rate: float, seed: int, pause: float) -> list[Row]:
    rows: list[Row] = []

    def keep(row: Row) -> None:
        rows.append(row)
        print(json.dumps(row), file=out, flush=True)

    try:
        with writing() as here:
            typist = Typist(here, keep, minutes, rate, seed, pause)
            for edit, turn in edits(seed):
                typist.edit(edit, turn)
                if typist.over:
                    break
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--keys-per-second", type=float, default=8.0)
    parser.add_argument("--pause", type=float, default=0.0, help="seconds of thought; none is the hardest case")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=Path(tempfile.gettempdir()) / "typist.jsonl")
    parser.add_argument("--report", type=Path, help="only the table of these rows")
    args = parser.parse_args()
    if args.report:
        print(table([json.loads(line) for line in args.report.read_text().splitlines()]))
        return
    print(f"rows: {args.out}", file=sys.stderr)
    with args.out.open("w") as out:
        rows = run(out, args.minutes, args.keys_per_second, args.seed, args.pause)
    print(table(rows))
    if any(row["row"] in ("stale", "text") for row in rows) or (rows and misplaced(rows)):
        sys.exit("NOT as it should be")


def misplaced(rows: list[Row]) -> int:
    """What was drawn elsewhere than at the cursor, between looks."""
    return max((row["requests"]["misplaced"] for row in rows if row["row"] == "edit"), default=0)


if __name__ == "__main__":
    main()
