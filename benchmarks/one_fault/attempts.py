"""The product asked to mend a case in this process, composed as its command line composes it."""

import asyncio
import os
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

from benchmarks.one_fault.case import Case, Diagnostic
from lsp_harness.cli import composition
from lsp_harness.config.schema import Config
from lsp_harness.errors import HarnessError
from lsp_harness.harness.harness import Harness
from lsp_harness.inference.client import Engine
from lsp_harness.text.edit import apply
from lsp_harness.text.position import decode
from lsp_harness.verify.finding import Finding
from lsp_harness.workspace.snapshot import Snapshot

LIMIT_S = 120
"""For one case; what takes longer has proposed nothing."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """The result of one case. `proposed` is the whole text with the edit, or None without an edit."""

    proposed: str | None
    ms: float
    reason: str = ""
    asked_model: bool | None = None
    """Whether a model was asked for anything; None where that cannot be seen."""
    diagnostic: Diagnostic | None = None


class CountingEngine:
    """An engine that counts the requests to generate."""

    def __init__(self, engine: Engine) -> None:
        self._engine: Any = engine
        self.asked = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._engine, name)

    async def stream(self, request: Any) -> AsyncIterator[Any]:
        self.asked += 1
        async for chunk in self._engine.stream(request):
            yield chunk


def remove_model(folder: Path) -> None:
    """Let every engine from now on be a script of no replies: it tells its features, and fails when asked for text."""
    script = folder / "no_replies.json"
    script.write_text("[]")
    os.environ["LSP_HARNESS_ENGINE__SCRIPT"] = str(script)


def write_case(case: Case, text: str, folder: Path) -> Path:
    """Write a text as a file of a project folder of its own and return the path."""
    project = folder / case.id.replace("/", "-").replace(".", "-")
    project.mkdir(parents=True, exist_ok=True)
    file = project / Path(case.path).name
    file.write_bytes(text.encode())
    return file


async def attempt(case: Case, folder: Path, *, stale: bool = False) -> Attempt:
    """Ask for a fix of the case's diagnostic, or if `stale` of the same diagnostic in the text that has no fault."""
    diagnostic = case.diagnostic or await own_diagnostic(case, folder)
    if diagnostic is None:
        return Attempt(None, 0.0, "the product finds no fault in this text", False)
    file = write_case(case, case.truth if stale else case.text, folder)
    counted: list[CountingEngine] = []

    def make(config: Config) -> Engine:
        counted.append(CountingEngine(composition.make_engine(config)))
        engine: Any = counted[-1]
        return engine

    async with composition.open_headless(file, create_engine=make) as (harness, snapshot):
        began = perf_counter()
        proposed, reason = await _propose_text(
            harness, snapshot, _make_finding(diagnostic, len(snapshot.document.data))
        )
        ms = (perf_counter() - began) * 1000
    return Attempt(proposed, ms, reason, any(one.asked for one in counted), diagnostic)


async def own_diagnostic(case: Case, folder: Path) -> Diagnostic | None:
    """Return the first diagnostic that the product itself reports about the faulty text."""
    async with composition.open_headless(write_case(case, case.text, folder)) as (harness, snapshot):
        findings = (await harness.fixes.diagnose(snapshot)).findings
    if not findings:
        return None
    found = findings[0]
    return Diagnostic(found.start, found.end, found.message, found.source, found.code, found.severity)


async def _propose_text(harness: Harness, snapshot: Snapshot, finding: Finding) -> tuple[str | None, str]:
    """Return the text of the first proposal, or the reason why there is none."""
    try:
        async with asyncio.timeout(LIMIT_S):
            offers = await harness.fixes.offer(snapshot, [finding])
            proposal = await harness.fixes.fix_first(snapshot, offers, lambda progress: None)
    except TimeoutError:
        return None, f"no answer in {LIMIT_S} s"
    except HarnessError as error:
        return None, error.message
    return decode(apply(snapshot.document.data, proposal.edits)), proposal.summary


def _make_finding(given: Diagnostic, size: int) -> Finding:
    severity: Any = given.severity
    start, end = min(given.start, size), min(given.end, size)
    return Finding(start, end, given.message, given.source, given.code, severity)
