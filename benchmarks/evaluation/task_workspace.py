"""The workspace of a task: a folder with its visible files, which a harness opens as a user's editor would."""

import asyncio
import shutil
import tempfile
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from benchmarks.evaluation.attempt import ToolMissing
from benchmarks.evaluation.metered_engine import MeteredEngine
from benchmarks.evaluation.suites.check_process import write_files
from benchmarks.evaluation.suites.eval_task import EvalTask
from benchmarks.evaluation.turn_record import TurnRecord
from lsp_harness.config.schema import Config
from lsp_harness.errors import HarnessError
from lsp_harness.harness.harness import Harness
from lsp_harness.harness.verification.verifier import Verifier
from lsp_harness.index.index_place import prepare_place
from lsp_harness.inference.client import Engine
from lsp_harness.process.sandbox.sandbox_choice import machine_sandbox
from lsp_harness.process.sandbox.sandbox_policy import ResourceLimits
from lsp_harness.project.command_project import QuietOutput
from lsp_harness.project.project_index import open_ready_index
from lsp_harness.text.document import Document
from lsp_harness.text.position import encode
from lsp_harness.verify.project_tests.confined_tests import SuiteChoice, SuiteRun, run_tests
from lsp_harness.verify.project_tests.runner_registry import find_runner
from lsp_harness.verify.ruff_linter import Ruff, RuffReport
from lsp_harness.workspace.snapshot import Snapshot
from lsp_harness.workspace.workspace import Workspace

TEST_LIMIT_S = 20.0
PYTEST_SETTINGS = ("pytest.ini", "[pytest]\n")
"""The file that tells the harness that the visible tests are those of pytest. A task may have its own."""


class FixlessRuff(Ruff):
    """The linter without its own fixes. With them, a set of diagnostics would measure the linter."""

    async def check(
        self, document: Document, file: Path, root: Path | None, *, select: str = "", isolated: bool = False
    ) -> tuple[RuffReport, ...]:
        """Return the findings of ruff without fixes."""
        reports = await super().check(document, file, root, select=select, isolated=isolated)
        return tuple(RuffReport(report.finding) for report in reports)


@dataclass(slots=True)
class OpenTask:
    """A task whose workspace is open.

    Attributes:
        task: The task.
        root: The folder.
        harness: The harness that has the target open.
        meter: The engine of the attempt.
        record: The events of the attempt.
    """

    task: EvalTask
    root: Path
    harness: Harness
    meter: MeteredEngine
    record: TurnRecord
    _test_runs: dict[str, SuiteRun] = field(default_factory=dict[str, SuiteRun])

    @property
    def file(self) -> Path:
        """The file to change."""
        return self.root / self.task.target

    @property
    def snapshot(self) -> Snapshot:
        """The target as it is in the editor."""
        return self.harness.snapshot(self.file.as_uri())

    async def run_visible_tests(self, text: str) -> SuiteRun | None:
        """Run the visible tests on a text of the target. Return None if there are none.

        Raises:
            ToolMissing: No sandbox works here, or nothing runs these tests.
        """
        if not self.task.tests:
            return None
        if text not in self._test_runs:
            choice = machine_sandbox()
            runner = await asyncio.to_thread(find_runner, self.root, self.task.target)
            if runner is None or not choice.is_confined:
                raise ToolMissing("no program runs the tests here" if runner is None else "no sandbox works here")
            selection = SuiteChoice(self.task.tests, 0, ResourceLimits(wall_s=TEST_LIMIT_S))
            texts = {self.file: encode(text)}
            self._test_runs[text] = await run_tests(runner, self.root, texts, selection, choice.sandbox)
        return self._test_runs[text]


@asynccontextmanager
async def open_task(task: EvalTask, config: Config, engine: Engine, token_limit: int) -> AsyncGenerator[OpenTask]:
    """Write the visible files of a task into a new folder, index it and open the target. All is removed afterwards.

    Args:
        task: The task.
        config: The settings.
        engine: The model. It stays open.
        token_limit: The most tokens that the model may generate.
    """
    root = Path(await asyncio.to_thread(tempfile.mkdtemp, prefix="lsp-harness-eval-")).resolve()
    record = TurnRecord()
    meter = MeteredEngine(engine, token_limit, lambda: record.state)
    sessions: list[Path] = []
    # this function has written the folder, so its tests may run
    trusted = replace(config.permissions, trusted_folders=(*config.permissions.trusted_folders, str(root)))
    config = replace(config, permissions=trusted)
    try:
        await asyncio.to_thread(write_files, root, _list_visible_files(task))
        async with open_ready_index(root, config, QuietOutput(), creates_index=True) as index:
            harness = Harness(config, lambda _: meter, Workspace([root]), index=index)
            if task.finding:
                harness.services.verifier = _remove_linter_fixes(harness.services.verifier)
            harness.events.subscribe(record.listen)
            harness.open(Document.from_text((root / task.target).as_uri(), encode(task.source), version=1))
            try:
                yield OpenTask(task, root, harness, meter, record)
            finally:
                if log := harness.services.session_log_if_any:
                    sessions.append(log.folder)
                with suppress(HarnessError):
                    await harness.aclose()
    finally:
        # the results have what is needed of the session, and the user's own list must not fill up with tasks
        for folder in (root, prepare_place(root).folder, *sessions):
            await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)


def _list_visible_files(task: EvalTask) -> Mapping[str, str]:
    name, text = PYTEST_SETTINGS
    return {name: text, **task.files} if task.tests else task.files


def _remove_linter_fixes(verifier: Verifier) -> Verifier:
    return replace(verifier, tools=replace(verifier.tools, ruff=FixlessRuff()))
