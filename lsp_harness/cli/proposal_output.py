"""The end of commands that make an edit: the candidates, the diff, and the written files."""

from pathlib import Path

from lsp_harness.cli.console import console, print_json, say
from lsp_harness.cli.verdict_table import VerdictTable
from lsp_harness.harness.edits.proposals import write_changes
from lsp_harness.harness.events import TurnReported
from lsp_harness.harness.harness import Harness
from lsp_harness.kernel.results import Proposal
from lsp_harness.workspace.snapshot import Snapshot


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
        proposal: The edit.
        verdicts: The candidates.
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
