"""The wait of a user of VS Code: from a key to the suggestion on the screen, in a real VS Code with the real model.

    python -m benchmarks.keypress_vscode [--keys 100] [--minutes 30] [--out ROWS.jsonl]

The same recorded edits as in Neovim (`keypress_neovim`), typed key by key into code-server, which a Chromium shows.
After each key there is time until a suggestion is on the screen or the server has answered that there is none, then a
gap as between keys. The clock is the machine's monotonic one for all: the key as Chromium takes it up, request and
answer as they pass a tap at the server's standard streams, the screen where the page has painted a frame with the
suggestion in it. What the engine took is the server's own figure for that suggestion. Goes on until the model wrote for
`--keys` keys.
"""

import argparse
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

from benchmarks.engine.keystrokes import make_trace
from benchmarks.engine.real_edits import RealEdit, load_real_edits
from benchmarks.keypress import WRITTEN, Keypress, format_row, format_table, make_keypress
from benchmarks.keypress_neovim import FIGURES_WAIT_S, GAP, LONGEST, MOST
from benchmarks.taking import split_keys

FIRST = 60.0
"""Seconds for the first key, which starts the engine and makes no row."""
TYPIST = Path(__file__).with_suffix(".mjs")


def edit_for_typist(edit: RealEdit) -> str:
    """Return an edit in the form that the typist script reads."""
    states = make_trace(edit, 0, MOST).states
    keys = [part for old, new in zip(("", *states), states, strict=False) for part in split_keys(old, new)]
    return json.dumps({"path": edit.path, "before": edit.before, "after": edit.after, "parts": keys})


def make_row(said: dict[str, Any]) -> Keypress:
    return make_keypress(
        said["key"], said["pressed"], said.get("asked"), said.get("answered"), said["shown"], said["figures"]
    )


def measure_keys(minutes: float) -> Iterator[Keypress]:
    """Yield a row for each key that led to a suggestion, until the time is over."""
    waits = [str(1000 * seconds) for seconds in (GAP, LONGEST, FIRST, FIGURES_WAIT_S)]
    env = os.environ | {"PYTHON": sys.executable}
    argv = ["node", str(TYPIST), *waits]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=env) as typist:
        assert typist.stdin
        assert typist.stdout
        # when its input ends it cleans up and is gone
        over = threading.Timer(60 * minutes, typist.stdin.close)
        over.daemon = True
        over.start()
        try:
            edits = iter(load_real_edits(None))
            give(typist.stdin, next(edits))
            for text in typist.stdout:
                said = json.loads(text)
                if "key" in said:
                    yield make_row(said)
                elif edit := next(edits, None):
                    give(typist.stdin, edit)
        finally:
            over.cancel()
            with suppress(OSError):
                typist.stdin.close()
            for _ in typist.stdout:
                pass


def give(typist: IO[str], edit: RealEdit) -> None:
    with suppress(ValueError):
        # closed in the meantime: the time is over
        typist.write(edit_for_typist(edit) + "\n")
        typist.flush()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--keys", type=int, default=100)
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    rows: list[Keypress] = []
    out = args.out.open("w") if args.out else None
    try:
        for each in measure_keys(args.minutes):
            rows.append(each)
            print(format_row(each), file=out or sys.stdout, flush=True)
            if sum(row.kind == WRITTEN for row in rows) >= args.keys:
                break
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
    finally:
        print(format_table(rows) if rows else "no key led to a suggestion")


if __name__ == "__main__":
    main()
