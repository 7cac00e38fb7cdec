"""The end of commands that make an edit: the table of candidates and their checks, the diff, and the written files."""

from pathlib import Path
from typing import Any

from rich.table import Table

from lsp_harness.cli.console import console, make_encodable_mark, print_json, say
from lsp_harness.events.code_events import CandidateGenerated, CandidateRejected, ChecksCompleted
from lsp_harness.events.event_codec import decode_event
from lsp_harness.harness.edits.proposals import write_changes
from lsp_harness.harness.events import TurnReported
from lsp_harness.harness.harness import Harness
from lsp_harness.kernel.results import Proposal
from lsp_harness.verify.checks import check_titles
from lsp_harness.wire.event import Event
from lsp_harness.wire.verdict_words import STATUS_MARKS, explain_standing, find_standing
from lsp_harness.workspace.snapshot import Snapshot

STATUS_COLOURS = {"passed": "green", "failed": "red"}
MAX_TEXT_CHARS = 48
"""Most characters of a candidate in its row."""


class VerdictTable:
    """A listener of a session that keeps one row for each candidate.

    Attributes:
        rows: The rows as JSON: `candidate`, `kind`, `text`, `checks` (the name of each check → its status),
            `standing` (what the verdict says; empty without one), `reason`.
    """

    def __init__(self) -> None:
        self.rows: list[dict[str, Any]] = []

    def __call__(self, event: Event) -> None:
        match decode_event(event.type, event.data):
            case CandidateGenerated(candidate=number, kind=kind, text=text):
                self.rows.append(_create_row(number, kind, text))
            case ChecksCompleted(candidate=int(number)) as checks:
                row = self._make_row(number)
                row["checks"] = {report.check: report.status for report in checks.outcomes}
                row["standing"] = standing = find_standing(checks.outcomes)
                reasons = "; ".join(report.reason for report in checks.outcomes if report.reason)
                row["reason"] = (
                    "passes"
                    if standing == "verified"
                    else explain_standing(checks.outcomes)
                    if checks.passed
                    else reasons
                )
            case CandidateRejected(candidate=number, reason=reason):
                self._make_row(number)["reason"] = reason
            case _:
                # checks without a candidate are about a text that is already in the editor
                pass

    def render(self) -> Table:
        """Return the table, with a column for each check that some candidate had, in the order of the registry."""
        names = {name: name for row in self.rows for name in row["checks"]}
        known = {name: title for name, title in check_titles().items() if name in names}
        titles = {**known, **{name: name for name in names if name not in known}}
        table = Table("#", "kind", "candidate", *map(_escape, titles.values()), "", box=None, pad_edge=False)
        for row in self.rows:
            text = " ⏎ ".join(line.strip() for line in row["text"].splitlines() if line.strip())
            text = text if len(text) <= MAX_TEXT_CHARS else f"{text[: MAX_TEXT_CHARS - 1]}…"
            marks = [_colour_mark(row["checks"].get(name, "")) for name in titles]
            table.add_row(str(row["candidate"]), row["kind"], _escape(text), *marks, _escape(row["reason"]))
        return table

    def _make_row(self, number: int) -> dict[str, Any]:
        for row in self.rows:
            if row["candidate"] == number:
                return row
        # only the fix of a linter is checked without being generated
        row = _create_row(number, "linter's own fix", "")
        self.rows.append(row)
        return row


def _create_row(number: int, kind: str, text: str) -> dict[str, Any]:
    return {"candidate": number, "kind": kind, "text": text, "checks": {}, "standing": "", "reason": ""}


def _colour_mark(status: str) -> str:
    """Return the sign of a status in rich's markup, or an empty text if the check did not run."""
    sign = make_encodable_mark(STATUS_MARKS.get(status, ""))
    return f"[{colour}]{sign}[/]" if (colour := STATUS_COLOURS.get(status)) else sign


def _escape(text: str) -> str:
    return text.replace("[", "\\[")


def follow_verdicts(harness: Harness) -> VerdictTable:
    """Return a table that gets the candidates of the turns from now on."""
    verdicts = VerdictTable()
    harness.events.subscribe(lambda event: verdicts(event.event) if isinstance(event, TurnReported) else None)
    return verdicts


async def finish_proposal(
    harness: Harness,
    place: tuple[Path, Snapshot],
    proposal: Proposal,
    verdicts: VerdictTable,
    facts: dict[str, str],
    *,
    write: bool,
    json: bool,
) -> None:
    """Show an edit and the checks of its candidates, and write it if the user wants that.

    Args:
        harness: The harness that made the edit.
        place: The file as the user wrote it, and its text.
        proposal: The proposed edit.
        verdicts: The verdicts of the candidates.
        facts: More keys of the JSON.
        write: Whether to write the files.
        json: Whether to print JSON.

    Raises:
        UsageError: The settings do not allow the edit.
        StaleDocument: A file has changed meanwhile.
    """
    file, snapshot = place
    if write:
        await harness.turns.require_permission(proposal)
        # messages name the file as the user wrote it
        files = [
            (file if change.before.uri == snapshot.document.uri else change.file, change) for change in proposal.changes
        ]
        write_changes(files)
        harness.record(snapshot.document.uri, proposal.id, "applied")
    if json:
        result = {**facts, "diff": proposal.diff, "summary": proposal.summary}
        print_json({**result, "candidates": verdicts.rows, "applied": write})
    else:
        console().print(verdicts.render())
        say(proposal.diff)
        say(f"{proposal.summary}; applied" if write else f"{proposal.summary}; --apply writes it")
