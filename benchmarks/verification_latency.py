"""The time to verify one candidate when everything is warm: syntax, ruff and ty, on a project of some 400 files.

    python -m benchmarks.verification_latency
    python -m benchmarks.verification_latency --cold-ruff

The project is a copy of pip's source from this environment. A candidate changes one line of one function, each time
another text, so that no answer is remembered. The first one for a file does not count: it also looks at the text
before. With `--cold-ruff`, each lint check starts a process, as before there was
a server.
"""

import argparse
import asyncio
import shutil
import statistics
import tempfile
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter

import pip

from lsp_harness.config.schema import Verification
from lsp_harness.process.sandbox.sandbox_choice import machine_sandbox
from lsp_harness.text.document import Document
from lsp_harness.verify.change import Change, ChangeSet
from lsp_harness.verify.check import CheckContext, CheckTools, run_checks
from lsp_harness.verify.checks import create_checks
from lsp_harness.verify.finding import Verdict
from lsp_harness.verify.project_tools.tool_comparison import ToolAccess, ToolComparison
from lsp_harness.verify.project_tools.type_comparison import TypeComparison
from lsp_harness.verify.project_tools.warm_ruff import WarmRuff
from lsp_harness.verify.ruff_linter import Ruff
from lsp_harness.verify.types.checker_pool import CheckerPool

FILES = ("_internal/cli/main.py", "_internal/utils/urls.py", "_internal/index/collector.py")
IN_A_ROW = 9
"""Candidates for one file, as in a turn."""
SETTINGS = Verification(type_check="on", test=False)


async def allow_run(argv: Sequence[str], confinement: object) -> str:
    return ""


def propose(root: Path, name: str, number: int) -> ChangeSet:
    file = root / "pip" / name
    before = Document.from_text(file.as_uri(), file.read_bytes(), language="python", version=1)
    place = before.data.index(b"\ndef ")
    line_end = before.data.index(b"\n", before.data.index(b":\n", place)) + 1
    data = (
        before.data[:line_end] + f"    _candidate = {number}\n    str(_candidate)\n".encode() + before.data[line_end:]
    )
    after = Document.from_text(before.uri, data, language="python", version=1)
    return ChangeSet.of(Change.from_documents(before, after, file, root))


async def measure(count: int, *, is_warm: bool) -> list[tuple[float, Verdict]]:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder).resolve()
        shutil.copytree(Path(pip.__file__).parent, root / "pip", ignore=shutil.ignore_patterns("*.pyc"))
        print(f"{sum(1 for _ in root.rglob('*.py'))} files of Python")
        pool = CheckerPool()
        tools = ToolComparison(ToolAccess(allow_run, machine_sandbox))
        ruff = WarmRuff(pool) if is_warm else Ruff()
        checks = CheckTools(ruff, types=TypeComparison(pool, tools))
        found: list[tuple[float, Verdict]] = []
        for number in range(-IN_A_ROW, count):
            changes = propose(root, FILES[number // IN_A_ROW % len(FILES)], number)
            if session := pool.find("ruff", root):
                await session.wait_until_ready(changes.main.before)
            start = perf_counter()
            verdict = await run_checks(changes, create_checks(SETTINGS, CheckContext(checks)))
            # the first of a file is the one that looks at the text before the change, too
            if number >= 0 and number % IN_A_ROW:
                found.append((1000 * (perf_counter() - start), verdict))
        await pool.aclose()
        await tools.aclose()
        return found


def report(found: list[tuple[float, Verdict]]) -> None:
    totals = sorted(total for total, _ in found)
    print(f"all checks: p50 {statistics.median(totals):.1f} ms, p95 {totals[int(len(totals) * 0.95)]:.1f} ms")
    for number, outcome in enumerate(found[0][1].outcomes):
        values = [verdict.outcomes[number].ms for _, verdict in found]
        statuses = {verdict.outcomes[number].status for _, verdict in found}
        print(f"  {outcome.check}: p50 {statistics.median(values):.1f} ms ({', '.join(sorted(statuses))})")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--candidates", type=int, default=60)
    parser.add_argument("--cold-ruff", action="store_true")
    args = parser.parse_args()
    report(asyncio.run(measure(args.candidates, is_warm=not args.cold_ruff)))


if __name__ == "__main__":
    main()
