"""The table of candidates and what each check said, read off a session's events."""

from typing import Any

from rich.table import Table

from lsp_harness.cli.console import mark
from lsp_harness.verify.check_registry import check_titles
from lsp_harness.verify.finding import STATUS_MARKS
from lsp_harness.wire.event import Event

STATUS_COLOURS = {"passed": "green", "failed": "red"}
MAX_TEXT_CHARS = 48
"""Most characters of a candidate in its row."""


class Verdicts:
    """A listener that keeps one row a candidate."""

    def __init__(self) -> None:
        self.rows: list[dict[str, Any]] = []

    def __call__(self, event: Event) -> None:
        data = event.data
        if event.type == "candidate.generated":
            self.rows.append(
                {"candidate": data["candidate"], "kind": data["kind"], "text": data["text"], "checks": {}, "reason": ""}
            )
        elif event.type == "verify.completed" and "candidate" in data:
            # others are about a text that was taken already
            row = self._row(data["candidate"])
            row["checks"] = {o["check"]: o["status"] for o in data["outcomes"]}
            row["reason"] = (
                "passes" if data["passed"] else "; ".join(o["reason"] for o in data["outcomes"] if o["reason"])
            )
        elif event.type == "candidate.rejected":
            self._row(data["candidate"])["reason"] = data["reason"]

    def _row(self, number: int) -> dict[str, Any]:
        for row in self.rows:
            if row["candidate"] == number:
                return row
        row: dict[str, Any] = {"candidate": number, "kind": "linter's own fix", "text": "", "checks": {}, "reason": ""}
        self.rows.append(row)
        return row

    def table(self) -> Table:
        """Return the table: a column for each registered check, then for checks that only the events name."""
        titles = check_titles()
        titles |= {name: name for row in self.rows for name in row["checks"] if name not in titles}
        table = Table("#", "kind", "candidate", *map(_escape, titles.values()), "", box=None, pad_edge=False)
        for row in self.rows:
            text = " ⏎ ".join(line.strip() for line in row["text"].splitlines() if line.strip())
            short = text if len(text) <= MAX_TEXT_CHARS else f"{text[: MAX_TEXT_CHARS - 1]}…"
            marks = [_colour_mark(row["checks"].get(name, "")) for name in titles]
            table.add_row(str(row["candidate"]), row["kind"], _escape(short), *marks, _escape(row["reason"]))
        return table


def _colour_mark(status: str) -> str:
    """Return the sign of a status in rich's markup, or an empty text if the check did not run."""
    sign = mark(STATUS_MARKS.get(status, ""))
    return f"[{colour}]{sign}[/]" if (colour := STATUS_COLOURS.get(status)) else sign


def _escape(text: str) -> str:
    return text.replace("[", "\\[")
