"""`lsp-harness setup`: everything that this machine needs in one command, which continues where it was interrupted."""

import asyncio
import shutil
import sys
from pathlib import Path
from time import monotonic
from typing import Annotated

from cyclopts import Parameter

from lsp_harness.cli.console import JsonOption, console, print_json, say, warn
from lsp_harness.cli.doctor.doctor_engine import advise_model
from lsp_harness.cli.doctor.doctor_row import DoctorRow
from lsp_harness.cli.folder_settings import read_settings
from lsp_harness.cli.setup.bundle import WHEELS, Bundle, list_wheel_options, write_bundle
from lsp_harness.cli.setup.setup_steps import CHECKERS, ENGINE, SetupStep, choose_library, plan_steps, run_pip
from lsp_harness.config import paths
from lsp_harness.config.schema import Config
from lsp_harness.errors import HarnessError, LibraryError, UsageError
from lsp_harness.extras import read_extras
from lsp_harness.inference.engine_choice import make_engine
from lsp_harness.inference.libraries.library_catalogue import find_card
from lsp_harness.inference.libraries.library_choice import libraries_folder
from lsp_harness.inference.models import model_files
from lsp_harness.inference.models.catalogue import card
from lsp_harness.inference.models.partial_file import folder_size
from lsp_harness.inference.models.pull_report import PullReport, format_mib, stderr_report
from lsp_harness.inference.running_engines import end_engines, is_listening
from lsp_harness.inference.supervisor import end_engine, engine_address
from lsp_harness.inference.target import is_remote

EDITORS = {"code": "VS Code", "nvim": "Neovim", "emacs": "Emacs", "hx": "Helix", "zed": "Zed", "subl": "Sublime Text"}
"""Programs of editors, and the names of the editors in docs/editors.md."""
MARKS = {"here": "[green]✓[/]", "missing": "[yellow]↓[/]", "impossible": "[red]✗[/]"}
YES = ("y", "yes")


def setup(
    *,
    yes: Annotated[
        bool, Parameter(("--yes", "-y"), negative="", help="Do not ask before a download or a removal.")
    ] = False,
    dry_run: Annotated[bool, Parameter(negative="", help="Only show what would be done.")] = False,
    offline: Annotated[Path | None, Parameter(help="Use the files of a bundle, and no network.")] = None,
    bundle: Annotated[
        Path | None, Parameter(help="Make a bundle in this folder for a machine without a network.")
    ] = None,
    target: Annotated[
        str,
        Parameter(
            "--for",
            help="The kind of that machine: a name of `lsp-harness engine libraries list --all`, such as "
            "win-x64. Default: this machine. Its Python must have the same version.",
        ),
    ] = "",
    remove: Annotated[
        bool, Parameter(negative="", help="Remove what setup has stored: libraries, models and caches.")
    ] = False,
    json: JsonOption = False,
) -> int:
    """Fetch what this machine needs: llama.cpp, the model and the checkers.

    A part that is here already is not fetched again, and an unfinished download is continued.
    """
    if sum(map(bool, (offline, bundle, remove))) > 1:
        raise UsageError("--offline, --bundle and --remove are different commands; give one of them")
    if target and not bundle:
        raise UsageError("--for names the machine of a bundle; give --bundle DIR too")
    if remove:
        return _remove(is_sure=yes, dry_run=dry_run)
    if bundle:
        with stderr_report() as report:
            return _make_bundle(bundle, target, report)
    config = read_settings()
    steps = list(plan_steps(config, Bundle.open(offline) if offline else None))
    if json:
        print_json([{"name": step.name, "state": step.state, "says": step.says, "bytes": step.bytes} for step in steps])
    else:
        _print_steps(steps)
    missing = [(step, step.run) for step in steps if step.run]
    if dry_run or not missing:
        return _finish(steps, json=json, is_done=not missing)
    if not yes and not _ask(f"Fetch {format_mib(sum(step.bytes for step, _ in missing))}?"):
        return 1
    failures, start = list[HarnessError](), monotonic()
    for number, (step, run) in enumerate(missing, 1):
        say(f"[{number}/{len(missing)}] {step.name}: {step.says}")
        # the progress goes to standard error
        sys.stdout.flush()
        try:
            with stderr_report() as report:
                say(f"      {run(report)}")
        except HarnessError as error:
            failures.append(error)
            warn(f"{step.name}: {error.message}")
    if failures:
        warn("run lsp-harness setup again to continue")
        return failures[0].exit_code
    if not json:
        say(f"done in {monotonic() - start:.0f} s")
        _advise_model(config)
    return _finish(steps, json=json, is_done=True)


def _print_steps(steps: list[SetupStep]) -> None:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, show_header=False, padding=(0, 1))
    for step in steps:
        size = format_mib(step.bytes) if step.state == "missing" else ""
        table.add_row(MARKS[step.state], step.name, Text(step.says), size)
    console().print(table)


def _finish(steps: list[SetupStep], *, json: bool, is_done: bool) -> int:
    """Say what comes next. Return the exit status: 1 if a part cannot be set up."""
    if is_done and not json:
        found = [name for program, name in EDITORS.items() if shutil.which(program)]
        hint = f" (here: {', '.join(found)})" if found else ""
        say(f"let your editor start `lsp-harness serve`{hint}: docs/editors.md says how")
        say("lsp-harness demo shows what it does")
    return int(any(step.state == "impossible" for step in steps))


def _advise_model(config: Config) -> None:
    """Measure the speed of the model on this machine, which takes some seconds, and say which model fits."""
    if is_remote(config.engine) or config.engine.script or not config.completion.patience_ms:
        return
    with stderr_report() as report:
        report.step(f"measuring how fast this machine runs {config.model.path}")
        try:
            row = asyncio.run(_measure_and_propose(config))
        except HarnessError as error:
            warn(f"the speed cannot be measured: {error.message}")
            return
    if row:
        say(row.says)


async def _measure_and_propose(config: Config) -> DoctorRow | None:
    # an engine of the user goes on
    was_running = is_listening(engine_address(model_files.resolve_model(config.model.path), config).socket)
    engine = make_engine(config)
    try:
        return advise_model((await engine.props()).raw, config.completion)
    finally:
        await engine.aclose()
        if not was_running:
            await end_engine(config)


def _ask(question: str) -> bool:
    """Ask the person at the terminal. Raise UsageError if there is none."""
    if not sys.stdin.isatty():
        raise UsageError("there is no terminal to ask; run: lsp-harness setup --yes")
    return input(f"{question} [y/n] ").strip().casefold() in YES


def _make_bundle(folder: Path, target: str, report: PullReport) -> int:
    from lsp_harness.inference.libraries.library_fetch import fetch_package
    from lsp_harness.inference.models.pull import pull

    config = read_settings()
    library = find_card(target) if target else choose_library(config.engine.library)
    if library is None:
        raise LibraryError("there is no prebuilt library for this kind of machine, so a bundle would be of no use")
    try:
        (folder / WHEELS).mkdir(parents=True, exist_ok=True)
        fetch_package(library, folder / library.package_file, report)
        model = card(config.model.path)
        file = pull(model, report=report).path
        report.step(f"wheels of {', '.join(CHECKERS)} and of the packages of the engine")
        packages = (package.requirement for package in read_extras().get(ENGINE, ()))
        run_pip(["download", *list_wheel_options(library), "-d", str(folder / WHEELS), *CHECKERS, *packages])
        write_bundle(folder, library, model, file)
    except OSError as error:
        raise UsageError(f"{folder} cannot be written: {error.strerror or error}") from error
    say(f"{folder} has {format_mib(folder_size(folder))}; on the other machine: lsp-harness setup --offline {folder}")
    return 0


def _remove(*, is_sure: bool, dry_run: bool) -> int:
    folders = {libraries_folder(), model_files.models_folder(), paths.cache_folder()}
    filled = [folder for folder in folders if folder.is_dir() and any(folder.iterdir())]
    outer = sorted(folder for folder in filled if not folders & {*folder.parents})
    for folder in outer:
        say(f"{folder}: {format_mib(folder_size(folder))}")
    if not outer:
        say("nothing is stored")
        return 0
    if dry_run or not (is_sure or _ask("End the engines and remove these folders?")):
        return 0 if dry_run else 1
    asyncio.run(end_engines())
    for folder in outer:
        try:
            shutil.rmtree(folder)
        except OSError as error:
            raise UsageError(f"{folder} cannot be removed: {error.strerror or error}") from error
    say(f"removed; your sessions and logs are kept in {paths.state_folder()}")
    return 0
