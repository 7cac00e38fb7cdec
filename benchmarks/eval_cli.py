"""`lsp-harness eval`: run the tasks of a suite, and compare ways to answer them."""

import asyncio
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from benchmarks.evaluation.ablation import apply_ablations, set_candidates
from benchmarks.evaluation.arm_registry import ARMS
from benchmarks.evaluation.attempt import CATEGORIES
from benchmarks.evaluation.eval_run import RunOptions
from benchmarks.evaluation.evaluator import Evaluator
from benchmarks.evaluation.results.arm_figures import ArmFigures, compare_pairs, compute_figures, group_results
from benchmarks.evaluation.results.result_file import ResultFile
from benchmarks.evaluation.results.results_page import render_results
from benchmarks.evaluation.results.task_result import TaskResult
from benchmarks.evaluation.results.weakness_table import WeaknessRow
from benchmarks.evaluation.suites.eval_task import Suite
from benchmarks.evaluation.suites.suite_formats import read_suite
from lsp_harness.cli.console import JsonOption, console, print_json, require_positive, say
from lsp_harness.cli.folder_settings import read_settings
from lsp_harness.config.schema import Config
from lsp_harness.disk.file_reading import describe_system_error
from lsp_harness.errors import UsageError
from lsp_harness.inference.engine_choice import describe_model
from lsp_harness.sessions.model_choice import choose_model

DEFAULT_ARMS = ("single", "best8", "ladder", "oracle")
TABLE_WIDTH = 160


@Parameter(name="*")
@dataclass(frozen=True)
class EvalChoice:
    """The options that choose the tasks, the arms and the model."""

    arm: Annotated[
        tuple[str, ...],
        Parameter(
            help="An arm: single, best8, oracle8, ladder, oracle or gold. Write it once for each arm. The default is "
            "single, best8, ladder and oracle.",
            negative="",
        ),
    ] = ()
    model: Annotated[str, Parameter(help="The model, as in `run --model`.")] = ""
    provider: Annotated[str, Parameter(help="The provider, as in `run --provider`.")] = ""
    task: Annotated[
        tuple[str, ...], Parameter(help="Use only tasks with such a name, such as quix/*.", negative="")
    ] = ()
    limit: Annotated[int, Parameter(help="Use only the first so many tasks; 0 means all.")] = 0
    language: Annotated[str, Parameter(help="Use only tasks whose target has this ending, such as .py.")] = ""
    jobs: Annotated[
        int, Parameter(help="Run so many tasks at once. Seconds are only measured with 1.", validator=require_positive)
    ] = 1
    time_limit: Annotated[
        int, Parameter(help="Seconds after which an attempt is cut off.", validator=require_positive)
    ] = 300
    token_limit: Annotated[
        int, Parameter(help="Generated tokens after which an attempt is cut off.", validator=require_positive)
    ] = 20_000


@Parameter(name="*")
@dataclass(frozen=True)
class EvalAblation:
    """The options that switch parts of the harness off."""

    candidates: Annotated[int, Parameter(help="Generate so many candidates; 0 leaves the settings.")] = 0
    no_context: Annotated[bool, Parameter(negative="", help="Show the model no other code than that to change.")] = (
        False
    )
    no_retry: Annotated[bool, Parameter(negative="", help="Do not tell the model why its candidates failed.")] = False
    no_knowledge: Annotated[bool, Parameter(negative="", help="Do not read installed packages.")] = False
    no_review: Annotated[bool, Parameter(negative="", help="Do not let the model review its edits.")] = False
    no_checks: Annotated[bool, Parameter(negative="", help="Check the syntax only.")] = False
    no_tests: Annotated[bool, Parameter(negative="", help="Do not run the visible tests.")] = False
    no_plan: Annotated[bool, Parameter(negative="", help="Do not edit the callers of the code to change.")] = False
    no_repairs: Annotated[bool, Parameter(negative="", help="Do not try repairs that need no model.")] = False

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the parts that are switched off."""
        flags = (item.name for item in fields(self) if item.name.startswith("no_"))
        return tuple(flag.replace("_", "-") for flag in flags if getattr(self, flag))


def eval(
    suite: str,
    /,
    *,
    choice: EvalChoice | None = None,
    ablation: EvalAblation | None = None,
    ablate: Annotated[
        bool,
        Parameter(negative="", help="Show the table of weaknesses: each task with its compensation and without it."),
    ] = False,
    out: Annotated[
        Path | None, Parameter(help="The file of results. A stopped run goes on. The default is SUITE.eval.jsonl.")
    ] = None,
    page: Annotated[Path | None, Parameter(help="The HTML page. The default is beside the results.")] = None,
    json: JsonOption = False,
) -> int:
    """Run the tasks of a suite with hidden checks, and compare ways to answer.

    Parameters
    ----------
    suite
        A TOML file of tasks, a JSONL file of a development set, or the name of a set in LSP_HARNESS_EVAL_DATA.
    """
    chosen, switched_off = choice or EvalChoice(), ablation or EvalAblation()
    if unknown := next((name for name in chosen.arm if name not in ARMS), ""):
        raise UsageError(f"there is no arm {unknown!r}; the arms are {', '.join(ARMS)}")
    if chosen.limit < 0:
        raise UsageError("--limit must be 0 (all) or more")
    tasks = _select_tasks(read_suite(suite), chosen)
    config = choose_model(read_settings(), chosen.provider, chosen.model)
    config = set_candidates(apply_ablations(config, switched_off.names), switched_off.candidates)
    file = ResultFile(out or Path(f"{tasks.name}.eval.jsonl"))
    evaluator = Evaluator(tasks, config, _create_options(chosen, switched_off, config), file, _show_progress)
    rows = asyncio.run(evaluator.compare_weaknesses()) if ablate else []
    results = [] if ablate else asyncio.run(evaluator.compare_arms())
    page = page or file.path.with_suffix(".html")
    _write(page, render_results(file.results))
    if json:
        print_json([asdict(row) for row in rows] if ablate else _convert_to_json(results))
        return 0
    _print_weaknesses(rows) if ablate else _print_figures(results)
    for note in tasks.notes:
        say(f"  {note}")
    say(f"  {file.path} has the results, and {page} shows them")
    return 0


def _select_tasks(suite: Suite, choice: EvalChoice) -> Suite:
    patterns = choice.task or ("*",)
    tasks = tuple(
        task
        for task in suite.tasks
        if task.target.endswith(choice.language) and any(fnmatchcase(task.id, pattern) for pattern in patterns)
    )
    if not tasks:
        raise UsageError(f"{suite.name} has no such task; it has {', '.join(task.id for task in suite.tasks[:5])}, …")
    return replace(suite, tasks=tasks)


def _create_options(choice: EvalChoice, ablation: EvalAblation, config: Config) -> RunOptions:
    names = (*ablation.names, *([f"candidates={ablation.candidates}"] if ablation.candidates else []))
    arms = tuple(dict.fromkeys(choice.arm)) or DEFAULT_ARMS
    return RunOptions(
        arms, describe_model(config), names, choice.limit, choice.time_limit, choice.token_limit, choice.jobs
    )


def _show_progress(result: TaskResult, done: int, total: int) -> None:
    reason = f": {result.reason}" if result.reason else ""
    ablation = f" ({result.ablation})" if result.ablation else ""
    line = f"{done}/{total} {result.task} {result.arm}{ablation} {result.category} {result.seconds:.1f} s{reason}"
    sys.stderr.write(f"{line[:TABLE_WIDTH]}\n")
    sys.stderr.flush()


def _convert_to_json(results: Sequence[TaskResult]) -> dict[str, object]:
    groups = group_results(results)
    figures = [compute_figures(arm, found) for arm, found in groups.items()]
    return {
        "arms": [{**asdict(item), "judged": item.judged, "pass_share": item.pass_share} for item in figures],
        "pairs": [asdict(pair) for pair in compare_pairs(groups)],
    }


def _print_figures(results: Sequence[TaskResult]) -> None:
    from rich.table import Table

    groups = group_results(results)
    table = Table(box=None)
    for heading in ("arm", *CATEGORIES, "of judged", "median s", "tokens", "verified", "wrong", "form only", "wrong"):
        table.add_column(heading, justify="left" if heading == "arm" else "right", no_wrap=True)
    figures = [compute_figures(arm, found) for arm, found in groups.items()]
    for item in figures:
        table.add_row(*_make_figure_cells(item))
    terminal = console()
    terminal.width = max(terminal.width, TABLE_WIDTH)
    terminal.print(table)
    for pair in compare_pairs(groups):
        say(
            f"  {pair.first} and {pair.second}: both {pair.both}, only {pair.first} {pair.only_first}, "
            f"only {pair.second} {pair.only_second}, neither {pair.neither}; p = {pair.p:.3f}"
        )
    total = {category: sum(item.counts[category] for item in figures) for category in CATEGORIES}
    not_judged = total["tool missing"] + total["error"]
    others = total["fail"] + total["no answer"] + total["cut off"]
    say(f"  pass={total['pass']} fail={others} exc={not_judged}")


def _make_figure_cells(item: ArmFigures) -> tuple[str, ...]:
    share = "–" if item.pass_share is None else f"{item.pass_share:.0%}"
    counts = (str(item.counts[category]) for category in CATEGORIES)
    costs = (f"{item.median_s:.1f}", f"{item.mean_tokens:.0f}")
    told = (item.verified, item.false_verified, item.form_only, item.form_only_wrong)
    return (item.arm, *counts, share, *costs, *map(str, told))


def _print_weaknesses(rows: Sequence[WeaknessRow]) -> None:
    from rich.table import Table

    table = Table(box=None)
    for heading in ("weakness", "with its compensation", "without", "switched off"):
        table.add_column(heading, no_wrap=True)
    for row in rows:
        cells = [result.category if result else "no task" for result in (row.with_result, row.without_result)]
        table.add_row(row.weakness, *cells, row.without)
    console().print(table)
    shown = sum(row.is_shown for row in rows)
    say(f"  {shown} of {len(rows)} weaknesses are shown: the task passes with the compensation only")


def _write(page: Path, text: str) -> None:
    try:
        page.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(
            f"{page} cannot be written ({describe_system_error(error)}); name another file with --page"
        ) from error
