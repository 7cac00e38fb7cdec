"""`lsp-harness fix`: repair a diagnostic of a file, with the verdict on every candidate."""

import asyncio
from pathlib import Path
from typing import Any

from lsp_harness.cli.compose import headless, offset_of, place
from lsp_harness.cli.say import AsJson, as_json, console, say
from lsp_harness.cli.verdicts import Verdicts
from lsp_harness.errors import NoAnswer, Stale
from lsp_harness.harness.diagnosis import diagnose
from lsp_harness.harness.harness import Harness
from lsp_harness.harness.snapshot import Snapshot
from lsp_harness.pipeline.offers import Offer, Progress
from lsp_harness.text.edit import apply
from lsp_harness.verify.finding import Finding


def fix(at: str, /, *, apply: bool = False, json: AsJson = False) -> int:
    """Fix the first diagnostic of a file, or the one at a line; shows the diff.

    Parameters
    ----------
    at
        FILE or FILE:LINE. Diagnostics are syntax errors and, for Python, ruff's.
    apply
        Write the file.
    """
    file, numbers = place(at, 1)
    return asyncio.run(_fix(file, numbers[0] if numbers else None, write=apply, json=json))


async def _fix(file: Path, line: int | None, *, write: bool, json: bool) -> int:
    async with headless(file) as (harness, snapshot):
        finding = await _chosen(harness, snapshot, line)
        if finding is None:
            where = f"{file}:{line}" if line else str(file)
            as_json({"finding": None}) if json else say(f"{where}: nothing to fix")
            return 0
        where = f"{file}:{snapshot.document.line_of(finding.start) + 1}"
        if not json:
            say(f"{where}: {finding.source} {finding.code} {finding.message}")
        verdicts = Verdicts()
        harness.log.listeners.append(verdicts)
        offers = await harness.offers(snapshot, [finding])
        proposal = await _first(harness, snapshot, offers, json=json)
        result: dict[str, Any] = {
            "finding": finding.message,
            "at": where,
            "diff": proposal.diff,
            "summary": proposal.summary,
        }
        if write:
            if file.read_bytes() != snapshot.document.data:
                raise Stale(f"{file} changed while the fix was computed; run it again")
            file.write_bytes(apply(snapshot.document.data, proposal.edits))
            harness.applied(snapshot.document.uri, proposal.id)
        if json:
            as_json(result | {"candidates": verdicts.rows, "applied": write})
        else:
            console().print(verdicts.table())
            say(proposal.diff)
            say(f"{proposal.summary}; applied" if write else f"{proposal.summary}; --apply writes it")
    return 0


async def _chosen(harness: Harness, snapshot: Snapshot, line: int | None) -> Finding | None:
    findings = await diagnose(snapshot, harness.tree(snapshot), harness.ruff)
    if line is not None:
        offset_of(snapshot.document, line, 1)
        findings = [f for f in findings if snapshot.document.line_of(f.start) == line - 1]
    return findings[0] if findings else None


async def _first(harness: Harness, snapshot: Snapshot, offers: list[Offer], *, json: bool):
    """The linter's own fix where there is one that passes, else the model's."""

    def report(progress: Progress) -> None:
        if not json:
            say(f"  {progress.message}")

    for offer in offers:
        try:
            return await harness.fix(snapshot, offer, report)
        except NoAnswer:
            if offer is offers[-1]:
                raise
    raise NoAnswer("nothing can be done about this diagnostic")
