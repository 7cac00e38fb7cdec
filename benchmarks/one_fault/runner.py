"""Run the cases one after the other and write a row for each as soon as it is known."""

import asyncio
import difflib
import json
import os
import sys
import tempfile
import traceback
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchmarks.one_fault.attempts import Attempt, attempt, remove_model
from benchmarks.one_fault.case import Case
from benchmarks.one_fault.client import Session
from benchmarks.one_fault.scorer import score
from lsp_harness.errors import HarnessError

CRASH = "the product raised"
Row = dict[str, Any]
Score = Callable[[Case, str | None], str]


@dataclass(frozen=True)
class Options:
    """The options of a run of the cases."""

    model: bool = False
    lsp: bool = False
    stale: bool = False
    out: Path | None = None
    score: Score = score


def run(cases: Sequence[Case], options: Options) -> list[Row]:
    """Run all cases, and return their rows."""
    return asyncio.run(_run(cases, options))


async def _run(cases: Sequence[Case], options: Options) -> list[Row]:
    rows: list[Row] = []
    with tempfile.TemporaryDirectory(prefix="one-fault-") as name:
        folder = Path(name).resolve()
        if not options.model:
            remove_model(folder)
        async with _open_attempts(folder, options) as ask:
            for number, case in enumerate(cases, 1):
                rows.append(_make_row(case, await ask(case), options))
                _write(rows[-1], options.out, new=number == 1)
                if number % 25 == 0:
                    print(f"{number} of {len(cases)}", file=sys.stderr, flush=True)
    return rows


@asynccontextmanager
async def _open_attempts(folder: Path, options: Options) -> AsyncGenerator[Callable[[Case], Awaitable[Attempt]]]:
    work = folder / "work"
    work.mkdir()
    if options.lsp:
        # the other cases of the folder are no part of this one's project
        os.environ["LSP_HARNESS_INDEX__ENABLED"] = "false"
        async with Session.started(work) as session:
            yield lambda case: session.attempt(case, stale=options.stale)
        return

    async def ask(case: Case) -> Attempt:
        try:
            return await attempt(case, work, stale=options.stale)
        except HarnessError as error:
            return Attempt(None, 0.0, error.message)
        except Exception as error:  # noqa: BLE001
            # a fault of the product in one case must not end the count of the others
            traceback.print_exc()
            return Attempt(None, 0.0, f"{CRASH} {error!r}")

    yield ask


def _make_row(case: Case, found: Attempt, options: Options) -> Row:
    text = case.truth if options.stale else case.text
    changed = found.proposed is not None and found.proposed != text
    result = ("edited" if changed else "none") if options.stale else options.score(case, found.proposed)
    # an engine that refuses has settled nothing
    asked = found.asked_model if options.model or result == "none" else False
    row: Row = {"id": case.id, "part": case.part, "language": case.language, "kind": case.kind, "result": result}
    row |= {"ms": round(found.ms, 1), "asked_model": asked, "reason": found.reason, "facts": case.facts}
    row["diagnostic"] = asdict(found.diagnostic) if found.diagnostic else None
    row["proposed"] = _make_diff(text, found.proposed) if changed and found.proposed is not None else ""
    row["wanted"] = "" if options.stale else _make_diff(text, case.truth)
    return row


def _make_diff(before: str, after: str) -> str:
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), n=1, lineterm="")
    return "\n".join(list(lines)[2:])


def _write(row: Row, out: Path | None, *, new: bool) -> None:
    if out:
        with out.open("w" if new else "a", encoding="utf-8") as file:
            file.write(json.dumps(row, ensure_ascii=False) + "\n")
