"""The table of a typist's rows, whole or cut off: everything is counted from them."""

from collections.abc import Iterator, Sequence
from typing import Any

from tests.benchmarks.growth import grown

Row = dict[str, Any]


def of(rows: Sequence[Row], kind: str) -> list[Row]:
    return [row for row in rows if row["row"] == kind]


def reuse(figures: Sequence[Row]) -> tuple[int, int]:
    """Tokens reused, of all prompt tokens of the answers that needed the model."""
    asked = [row for row in figures if row.get("prompt_tokens") and not row.get("cached")]
    return sum(row["reused"] for row in asked), sum(row["prompt_tokens"] for row in asked)


def lines(rows: Sequence[Row]) -> Iterator[tuple[str, str]]:
    """What and how many."""
    edits = of(rows, "edit")
    if not edits:
        yield "nothing was typed", ""
        return
    last = edits[-1]
    requests, statistics = last["requests"], last["statistics"] or {}
    keys, saved = (sum(row[name] for row in edits) for name in ("keys", "saved"))
    yield "minutes / edits", f"{last['seconds'] / 60:.1f} / {len(edits)}"
    yield "keys", str(keys)
    for name in ("shown", "typed_through", "accepted", "accepted_partly"):
        yield f"suggestions {name.replace('_', ' ')} (the server's count)", str(statistics.get(name, "not told"))
    taken = (sum(row[name] for row in edits) for name in ("whole", "words"))
    yield "accept keys: whole / word", " / ".join(map(str, taken))
    yield "characters saved", f"{saved} ({100 * saved / max(1, saved + keys):.1f} % of all)"
    yield "stale", str(len(of(rows, "stale")) + requests["misplaced"])
    yield "looks / of them with ghost text", f"{sum(e['looks'] for e in edits)} / {sum(e['ghosts'] for e in edits)}"
    yield "text not as it was typed", str(len(of(rows, "text")))
    yield "requests / superseded / failed", f"{requests['asked']} / {requests['cancelled']} / {requests['failed']}"
    reused, prompt = reuse(of(rows, "figures"))
    yield "prompt tokens reused", f"{reused} of {prompt} ({100 * reused / prompt:.1f} %)" if prompt else "none told"
    yield from ((growth.what, growth.said) for growth in grown(of(rows, "sample")))


def table(rows: Sequence[Row]) -> str:
    return "\n".join(f"| {what} | {said} |" for what, said in lines(rows))
