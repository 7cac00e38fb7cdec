"""Memory and descriptors of a process over time, and by how much they grew."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import fmean
from typing import Any

import psutil

EVERY = 10.0
"""Seconds between samples."""
MIB = 2**20


def sample_process(pid: int) -> dict[str, Any] | None:
    """Return the resident memory in MiB and the open descriptors, or None if the process has ended."""
    try:
        process = psutil.Process(pid)
        return {"pid": pid, "rss": round(process.memory_info().rss / MIB, 2), "fds": process.num_fds()}
    except psutil.Error:
        return None


@dataclass(frozen=True, slots=True)
class Growth:
    """The means of the quarters of the samples. Growth is measured from the second quarter on."""

    what: str
    means: tuple[float, ...]
    most: float
    samples: int

    @property
    def message(self) -> str:
        _, full, _, last = self.means
        by = 100 * (last - full) / full if full else 0.0
        path = " → ".join(f"{mean:.1f}" for mean in self.means)
        return f"{path} ({by:+.1f} % from the second quarter on; most {self.most:.1f}; {self.samples} samples)"


def compute_growth_by_quarters(what: str, values: Sequence[float]) -> Growth | None:
    """Return the growth between quarters, or None with fewer than four samples."""
    if len(values) < 4:
        return None
    edges = [len(values) * n // 4 for n in range(5)]
    return Growth(what, tuple(fmean(values[a:b]) for a, b in pairwise(edges)), max(values), len(values))


def count_processes(rows: Sequence[dict[str, Any]]) -> dict[str, int]:
    """Return the number of processes of each kind. Among several, one that grew may have been replaced."""
    return {who: len({row["pid"] for row in rows if row["who"] == who}) for who in {row["who"]: 0 for row in rows}}


def find_growth(rows: Sequence[dict[str, Any]]) -> Iterator[Growth]:
    """Return the growth of each process in `rows` (`who`, `rss`, `fds`), in the order of the rows."""
    for who in dict.fromkeys(row["who"] for row in rows):
        for field, unit in (("rss", "memory, MiB"), ("fds", "descriptors")):
            if growth := compute_growth_by_quarters(f"{who} {unit}", [row[field] for row in rows if row["who"] == who]):
                yield growth
