"""Savings and cost of a wait for the next key, in a replay of typing with simulated time.

    python -m benchmarks.debounce

Three typists write the same function behind the same beginning, each key asked about as VS Code does, to an engine that
reads 250 tokens a second and writes 25. Gaps are drawn from a fixed seed, not recorded: a median within words, half as
much again between them, thoughts at the ends of lines. `later` is about suggestions that the engine wrote both with and
without the wait; others are there at once.
"""

import statistics

from lsp_harness.config.schema import Quiet
from tests.support.typist import Replay, draw_gaps, replay

HEAD = "import csv\nfrom pathlib import Path\n\n\n"
TEXT = """def read_totals(path: Path, column: str) -> dict[str, float]:
    totals: dict[str, float] = {}
    with path.open(newline="") as file:
        for row in csv.DictReader(file):
            name = row["name"].strip()
            if not name or name.startswith(b):
                continue
            totals[name] = totals.get(name, 0.0) + float(row[column])
    return totals


def largest(totals: dict[str, float], count: int) -> list[str]:
    ordered = sorted(totals, key=totals.get, reverse=True)
    return ordered[:count]
"""
TYPISTS = {"fast": 0.07, "medium": 0.11, "slow": 0.19}
MODES = {
    "none": Quiet(debounce_ms=0),
    "rhythm": Quiet(),
    "100 ms": Quiet(debounce_ms=100),
    "300 ms": Quiet(debounce_ms=300),
}
SEED = 7


def replay_with_pauses(median: float, quiet: Quiet) -> Replay:
    return replay(HEAD, TEXT, draw_gaps(TEXT, median, SEED), quiet)


def compute_median_delay(without: Replay, waited: Replay) -> float:
    """Return the median of the delays in milliseconds."""
    both = without.written & waited.written
    return 1000 * statistics.median(waited.shown[key] - without.shown[key] for key in both)


def main() -> None:
    print(f"{len(TEXT)} keys\ntypist | wait | requests | tokens read | tokens written | shown | later, ms")
    for typist, median in TYPISTS.items():
        without = replay_with_pauses(median, MODES["none"])
        for name, quiet in MODES.items():
            one = replay_with_pauses(median, quiet)
            print(
                f"{typist} ({median * 1000:.0f} ms) | {name} | {one.requests} | {one.read} | {one.wrote}"
                f" | {len(one.shown)} | {compute_median_delay(without, one):.0f}"
            )


if __name__ == "__main__":
    main()
