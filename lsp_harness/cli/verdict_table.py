"""The table of candidates and what each check said, read off a session's events."""

from typing import Any

from rich.table import Table

from lsp_harness.cli.console import mark
from lsp_harness.wire.event import Event

MARKS = {"passed": "[green]✓[/]", "failed": "[red]✗[/]", "skipped": "–"}
CHECKS = ("syntax", "kept", "lint", "gone")


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
        table = Table("#", "kind", "candidate", *CHECKS, "", box=None, pad_edge=False)
        for row in self.rows:
            text = " ⏎ ".join(line.strip() for line in row["text"].splitlines() if line.strip())
            marks = [mark(MARKS.get(row["checks"].get(check, ""), "")) for check in CHECKS]
            short = text if len(text) <= 48 else text[:47] + "…"
            table.add_row(
                str(row["candidate"]), row["kind"], short.replace("[", "\\["), *marks, row["reason"].replace("[", "\\[")
            )
        return table
