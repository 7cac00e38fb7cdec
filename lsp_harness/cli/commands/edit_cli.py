"""`lsp-harness fix` and `action`: repair a diagnostic, or edit by an action of the project, and show all candidates."""

import asyncio
import os
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from lsp_harness.cli.commands.digest_cli import read_output
from lsp_harness.cli.composition import open_headless
from lsp_harness.cli.console import JsonOption, print_json, say
from lsp_harness.cli.file_place import byte_offset, parse_place
from lsp_harness.cli.proposal_output import finish_proposal, follow_verdicts
from lsp_harness.errors import BinaryDocument, UsageError
from lsp_harness.harness.edits.diagnosis import find_reported
from lsp_harness.harness.harness import Harness
from lsp_harness.kernel.results import Progress, Report
from lsp_harness.text.position import Span, decode
from lsp_harness.text.wording import format_count
from lsp_harness.verify.checks import is_python
from lsp_harness.verify.current_findings import Examination
from lsp_harness.verify.digest.digest import digest_output
from lsp_harness.verify.digest.digest_result import Digest, select_file_problems
from lsp_harness.verify.finding import Finding
from lsp_harness.workspace.snapshot import Snapshot


def fix(
    at: str,
    /,
    *,
    failing: Path | None = None,
    tests: bool = False,
    every: Annotated[bool, Parameter(name="--all", negative="")] = False,
    apply: bool = False,
    json: JsonOption = False,
) -> int:
    """Repair an error in a file and show the diff.

    Parameters
    ----------
    at
        FILE repairs the first error of the file, and FILE:LINE repairs an error on that line. Lines count from 1.
        Errors are syntax errors, unknown names, attributes, arguments and imports, the errors of the compiler or type
        checker in folders that you trust and, in Python, the diagnostics of ruff.
    failing
        A file with the output of tests, a linter or a compiler; - is standard input. The errors that it reports in FILE
        are repaired first. If a test fails, name a line of the tested function as FILE:LINE.
    tests
        Run the tests that depend on FILE, and repair the code that makes them fail. With FILE:LINE, only the function
        on this line is changed.
    every
        Repair all errors of the file, one after another. Each repair is checked, and so are all of them together.
    apply
        Write the repaired file. By default, only the diff is shown.
    """
    file, numbers = parse_place(at, 1)
    if tests:
        if failing:
            raise UsageError(
                "--tests and --failing exclude each other; use --tests to run the tests, or --failing for their output"
            )
        return asyncio.run(_repair_tests(file, numbers[0] if numbers else None, write=apply, json=json))
    digest = digest_output(decode(read_output(failing)), "", os.getcwd()) if failing else None
    output = select_file_problems(digest, file, [Path.cwd()]) if digest else None
    if digest and output and not output.problems:
        raise UsageError(f"{digest.summary}; the output reports nothing in {file}")
    if every and numbers:
        raise UsageError(f"--all repairs the whole file; write: lsp-harness fix {file} --all")
    if every:
        return asyncio.run(_fix_all(file, output, write=apply, json=json))
    return asyncio.run(_fix(file, numbers[0] if numbers else None, output, write=apply, json=json))


async def _fix_all(file: Path, output: Digest | None, *, write: bool, json: bool) -> int:
    async with open_headless(file) as (harness, snapshot):
        _check_encoding(snapshot)
        if output:
            tree = harness.documents.tree(snapshot.document)
            lines = sorted({problem.line for problem in output.problems if problem.line})
            reported = [find_reported(snapshot, tree, output, line) for line in lines]
            findings = [finding for finding in reported if finding]
        else:
            examined = await _examine(harness, snapshot)
            findings = list(examined.findings)
            if not findings:
                print_json(_examination_json(examined)) if json else say(f"{file}: {_describe_nothing(examined)}")
                return 0
        if not json:
            for finding in findings:
                say(_describe_finding(file, snapshot, finding))
        verdicts = follow_verdicts(harness)
        proposal = await harness.fixes.fix_all(snapshot, findings, _make_reporter(json=json))
        facts = {"finding": format_count(len(findings), "diagnostic"), "at": str(file)}
        await finish_proposal(harness, (file, snapshot), proposal, verdicts, facts, write=write, json=json)
        if not json:
            say(proposal.summary)
    return 0


async def _examine(harness: Harness, snapshot: Snapshot) -> Examination:
    """Return the findings of our own checks, or else those of the compiler of the project."""
    examined = await harness.fixes.diagnose(snapshot)
    if examined.findings or is_python(snapshot.document, snapshot.tool_path):
        return examined
    return await harness.fixes.compile(snapshot, examined)


async def _fix(file: Path, line: int | None, output: Digest | None, *, write: bool, json: bool) -> int:
    async with open_headless(file) as (harness, snapshot):
        finding = await _choose_finding(harness, snapshot, line, output)
        if isinstance(finding, Examination):
            where = f"{file}:{line}" if line else str(file)
            print_json(_examination_json(finding)) if json else say(f"{where}: {_describe_nothing(finding)}")
            return 0
        where = f"{file}:{snapshot.document.line_of(finding.start) + 1}"
        if not json:
            say(_describe_finding(file, snapshot, finding))
        verdicts = follow_verdicts(harness)
        offers = await harness.fixes.offer(snapshot, [finding])
        proposal = await harness.fixes.fix_first(snapshot, offers, _make_reporter(json=json), output)
        facts = {"finding": finding.message, "at": where}
        await finish_proposal(harness, (file, snapshot), proposal, verdicts, facts, write=write, json=json)
    return 0


async def _repair_tests(file: Path, line: int | None, *, write: bool, json: bool) -> int:
    async with open_headless(file, creates_index=True) as (harness, snapshot):
        _check_encoding(snapshot)
        start = byte_offset(snapshot.document, line, 1) if line else None
        span = Span(start, start) if start is not None else None
        verdicts = follow_verdicts(harness)
        written = await harness.fixes.repair_tests(snapshot, _make_reporter(json=json), span=span)
        facts = {"finding": "failing tests", "at": f"{file}:{line}" if line else str(file)}
        await finish_proposal(harness, (file, snapshot), written.proposal, verdicts, facts, write=write, json=json)
    return 0


async def _choose_finding(
    harness: Harness, snapshot: Snapshot, line: int | None, output: Digest | None
) -> Finding | Examination:
    """Return the finding to fix, or the examination of a file without findings."""
    if line is not None:
        byte_offset(snapshot.document, line, 1)
    _check_encoding(snapshot)
    tree = harness.documents.tree(snapshot.document)
    if output and (finding := find_reported(snapshot, tree, output, line)):
        return finding
    if output and output.failing_tests and line is None:
        # the user wants to repair the failing test, and not another error of the file
        raise UsageError(f"{output.summary}; name a line of the function whose test fails, as FILE:LINE")
    examined = await _examine(harness, snapshot)
    findings = [
        finding for finding in examined.findings if line in (None, snapshot.document.line_of(finding.start) + 1)
    ]
    return findings[0] if findings else examined


def _describe_finding(file: Path, snapshot: Snapshot, finding: Finding) -> str:
    rule = f" {finding.code}" if finding.code not in finding.message else ""
    return f"{file}:{snapshot.document.line_of(finding.start) + 1}: {finding.source}{rule} {finding.message}"


def _check_encoding(snapshot: Snapshot) -> None:
    """Raise BinaryDocument if the file is not UTF-8, because neither ruff nor a model can read it."""
    document = snapshot.document
    try:
        document.data.decode("utf-8")
    except UnicodeDecodeError as error:
        byte, line = document.data[error.start], document.line_of(error.start) + 1
        raise BinaryDocument(
            f"{snapshot.path} is not UTF-8: byte {byte:#04x} on line {line}; save it as UTF-8"
        ) from None


def _examination_json(examined: Examination) -> dict[str, Any]:
    """Return the JSON of a file without findings. Its keys are part of the command's interface."""
    findings = [asdict(finding) for finding in examined.findings]
    return {"finding": None, "findings": findings, "checks": examined.checks, "missing": examined.skip_reasons}


def _describe_nothing(examined: Examination) -> str:
    """Return a sentence which says that there is nothing to fix, and what was checked."""
    if not examined.checks:
        return f"nothing was checked: {'; '.join(examined.skip_reasons)}"
    if examined.checks == ("syntax",) and examined.skip_reasons:
        return f"no syntax error; not checked: {'; '.join(examined.skip_reasons)}"
    return f"nothing to fix ({examined.describe_checks()})"


def _make_reporter(*, json: bool) -> Report:
    """Return a function that shows the progress, unless the output is JSON."""

    def report(progress: Progress) -> None:
        if not json:
            say(f"  {progress.message}")

    return report


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
        raise UsageError(f"the place {at} has no line; write {at}:LINE")
    return asyncio.run(_run_action(name, file, numbers[0], write=apply, json=json))


async def _run_action(name: str, file: Path, line: int, *, write: bool, json: bool) -> int:
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
