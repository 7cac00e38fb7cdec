"""`lsp-harness action`: an edit that the settings of the project define."""

import asyncio
from pathlib import Path

from lsp_harness.cli.composition import open_headless
from lsp_harness.cli.console import JsonOption, say
from lsp_harness.cli.file_place import byte_offset, parse_place
from lsp_harness.cli.proposal_output import finish_proposal, follow_verdicts
from lsp_harness.errors import UsageError
from lsp_harness.kernel.results import Progress
from lsp_harness.text.position import Span


def action(name: str, at: str, /, *, apply: bool = False, json: JsonOption = False) -> int:
    """Edit code by an action of the project, and show the diff.

    Parameters
    ----------
    name
        The name of the action, from [[actions]] in lsp-harness.toml.
    at
        FILE:LINE is the function around a line, or else the line. Lines count from 1.
    apply
        Write the file. By default, only the diff is shown.
    """
    file, numbers = parse_place(at, 1)
    if not numbers:
        raise UsageError(f"name a line of the code to edit, as {at}:LINE")
    return asyncio.run(_run(name, file, numbers[0], write=apply, json=json))


async def _run(name: str, file: Path, line: int, *, write: bool, json: bool) -> int:
    async with open_headless(file) as (harness, snapshot):
        document = snapshot.document
        start = byte_offset(document, line, 1)
        text = document.data[slice(*document.line_span(line - 1))]
        place = start + len(text) - len(text.lstrip())
        verdicts = follow_verdicts(harness)

        def report(progress: Progress) -> None:
            if not json:
                say(f"  {progress.message}")

        edit = await harness.edits.run_action(snapshot, Span(place, place), name, report)
        facts = {"action": name, "at": f"{file}:{line}"}
        await finish_proposal(harness, (file, snapshot), edit.proposal, verdicts, facts, write=write, json=json)
    return 0
