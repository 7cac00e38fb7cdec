"""The record of one key press in any editor, and the table of many records.

    python -m benchmarks.keypress ROWS.jsonl

A row is a key after which a suggestion was on the screen. `shown_ms` is from the key to the screen; it is the sum of
`editor_ms` (before the request and after the answer), `server_ms` (from the request to its answer, without the engine)
and `engine_ms`. Of `server_ms`, `waited_ms` was spent waiting for the next key, on purpose. A row with `nothing` is a
key after which no suggestion was shown, and why.
"""

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from benchmarks.engine.figures import p50, p95

WRITTEN, CACHED, TYPED_ALONG = "written", "cached", "typed along"
KINDS = (WRITTEN, CACHED, TYPED_ALONG)
PARTS = ("shown_ms", "editor_ms", "server_ms", "engine_ms", "waited_ms")


@dataclass(frozen=True, slots=True)
class Keypress:
    """The record of a key. `kind` says whether the model wrote the suggestion, the server knew it, or it is a rest."""

    key: int
    shown_ms: float
    editor_ms: float
    server_ms: float
    engine_ms: float
    kind: str
    waited_ms: float = 0.0


def make_keypress(
    key: int, pressed: float, asked: float | None, answered: float | None, shown: float, figures: Mapping[str, Any]
) -> Keypress:
    """Return the record for times in milliseconds on one clock. `figures` are the server's (`last`) for this
    suggestion.

    Without a request that was answered by then the editor did all of it: it still had the suggestion.
    """
    whole = shown - pressed
    if asked is None or answered is None or answered > shown:
        return Keypress(key, round(whole, 2), round(whole, 2), 0.0, 0.0, TYPED_ALONG)
    kind = CACHED if figures.get("cached") else TYPED_ALONG if figures.get("typed_along") else WRITTEN
    away, engine = answered - asked, float(figures.get("engine_ms", 0.0))
    times = (whole, whole - away, away - engine, engine)
    waited = float(figures.get("waited_ms", 0.0))
    return Keypress(key, *(round(time, 2) for time in times), kind=kind, waited_ms=waited)


def read(lines: Iterable[str]) -> list[Keypress]:
    """Return the rows that editors wrote, without keys that showed no suggestion."""
    known = {field.name for field in fields(Keypress)}
    rows = (row for line in lines if line.strip() and "nothing" not in (row := json.loads(line)))
    return [Keypress(**{name: value for name, value in row.items() if name in known}) for row in rows]


def count_missing_suggestions(lines: Iterable[str]) -> Counter[str]:
    """Count the reasons of keys without a suggestion."""
    return Counter(row["nothing"] for line in lines if line.strip() and "nothing" in (row := json.loads(line)))


def format_row(row: Keypress) -> str:
    return json.dumps(asdict(row))


def format_table(rows: Sequence[Keypress], without: Mapping[str, int] | None = None) -> str:
    """Return a table with p50 and p95 of every part by kind, and the reasons of keys without a suggestion."""
    said = [f"| kind | keys | {' | '.join(f'{part}, p50 / p95' for part in PARTS)} |", "| --- " * 7 + "|"]
    for kind in KINDS:
        found = [row for row in rows if row.kind == kind]
        if found:
            cells = ([getattr(row, part) for row in found] for part in PARTS)
            said.append(f"| {kind} | {len(found)} | {' | '.join(f'{p50(c):.0f} / {p95(c):.0f}' for c in cells)} |")
    said += [f"| {why} | {many} |" + " – |" * len(PARTS) for why, many in sorted((without or {}).items())]
    return "\n".join(said)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", type=Path)
    lines = parser.parse_args().rows.read_text().splitlines()
    rows = read(lines)
    print(format_table(rows, count_missing_suggestions(lines)))
    if not rows:
        sys.exit("no key led to a suggestion")


if __name__ == "__main__":
    main()
