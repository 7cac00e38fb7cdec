"""The repair of one-slip bugs in real packages: how many become the original text again, without and with the model.

    python -m benchmarks.real_packages --prepare --package inflection    # fetches a package into a folder of the cache
    python -m benchmarks.planted_bugs FOLDER:SOURCE --bugs 10 --json planted.json
    python -m benchmarks.planted_bugs FOLDER:SOURCE --bugs 10 --model

FOLDER is a project whose tests pass, with its own environment in `.venv`, and SOURCE is a folder or file of modules in
it. Bugs are drawn from a seed (`benchmarks.slip_edits`), of all kinds in turn. Those count that a test of the project
finds. Each one is written into its file, the harness repairs the file by its failing tests, and the file is as it was
again. A repair is *solved* if it is the program that the authors wrote. It is *wrong* if all tests of the project pass
with it and it is another program, and *false* if they do not pass.
"""

import argparse
import ast
import asyncio
import difflib
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from time import perf_counter

from benchmarks.layouts.judge import switch_types_off
from benchmarks.slip_edits import find_slips
from benchmarks.source_edits import SourceEdit, draw_edits
from lsp_harness.coding.ladder.slip_kinds import SLIP_NAMES
from lsp_harness.config.permission_schema import Permissions
from lsp_harness.config.schema import Config, Generation
from lsp_harness.errors import EngineUnavailable, HarnessError
from lsp_harness.harness.events import HarnessEvent, TurnReported
from lsp_harness.harness.harness import Harness
from lsp_harness.inference.client import Engine
from lsp_harness.inference.engine_choice import make_engine
from lsp_harness.inference.request import Props
from lsp_harness.inference.scripted_engine import ScriptedEngine
from lsp_harness.project.command_project import QuietOutput
from lsp_harness.project.project_index import open_ready_index
from lsp_harness.text.document import Document
from lsp_harness.text.position import decode
from lsp_harness.workspace.workspace import Workspace

MAX_TRIES = 8
"""So many edits are tried for each bug that is wanted."""
SUITE_TIMEOUT_S = 120


class AbsentEngine(ScriptedEngine):
    """An engine that is not there, so that only repairs without a model are found."""

    def __init__(self) -> None:
        super().__init__([])

    async def props(self, *, fresh: bool = False) -> Props:
        """Raise the error of an engine that does not run."""
        raise EngineUnavailable("no model is used here")


@dataclass(frozen=True, slots=True)
class PlantedProject:
    """A project into which bugs are planted.

    Attributes:
        root: The folder.
        source: The folder or file of its modules.
    """

    root: Path
    source: Path

    @classmethod
    def parse(cls, text: str) -> "PlantedProject":
        """Return the project of an argument `FOLDER:SOURCE`."""
        folder, _, source = text.partition(":")
        root = Path(folder).resolve()
        return cls(root, root / source)

    @property
    def files(self) -> list[Path]:
        """The modules, without tests."""
        if self.source.is_file():
            return [self.source]
        found = sorted(self.source.rglob("*.py"))
        return [file for file in found if not {"test", "tests", ".venv"} & set(file.relative_to(self.root).parts)]

    def passes(self) -> bool:
        """Return whether all tests of the project pass as it is on disk."""
        python = self.root / ".venv" / "bin" / "python"
        env = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "VIRTUAL_ENV"))}
        try:
            result = subprocess.run(
                [str(python), "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider"],
                cwd=self.root,
                env={**env, "PYTHONDONTWRITEBYTECODE": "1"},
                capture_output=True,
                check=False,
                stdin=subprocess.DEVNULL,
                timeout=SUITE_TIMEOUT_S,
            )
        except subprocess.TimeoutExpired:
            return False
        return result.returncode == 0

    def passes_with(self, path: str, data: bytes) -> bool:
        """Return whether all tests pass with another content of a file."""
        file = self.root / path
        present = file.read_bytes()
        try:
            file.write_bytes(data)
            return self.passes()
        finally:
            file.write_bytes(present)

    def find_bugs(self, count: int, seed: int) -> list[SourceEdit]:
        """Return bugs that the tests find, of all kinds in turn.

        Args:
            count: How many.
            seed: The same seed gives the same bugs.
        """
        found: list[SourceEdit] = []
        drawn = draw_edits(self.root, self.files, find_slips, f"{self.root.name} {self.source.name} {seed}")
        for _, edit in zip(range(MAX_TRIES * count), drawn, strict=False):
            data = edit.apply((self.root / edit.path).read_bytes())
            if _is_program(data) and not self.passes_with(edit.path, data):
                found.append(edit)
            if len(found) == count:
                break
        return found


def _is_program(data: bytes) -> bool:
    try:
        ast.parse(data)
    except (SyntaxError, ValueError):
        return False
    return True


@dataclass(frozen=True, slots=True)
class Repaired:
    """The result of the repair of one bug.

    Attributes:
        project: The folder of the project.
        bug: The kind of the bug.
        place: Its file and line, with its text and that of the authors.
        result: "solved", "wrong", "false" or "none".
        kind: How the proposed candidate was made, or an empty text.
        seconds: The time of the repair.
        words: The summary of the proposal, or why there is none.
        shown: The lines that the proposal has instead of lines of the authors, if it is not their program.
    """

    project: str
    bug: str
    place: str
    result: str
    kind: str
    seconds: float
    words: str
    shown: str = ""

    @property
    def is_by_slips(self) -> bool:
        """Return whether the repair needed no model."""
        return self.kind in SLIP_NAMES


@asynccontextmanager
async def open_harness(root: Path, engine: Engine, config: Config) -> AsyncIterator[Harness]:
    """Open a folder as an editor would, with its index."""
    async with open_ready_index(root, config, QuietOutput(), creates_index=True) as index:
        harness = Harness(config, lambda _: engine, Workspace([root]), index=index)
        try:
            yield harness
        finally:
            await harness.aclose()


async def repair(project: PlantedProject, edit: SourceEdit, engine: Engine, config: Config) -> Repaired:
    """Plant a bug, let the harness repair it, and write the file back.

    Args:
        project: The project.
        edit: The bug.
        engine: The model.
        config: The settings.
    """
    file = project.root / edit.path
    original = file.read_bytes()
    broken = edit.apply(original)
    kinds: list[str] = []
    text, words, seconds = None, "", 0.0
    try:
        file.write_bytes(broken)
        async with open_harness(project.root, engine, config) as harness:
            texts: dict[str, str] = {}

            def listen(event: HarnessEvent) -> None:
                if isinstance(event, TurnReported) and event.event.type == "candidate.generated":
                    texts[event.event.data["text"]] = event.event.data["kind"]

            harness.events.subscribe(listen)
            harness.open(Document.from_text(file.as_uri(), broken, version=1))
            start = perf_counter()
            try:
                written = await harness.fixes.repair_tests(harness.snapshot(file.as_uri()), lambda progress: None)
                change = written.proposal.changes.main
                text, words = change.after.data, written.proposal.summary
                kinds = [texts.get("\n".join(decode(one.new) for one in change.edits), "model")]
            except HarnessError as error:
                words = error.message
            seconds = perf_counter() - start
    finally:
        file.write_bytes(original)
    result = "none"
    if text is not None:
        is_same = ast.dump(ast.parse(text)) == ast.dump(ast.parse(original))
        result = "solved" if is_same else "wrong" if project.passes_with(edit.path, text) else "false"
    start_byte, end_byte, new = edit.replacements[0]
    line = original.count(b"\n", 0, start_byte) + 1
    place = f"{edit.path}:{line} `{decode(original[start_byte:end_byte])[:60]}` → `{decode(new)[:60]}`"
    shown = _find_other_lines(original, text) if text is not None and result != "solved" else ""
    return Repaired(project.root.name, edit.kind, place, result, "".join(kinds), seconds, words, shown)


def _find_other_lines(original: bytes, text: bytes) -> str:
    lines = difflib.ndiff(decode(original).splitlines(), decode(text).splitlines())
    return " | ".join(" ".join(line.split()) for line in lines if line.startswith(("-", "+")))


def describe(rows: Sequence[Repaired]) -> Iterator[str]:
    """Yield lines about some repairs."""
    for name, some in (("without the model", [row for row in rows if row.is_by_slips]), ("all", rows)):
        counts = Counter(row.result for row in some)
        times = [row.seconds for row in some]
        median = statistics.median(times) if times else 0.0
        words = ", ".join(f"{counts[result]} {result}" for result in ("solved", "wrong", "false", "none"))
        yield f"{name}: {words} of {len(rows)}; median {median:.1f} s"
    for kind, count in sorted(Counter(row.bug for row in rows).items()):
        yield f"  {kind}: {sum(row.result == 'solved' for row in rows if row.bug == kind)} of {count} solved"


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("projects", nargs="+", help="FOLDER:SOURCE")
    parser.add_argument("--bugs", type=int, default=10, help="bugs of each project")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--model", action="store_true", help="ask the model if nothing else repairs the bug")
    parser.add_argument("--limit", type=int, default=120, help="seconds of each repair")
    parser.add_argument("--json", type=Path, help="the file for all results")
    args = parser.parse_args()
    # an ended run must write the files back, too
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(1))
    rows: list[Repaired] = []
    with tempfile.TemporaryDirectory() as home:
        if not args.model:
            os.environ["LSP_HARNESS_HOME"] = home
        switch_types_off()
        for project in map(PlantedProject.parse, args.projects):
            if not project.passes():
                print(f"{project.root}: left out, because its tests fail before any bug", flush=True)
                continue
            bugs = project.find_bugs(args.bugs, args.seed)
            print(f"{project.root}: {len(bugs)} bugs", flush=True)
            rows += asyncio.run(_repair_all(project, bugs, args))
            if args.json:
                args.json.write_text(json.dumps([asdict(row) for row in rows], indent=1, ensure_ascii=False))
    print("\n".join(describe(rows)))


async def _repair_all(project: PlantedProject, bugs: Sequence[SourceEdit], args: argparse.Namespace) -> list[Repaired]:
    permissions = Permissions(trusted_folders=(str(project.root),))
    config = Config(permissions=permissions, generation=replace(Generation(), test_repair_s=args.limit))
    engine = make_engine(config) if args.model else AbsentEngine()
    rows: list[Repaired] = []
    try:
        for bug in bugs:
            row = await repair(project, bug, engine, config)
            rows.append(row)
            print(
                f"  {row.result} {row.seconds:.1f} s [{row.bug}] {row.place}\n    {row.kind}: {row.words}"
                + (f"\n    {row.shown}" if row.shown else ""),
                flush=True,
            )
    finally:
        await engine.aclose()
    return rows


if __name__ == "__main__":
    main()
