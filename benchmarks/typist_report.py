"""The table of a typist's rows, whole or cut off: everything is counted from them."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from benchmarks.growth import count_processes, find_growth

Row = dict[str, Any]


def select_rows(rows: Sequence[Row], kind: str) -> list[Row]:
    return [row for row in rows if row["row"] == kind]


def sum_reuse(figures: Sequence[Row]) -> tuple[int, int]:
    """Return the reused and all prompt tokens of the answers that needed the model."""
    asked = [row for row in figures if row.get("prompt_tokens") and not row.get("cached") and not row.get("quiet")]
    return sum(row["reused"] for row in asked), sum(row["prompt_tokens"] for row in asked)


def count_by_rule(figures: Sequence[Row]) -> str:
    """Return how often each rule suppressed a suggestion."""
    rules = Counter(row["quiet"] for row in figures if row.get("quiet"))
    return ", ".join(f"{rule} {many}" for rule, many in rules.most_common()) or "none"


def count_since(last: Row, start: Row, name: str) -> dict[str, int]:
    """Return the counts since the start."""
    before = start.get(name) or {}
    return {what: many - before.get(what, 0) for what, many in (last[name] or {}).items()}


def count_lines(rows: Sequence[Row]) -> Iterator[tuple[str, str]]:
    """Yield pairs of a label and a count."""
    parts = select_rows(rows, "part")
    if not parts:
        yield "nothing was typed", ""
        return

    def total(name: str) -> float:
        return sum(row.get(name, 0) for row in parts)

    def each(*names: str) -> str:
        return " / ".join(f"{total(name):.0f}" for name in names)

    last = parts[-1]
    start = next(iter(select_rows(rows, "ready")), {})
    requests, statistics = (count_since(last, start, name) for name in ("requests", "statistics"))
    seconds, keys, saved = last["seconds"], total("keys"), total("saved")
    yield "minutes / of them pauses / edits", f"{seconds / 60:.1f} / {total('paused') / 60:.1f} / {each('edits')}"
    yield "keys / a second between pauses", f"{keys:.0f} / {keys / max(1.0, seconds - total('paused')):.1f}"
    for name in ("shown", "typed_through", "accepted", "accepted_partly"):
        yield f"suggestions {name.replace('_', ' ')} (the server's count)", str(statistics.get(name, "not told"))
    yield "suggestions drawn on the screen", each("drawn")
    fits = each("fit_whole", "fit_line", "fit_word", "fit_none")
    yield "there at a key: all right / first line / first word / nothing", fits
    yield "accept keys: whole / line / word", each("whole", "line", "word")
    yield "characters saved", f"{saved:.0f} ({100 * saved / max(1, saved + keys):.1f} % of all)"
    yield "stale, at a redraw or a key", str(len(select_rows(rows, "stale")))
    looked = f"{requests['redraws']} ({each('frames')}) / {each('looks')} / {each('ghosts')}"
    yield "redraws with ghost text (different) / looks / with ghost text", looked
    yield "text not as it was typed", str(len(select_rows(rows, "text")))
    yield "requests / superseded / failed", f"{requests['asked']} / {requests['cancelled']} / {requests['failed']}"
    figures = select_rows(rows, "figures")
    reused, prompt = sum_reuse(figures)
    share = f"{reused} of {prompt} ({100 * reused / prompt:.1f} %)" if prompt else "none told"
    yield "prompt tokens reused", f"{share}, of {len(figures)} answers that were told of"
    yield "kept quiet by rule, of these", count_by_rule(figures)
    samples = select_rows(rows, "sample")
    yield from ((f"{who} processes", str(many)) for who, many in count_processes(samples).items())
    yield from ((growth.what, growth.message) for growth in find_growth(samples))


def format_table(rows: Sequence[Row]) -> str:
    return "\n".join(f"| {what} | {said} |" for what, said in count_lines(rows))
