"""Someone who writes for an hour in a real Neovim, with the real server and model, and takes what fits.

    python -m benchmarks.typist [--minutes 60] [--keys-per-second 8] [--no-pauses] [--out ROWS.jsonl]
    python -m benchmarks.typist --report ROWS.jsonl

Recorded edits (`LSP_HARNESS_EVAL_DATA`) are typed one after the other, with their slips, from the beginning again once
all are written. A suggestion that is what the record has next is taken in three of four cases, its first line or word
in one of two where only that is right; else typing goes on. Between bursts of keys there are pauses (see `rhythm`).
Every redraw with ghost text, and what is there before and after each key, is held against the answers that came by
then: see `stale`. The clock starts when the engine is ready. Rows are written as they come, what was done at least once
a minute; the table is of the rows.
"""

import argparse
import json
import random
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import count
from pathlib import Path
from typing import Any, TextIO

from benchmarks import growth
from benchmarks.engine.keystrokes import make_trace
from benchmarks.engine.real_edits import RealEdit, load_real_edits
from benchmarks.rhythm import Rhythm
from benchmarks.stale import Offer, View, find_fault, find_ghost_text, find_source
from benchmarks.taking import Deed, Taker, list_key_names, list_remaining_states
from benchmarks.typist_report import Row, format_table, select_rows
from benchmarks.writing import ENGINE, SERVER, ScreenLook, Writing, open_workspace

KEYS: dict[Deed, str] = {"whole": "<Tab>", "line": "<C-Down>", "word": "<C-Right>"}
ALL = 10**6
PART = 60.0
"""Seconds after which what was done is written down, also in the middle of an edit."""
FIGURES_WAIT_S = 0.3
"""Seconds in which the server tells what it counted last."""


class Clock:
    """A clock that keeps to a rhythm; a late key delays the following ones."""

    def __init__(self, rhythm: Rhythm) -> None:
        self._rhythm = rhythm
        self._due = time.monotonic()
        self.paused = 0.0

    def wait(self, written: str) -> None:
        """Wait until the next key is due."""
        pause = self._rhythm.pause(written)
        self.paused += pause
        self._due = max(self._due + self._rhythm.gap + pause, time.monotonic())
        time.sleep(max(0.0, self._due - time.monotonic()))

    def between(self) -> None:
        """Press two keys at the same time, which an editor handles one after the other."""
        self._due += self._rhythm.gap


class Typist:
    """A user who types edits. `keep` takes each row, and `due` waits until the next key is to be pressed."""

    def __init__(self, here: Writing, keep: Callable[[Row], None], clock: Clock, taker: Taker, minutes: float) -> None:
        self._here = here
        self._keep = keep
        self._clock = clock
        self._taker = taker
        self._began = self._written_down = time.monotonic()
        self._end = self._began + 60 * minutes
        self._sampled = -growth.EVERY
        self._offers: list[Offer] = []
        self._seen: set[str] = set()
        self._done: Counter[str] = Counter()
        self._raw: dict[str, Any] = {}

    @property
    def over(self) -> bool:
        return time.monotonic() >= self._end

    def edit(self, edit: RealEdit, seed: int) -> None:
        """Write one edit. What was done of it is kept when it is broken off, too."""
        self._here.open(edit)
        self._offers.clear()
        try:
            self._write(edit, list(make_trace(edit, seed, ALL).states))
            self._look()
            self._here.close()
            self._done["edits"] += 1
        finally:
            self.write_down()

    def write_down(self) -> None:
        """Write the actions since the last call, and the counts of the server and of Neovim so far."""
        self._written_down = time.monotonic()
        if self._raw:
            done = dict(self._done) | {f"fit_{name}": many for name, many in self._taker.fits.items()}
            done |= {"paused": round(self._clock.paused, 1)}
            self._row("part", **done, requests=self._raw["counts"], statistics=self._raw.get("statistics"))
        self._done.clear()
        self._taker.fits.clear()
        self._clock.paused = 0.0

    def last(self) -> None:
        """Return the figures that the server reported a moment later."""
        time.sleep(FIGURES_WAIT_S)
        self._look()
        self.write_down()

    def _write(self, edit: RealEdit, states: Sequence[str]) -> None:
        written = ""
        while states and not self.over:
            self._sample()
            self._clock.wait(written)
            shown = self._look() or ""
            deed = self._taker.decide(written, shown, edit.text)
            if deed == "type":
                wanted = states[0]
                for number, key in enumerate(list_key_names(written, wanted)):
                    if number:
                        self._clock.between()
                    self._press(key)
            else:
                wanted = written + shown if deed == "whole" else ""
                self._press(KEYS[deed])
            self._look()
            now = self._here.typed_text(self._now)
            taken = deed in ("line", "word") and now is not None and written < now <= written + shown
            if now is None or not (now == wanted or (taken and (written + shown).startswith(now))):
                self._row("text", path=edit.path, deed=deed, wanted=wanted or written + shown, found=now)
                if now is None:
                    return
            elif deed != "type":
                self._done[deed] += 1
                self._done["saved"] += len(now) - len(written) - 1
            states = states[1:] if now == states[0] else list_remaining_states(states, now)
            written = now

    def _press(self, key: str) -> None:
        self._here.press(key)
        self._done["keys"] += 1

    def _look(self) -> str | None:
        look: ScreenLook = self._here.look()
        self._now, self._raw = look, look.raw
        self._offers += look.offers
        for figures in look.raw["figures"]:
            self._row("figures", **figures)
        for frame in look.frames:
            self._check(frame, "redraw")
            if (id := find_source(frame, self._offers)) and id not in self._seen:
                self._seen.add(id)
                self._done["drawn"] += 1
        self._check(look.view, "look")
        self._done["looks"] += 1
        self._done["ghosts"] += bool(look.view.marks)
        self._done["frames"] += len(look.frames)
        if time.monotonic() - self._written_down >= PART:
            self.write_down()
        return find_ghost_text(look.view, self._offers)

    def _check(self, view: View, seen_by: str) -> None:
        if why := find_fault(view, self._offers):
            marks = [[mark.row, mark.col, mark.text] for mark in view.marks]
            self._row("stale", why=why, by=seen_by, before=view.place.before[-80:], marks=marks)

    def _sample(self) -> None:
        if time.monotonic() - self._sampled < growth.EVERY:
            return
        self._sampled = time.monotonic()
        for who, name in (("server", SERVER), ("engine", ENGINE)):
            if (pid := self._here.process(name)) and (found := growth.sample_process(pid)):
                self._row("sample", who=who, **found)

    def _row(self, name: str, **facts: Any) -> None:
        self._keep({"row": name, "seconds": round(time.monotonic() - self._began, 2), **facts})


def generate_edits(seed: int) -> Iterator[tuple[RealEdit, int]]:
    """Yield edits without end, in another order and with other typing errors in each round."""
    found = [edit for edit in load_real_edits(None) if "\r" not in edit.before + edit.text + edit.after]
    for turn in count(seed):
        order = list(found)
        random.Random(turn).shuffle(order)
        yield from ((edit, turn) for edit in order)


def run(keep: Callable[[Row], None], minutes: float, rhythm: Rhythm, seed: int) -> None:
    """Type until the time is over; an interrupt ends it in the same way."""
    began = time.monotonic()
    with open_workspace() as here:
        todo = generate_edits(seed)
        here.open(next(todo)[0])
        here.ready()
        here.close()
        raw, took = here.look().raw, round(time.monotonic() - began, 1)
        # what it did to come up is taken off
        keep({"row": "ready", "took": took, "requests": raw["counts"], "statistics": raw.get("statistics")})
        typist = Typist(here, keep, Clock(rhythm), Taker(seed), minutes)
        try:
            for edit, turn in todo:
                typist.edit(edit, turn)
                if typist.over:
                    break
            typist.last()
        except KeyboardInterrupt:
            print("interrupted", file=sys.stderr)


def write_rows_into(out: TextIO, rows: list[Row]) -> Callable[[Row], None]:
    def keep(row: Row) -> None:
        rows.append(row)
        print(json.dumps(row), file=out, flush=True)

    return keep


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--keys-per-second", type=float, default=8.0, help="within a burst")
    parser.add_argument("--no-pauses", action="store_true", help="one burst without end: the hardest case")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=Path(tempfile.gettempdir()) / "typist.jsonl")
    parser.add_argument("--report", type=Path, help="only the table of these rows")
    args = parser.parse_args()
    if args.report:
        rows = [json.loads(line) for line in args.report.read_text().splitlines() if line.endswith("}")]
    else:
        print(f"rows: {args.out}", file=sys.stderr)
        # one who is told to stop ends the editor, the server and the engine, too
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        rows = []
        rhythm = Rhythm(args.keys_per_second, args.seed, pauses=not args.no_pauses)
        try:
            with args.out.open("w") as out:
                run(write_rows_into(out, rows), args.minutes, rhythm, args.seed)
        except BaseException:
            print(format_table(rows))
            raise
    print(format_table(rows))
    if select_rows(rows, "stale") or select_rows(rows, "text"):
        sys.exit("NOT as it should be")


if __name__ == "__main__":
    main()
