"""`lsp-harness fix`: repair a diagnostic of a file, with the verdict on every candidate."""

import asyncio
import os
from dataclasses import asdict
from pathlib import Path
from typing import Any

from lsp_harness.cli.commands.digest_cli import read
from lsp_harness.cli.composition import headless
from lsp_harness.cli.console import AsJson, as_json, console, say
from lsp_harness.cli.file_place import offset_of, place
from lsp_harness.cli.verdict_table import VerdictTable
from lsp_harness.disk.file_writing import replace_file
from lsp_harness.errors import BinaryDocument, StaleDocument, UsageError
from lsp_harness.harness.diagnosis import diagnose, of_output
from lsp_harness.harness.edit_verbs import fixed
from lsp_harness.harness.harness import Harness
from lsp_harness.session.results import FixOffer, Progress, Proposal
from lsp_harness.text.position import decode
from lsp_harness.verify.current_findings import Examination
from lsp_harness.verify.digest.digest import digest_output
from lsp_harness.verify.digest.digest_result import Digest
from lsp_harness.verify.digest.file_problems import select_file_problems
from lsp_harness.verify.finding import Finding
from lsp_harness.workspace.snapshot import Snapshot


def fix(at: str, /, *, failing: Path | None = None, apply: bool = False, json: AsJson = False) -> int:
    """Repair an error in a file and show the diff.

    Parameters
    ----------
    at
        FILE, for the first error in it, or FILE:LINE, for an error on that line. Errors are syntax errors and, for Python,
        what ruff reports.
    failing
        A file with the output of tests, a linter or a compiler (- is standard input). The errors it reports in FILE are
        repaired first. If a test fails, name a line of the function that it tests: FILE:LINE.
    apply
        Write the repaired file. Without this, only the diff is shown.
    """
    file, numbers = place(at, 1)
    printed = digest_output(decode(read(failing)), "", os.getcwd()) if failing else None
    output = select_file_problems(printed, file, [Path.cwd()]) if printed else None
    if printed and output and not output.problems:
        raise UsageError(f"{printed.summary}; it reports nothing in {file}")
    return asyncio.run(_fix(file, numbers[0] if numbers else None, output, write=apply, json=json))


async def _fix(file: Path, line: int | None, output: Digest | None, *, write: bool, json: bool) -> int:
    async with headless(file) as (harness, snapshot):
        finding = await _chosen(harness, snapshot, line, output)
        if isinstance(finding, Examination):
            where = f"{file}:{line}" if line else str(file)
            as_json(_as_row(finding)) if json else say(f"{where}: {_nothing(finding)}")
            return 0
        where = f"{file}:{snapshot.document.line_of(finding.start) + 1}"
        if not json:
            rule = f" {finding.code}" if finding.code not in finding.message else ""
            say(f"{where}: {finding.source}{rule} {finding.message}")
        verdicts = VerdictTable()
        harness.services.session_log.listeners.append(verdicts)
        offers = await harness.offers(snapshot, [finding])
        proposal = await _first(harness, snapshot, offers, output, json=json)
        result: dict[str, Any] = {
            "finding": finding.message,
            "at": where,
            "diff": proposal.diff,
            "summary": proposal.summary,
        }
        if write:
            for change in proposal.changes:
                if change.file.read_bytes() != change.before.data:
                    raise StaleDocument(f"{change.file} changed while the fix was computed; run it again")
            for change in proposal.changes:
                replace_file(change.file, change.after.data)
            harness.record(snapshot.document.uri, proposal.id, "applied")
        if json:
            as_json(result | {"candidates": verdicts.rows, "applied": write})
        else:
            console().print(verdicts.render())
            say(proposal.diff)
            say(f"{proposal.summary}; applied" if write else f"{proposal.summary}; --apply writes it")
    return 0


async def _chosen(
    harness: Harness, snapshot: Snapshot, line: int | None, output: Digest | None
) -> Finding | Examination:
    """The finding to fix; else what was looked at, where nothing was found."""
    if line is not None:
        offset_of(snapshot.document, line, 1)
    _check_encoding(snapshot)
    tree = harness.tree(snapshot)
    if output and (found := of_output(snapshot, tree, output, line)):
        return found
    if output and output.failing_tests and line is None:
        # what else there is to fix is not what was asked for
        raise UsageError(f"{output.summary}; name a line of the function they are about: FILE:LINE")
    examined = await diagnose(snapshot, tree, harness.services.ruff)
    findings = [f for f in examined.findings if line in (None, snapshot.document.line_of(f.start) + 1)]
    return findings[0] if findings else examined


def _check_encoding(snapshot: Snapshot) -> None:
    """Raises BinaryDocument where the bytes are not UTF-8: neither ruff nor a model could read them."""
    document = snapshot.document
    try:
        document.data.decode("utf-8")
    except UnicodeDecodeError as error:
        byte, line = document.data[error.start], document.line_of(error.start) + 1
        raise BinaryDocument(
            f"{snapshot.path} is not UTF-8: byte {byte:#04x} on line {line}; save it as UTF-8"
        ) from None


def _as_row(examined: Examination) -> dict[str, Any]:
    """Return the JSON of a file without findings. Its keys are part of the command's interface."""
    findings = [asdict(finding) for finding in examined.findings]
    return {"finding": None, "findings": findings, "checks": examined.checks, "missing": examined.skip_reasons}


def _nothing(examined: Examination) -> str:
    """That there is nothing to fix, and what was looked at to say so."""
    looked = " and ".join(examined.checks)
    if not looked:
        return f"nothing was checked: {'; '.join(examined.skip_reasons)}"
    left = f"; not checked: {'; '.join(examined.skip_reasons)}" if examined.skip_reasons else ""
    return f"nothing to fix ({looked} checked{left})"


async def _first(
    harness: Harness, snapshot: Snapshot, offers: list[FixOffer], output: Digest | None, *, json: bool
) -> Proposal:
    def report(progress: Progress) -> None:
        if not json:
            say(f"  {progress.message}")

    return await fixed(harness, snapshot, offers, report, output)
