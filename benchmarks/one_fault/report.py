"""The figures of a run: a table of language by kind, shares, and times."""

from collections import Counter
from collections.abc import Iterable, Sequence
from statistics import median, quantiles
from typing import Any

Row = dict[str, Any]
RESULTS = ("right", "equivalent", "none", "wrong")


def report(rows: Sequence[Row]) -> str:
    """Return all figures as text."""
    if any(row["result"] == "edited" for row in rows) or not any(row["wanted"] for row in rows):
        edited = [row["id"] for row in rows if row["result"] == "edited"]
        return "\n".join([f"stale diagnostics: {len(edited)} edits of {len(rows)}; 0 are wanted", *edited])
    return "\n".join([_format_table(rows), "", _format_shares(rows), *_format_times(rows)])


def _format_table(rows: Sequence[Row]) -> str:
    """Return a table with right+equivalent / none / wrong in each cell."""
    languages = list(dict.fromkeys(row["language"] for row in rows))
    kinds = list(dict.fromkeys(row["kind"] for row in rows))
    lines = ["right or equivalent / none / wrong"]
    lines.append(f"{'':25}" + "".join(f"{language:>12}" for language in [*languages, "all"]))
    for kind in [*kinds, "all"]:
        mine = [row for row in rows if kind in (row["kind"], "all")]
        cells = [_format_cell(row for row in mine if row["language"] == language) for language in languages]
        lines.append(f"{kind:25}" + "".join(f"{cell:>12}" for cell in [*cells, _format_cell(mine)]))
    return "\n".join(lines)


def _format_cell(rows: Iterable[Row]) -> str:
    count = Counter(row["result"] for row in rows)
    return f"{count['right'] + count['equivalent']}/{count['none']}/{count['wrong']}" if count else "·"


def _format_shares(rows: Sequence[Row]) -> str:
    count = Counter(row["result"] for row in rows)
    shares = ", ".join(f"{name} {count[name]} ({100 * count[name] / len(rows):.1f} %)" for name in RESULTS)
    settled = [row for row in rows if row["result"] != "none"]
    alone = sum(row["asked_model"] is False for row in settled)
    known = any(row["asked_model"] is not None for row in rows)
    share = f"; settled without a model: {100 * alone / len(rows):.1f} % of all" if known else ""
    return f"{len(rows)} cases: {shares}{share}"


def _format_times(rows: Sequence[Row]) -> list[str]:
    """Return the median and the 95th percentile, for all cases and for those without the model."""
    groups = {
        "all": [row["ms"] for row in rows],
        "no model asked": [row["ms"] for row in rows if row["asked_model"] is False],
        "settled, no model asked": [
            row["ms"] for row in rows if row["asked_model"] is False and row["result"] != "none"
        ],
    }
    lines: list[str] = []
    for name, times in groups.items():
        if len(times) > 1:
            p95 = quantiles(times, n=20, method="inclusive")[-1]
            lines.append(f"time, {name}: median {median(times):.0f} ms, p95 {p95:.0f} ms ({len(times)})")
    return lines
