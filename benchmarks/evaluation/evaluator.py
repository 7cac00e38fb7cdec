"""An evaluation with one model: it compares arms, or fills the table of weaknesses."""

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace

from benchmarks.evaluation.ablation import apply_ablations
from benchmarks.evaluation.eval_run import EvalRun, Report, RunOptions
from benchmarks.evaluation.results.result_file import ResultFile
from benchmarks.evaluation.results.task_result import TaskResult
from benchmarks.evaluation.results.weakness_table import WeaknessRow, run_weaknesses
from benchmarks.evaluation.suites.eval_task import Suite
from lsp_harness.config.schema import Config
from lsp_harness.errors import HarnessError
from lsp_harness.inference.client import Engine
from lsp_harness.inference.engine_choice import make_engine

WEAKNESS_ARM = "ladder"


@dataclass(frozen=True, slots=True)
class Evaluator:
    """An evaluation of one suite.

    Attributes:
        suite: The tasks.
        config: The settings, with the parts that are switched off for all tasks.
        options: The options of the runs.
        file: The results.
        report: Gets each new result.
        create_engine: Creates the engine of the settings.
    """

    suite: Suite
    config: Config
    options: RunOptions
    file: ResultFile
    report: Report
    create_engine: Callable[[Config], Engine] = make_engine

    async def compare_arms(self) -> list[TaskResult]:
        """Run the arms of the options, and return their results."""
        async with self._open_engine() as engine:
            return await EvalRun(self.suite, self.config, engine, self.options, self.file, self.report).run()

    async def compare_weaknesses(self) -> list[WeaknessRow]:
        """Run each task of the weakness table with its compensation and without it.

        Raises:
            UsageError: The suite has no such task.
        """
        async with self._open_engine() as engine:

            async def run(suite: Suite, without: tuple[str, ...]) -> list[TaskResult]:
                config = apply_ablations(self.config, without)
                options = replace(self.options, arms=(WEAKNESS_ARM,), ablation=without, limit=0)
                return await EvalRun(suite, config, engine, options, self.file, self.report).run()

            return await run_weaknesses(self.suite, run)

    @asynccontextmanager
    async def _open_engine(self) -> AsyncGenerator[Engine]:
        engine = self.create_engine(self.config)
        try:
            yield engine
        except BaseException:
            # the error of the run matters more than one while the engine is closed
            with suppress(HarnessError):
                await engine.aclose()
            raise
        await engine.aclose()
