"""`lsp-harness setup`: everything that this machine needs in one command, which continues where it was interrupted."""

import asyncio
import shutil
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from time import monotonic
from typing import Annotated

from cyclopts import Parameter

from lsp_harness.cli.console import JsonOption, console, print_json, say, warn
from lsp_harness.cli.doctor.doctor_engine import find_proposal
from lsp_harness.cli.folder_settings import read_settings
from lsp_harness.cli.setup.bundle import WHEELS, Bundle, list_wheel_options, write_bundle
from lsp_harness.cli.setup.setup_steps import CHECKERS, ENGINE, SetupStep, choose_library, plan_steps, run_pip
from lsp_harness.config import paths
from lsp_harness.config.schema import Config
from lsp_harness.config.setting_writing import write_user_setting
from lsp_harness.errors import HarnessError, LibraryError, UsageError
from lsp_harness.extras import read_extras
from lsp_harness.inference.engine_choice import make_engine
from lsp_harness.inference.libraries.library_catalogue import find_card
from lsp_harness.inference.libraries.library_choice import libraries_folder
from lsp_harness.inference.models import model_files
from lsp_harness.inference.models.catalogue import card
from lsp_harness.inference.models.model_choice import ModelProposal
from lsp_harness.inference.models.partial_file import folder_size
from lsp_harness.inference.models.pull_report import PullReport, format_mib, stderr_report
from lsp_harness.inference.running_engines import end_engines, is_listening
from lsp_harness.inference.supervisor import end_engine, engine_address
from lsp_harness.inference.target import is_remote

EDITORS = {"code": "VS Code", "nvim": "Neovim", "emacs": "Emacs", "hx": "Helix", "zed": "Zed", "subl": "Sublime Text"}
"""Programs of editors, and the names of the editors in docs/editors.md."""
MARKS = {"here": "[green]✓[/]", "missing": "[yellow]↓[/]", "impossible": "[red]✗[/]"}
YES = ("y", "yes")
FITTING = "fitting"
"""A name for the largest model that is fast enough on this machine."""


@Parameter(name="*")
@dataclass(frozen=True)
class NewBundle:
    """A bundle to make, and the kind of machine that it is for."""

    bundle: Annotated[Path | None, Parameter(help="Make a bundle in this folder for a machine without a network.")] = (
        None
    )
    target: Annotated[
        str,
        Parameter(
            "--for",
            help="The kind of that machine: a name of `lsp-harness engine libraries list --all`, such as "
            "win-x64. Default: this machine. Its Python must have the same version.",
        ),
    ] = ""


def setup(
    *,
    yes: Annotated[
        bool, Parameter(("--yes", "-y"), negative="", help="Do not ask before a download or a removal.")
    ] = False,
    dry_run: Annotated[bool, Parameter(negative="", help="Only show what would be done.")] = False,
    offline: Annotated[Path | None, Parameter(help="Use the files of a bundle, and no network.")] = None,
    new_bundle: Annotated[NewBundle | None, Parameter(name="*")] = None,
    remove: Annotated[
        bool, Parameter(negative="", help="Remove what setup has stored: libraries, models and caches.")
    ] = False,
    model: Annotated[
        str,
        Parameter(
            help="Use this model from now on, a name of `lsp-harness model list`, and write it into your settings. "
            f'"{FITTING}" is the largest one that is fast enough on this machine.'
        ),
    ] = "",
    json: JsonOption = False,
) -> int:
    """Fetch what this machine needs: llama.cpp, the model and the checkers.

    A part that is here already is not fetched again, and an unfinished download is continued. At the end, the speed of
    the model is measured, and if this machine can run a larger one, you are asked whether you want to use that.
    """
    made = new_bundle or NewBundle()
    if sum(map(bool, (offline, made.bundle, remove))) > 1:
        raise UsageError("--offline, --bundle and --remove are different commands; give one of them")
    if made.target and not made.bundle:
        raise UsageError("--for names the machine of a bundle; give --bundle DIR too")
    if remove:
        return _remove(is_sure=yes, dry_run=dry_run)
    if made.bundle:
        with stderr_report() as report:
            return _make_bundle(made.bundle, made.target, report)
    config = read_settings()
    if model and model != FITTING:
        # an unknown name is an error now, and not after the first downloads
        config = replace(config, model=replace(config.model, path=card(model).name))
    steps = list(plan_steps(config, Bundle.open(offline) if offline else None))
    if json:
        print_json([{"name": step.name, "state": step.state, "says": step.says, "bytes": step.bytes} for step in steps])
    else:
        _print_steps(steps)
    missing = [(step, step.run) for step in steps if step.run]
    if dry_run:
        return _finish(steps, json=json, is_done=not missing)
    if missing and not yes and not _ask(f"Fetch {format_mib(sum(step.bytes for step, _ in missing))}?"):
        return 1
    if error := _fetch(missing):
        warn("run lsp-harness setup again to continue")
        return error.exit_code
    if model and model != FITTING:
        _use_model(config.model.path)
    elif model or (missing and not json):
        _propose_model(config, is_wanted=bool(model), may_ask=not yes)
    return _finish(steps, json=json, is_done=True)


def _fetch(missing: Sequence[tuple[SetupStep, Callable[[PullReport], str]]]) -> HarnessError | None:
    """Run the steps that fetch what is missing. One that fails ends none of the others; return the first error."""
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
        return failures[0]
    if missing:
        say(f"done in {monotonic() - start:.0f} s")
    return None


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


def _propose_model(config: Config, *, is_wanted: bool, may_ask: bool) -> None:
    """Measure the speed of the model on this machine, which takes some seconds, and propose the model that fits.

    Args:
        config: The settings.
        is_wanted: Whether the user has asked for the model that fits, so that there is nothing left to ask.
        may_ask: Whether a question is possible if there is a terminal.

    Raises:
        UsageError: The wanted model cannot be found out.
        HarnessError: The wanted model cannot be fetched, or cannot be written into the settings.
    """
    proposal, problem = None, "the settings name a remote server, a script or no completion.patience_ms"
    if not is_remote(config.engine) and not config.engine.script and config.completion.patience_ms:
        problem = f"{config.model.path} is none of the catalogue"
        with stderr_report() as report:
            report.step(f"measuring how fast this machine runs {config.model.path}")
            try:
                proposal = asyncio.run(_measure_and_propose(config))
            except HarnessError as error:
                problem = f"the speed cannot be measured: {error.message}"
                warn(problem)
    if proposal is None:
        if is_wanted:
            raise UsageError(f"no model can be proposed: {problem}; name one with --model")
        return
    say(proposal.reason)
    if not proposal.is_larger:
        return
    model = proposal.model
    offer = f"Fetch {model.name} ({format_mib(model.expected_bytes)}, {model.license}), and use it from now on?"
    if is_wanted or (may_ask and sys.stdin.isatty() and _ask(offer)):
        from lsp_harness.inference.models.pull import pull

        with stderr_report() as report:
            pull(model, report=report)
        _use_model(model.name)
    else:
        say(f"to use it from now on: lsp-harness setup --model {model.name}")


def _use_model(name: str) -> None:
    """Write the model into the settings of the user, and say if other settings come before these."""
    file = write_user_setting("model", "path", name)
    say(f'{file} has model.path = "{name}" now')
    if (used := read_settings().model.path) != name:
        warn(f"this folder or the environment sets model.path to {used}, which comes before your settings")


async def _measure_and_propose(config: Config) -> ModelProposal | None:
    # an engine of the user goes on
    was_running = is_listening(engine_address(model_files.resolve_model(config.model.path), config).socket)
    engine = make_engine(config)
    try:
        return find_proposal((await engine.props()).raw, config.completion)
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
