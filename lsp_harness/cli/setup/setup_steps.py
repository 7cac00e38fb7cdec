"""The steps of a setup: the packages of the engine, a library of llama.cpp, the model, and the checkers of Python.

Each step knows whether its result is here, so that a setup that was interrupted continues with the first one that is
missing. A file of a bundle is checked by the same hash as a download.
"""

import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from importlib import invalidate_caches
from typing import Literal

from lsp_harness.cli.setup.bundle import WHEELS, Bundle
from lsp_harness.config.schema import Config
from lsp_harness.errors import LibraryError, ModelError, ModelMissing, PullFailed
from lsp_harness.extras import install_command, list_missing_packages
from lsp_harness.inference.libraries.library_catalogue import LibraryCard, Machine
from lsp_harness.inference.libraries.library_choice import find_library, read_selection
from lsp_harness.inference.models import model_files
from lsp_harness.inference.models.catalogue import card
from lsp_harness.inference.models.model_sources import LocalFile
from lsp_harness.inference.models.pull_report import PullReport
from lsp_harness.inference.target import is_remote
from lsp_harness.process.tool_run import find_tool

CHECKERS = ("ruff", "ty")
"""The linter and the type checker for Python."""
CHECKER_BYTES = {"ruff": 11_000_000, "ty": 10_000_000}
"""About the size of the wheel of each checker."""
ENGINE = "engine"
"""The extra with the packages that a model needs."""
ENGINE_BYTES = 25_000_000
"""About the size of the wheels of this extra, most of it numpy."""
PIP_TIMEOUT_S = 600

State = Literal["here", "missing", "impossible"]


@dataclass(frozen=True, slots=True)
class SetupStep:
    """A part of what a machine needs.

    Attributes:
        name: The part.
        state: Whether the part is here, or missing, or cannot be set up by this program.
        says: What is here, or what will be fetched, or why the part cannot be set up.
        bytes: The size of the download, or 0 if it is not known or nothing is downloaded.
        run: Fetches a part that is missing, and returns a sentence about it; else None.
    """

    name: str
    state: State
    says: str
    bytes: int = 0
    run: Callable[[PullReport], str] | None = None


def plan_steps(config: Config, bundle: Bundle | None = None) -> Iterator[SetupStep]:
    """Return the steps of a setup in their order.

    Args:
        config: The settings.
        bundle: The files to use in place of downloads.
    """
    if is_remote(config.engine) or config.engine.script:
        yield SetupStep("llama.cpp", "here", "not needed: the settings name a remote server or a script")
        yield SetupStep("model", "here", "not needed: the settings name a remote server or a script")
    else:
        yield _plan_packages(bundle)
        yield _plan_library(config.engine.library, bundle)
        yield _plan_model(config.model.path, bundle)
    yield _plan_checkers(bundle)


def _plan_packages(bundle: Bundle | None) -> SetupStep:
    if not (missing := list_missing_packages(ENGINE)):
        return SetupStep("packages", "here", "the packages of the engine")

    def fetch(report: PullReport) -> str:
        report.step("installing the packages of the engine")
        run_pip(["install", *_wheel_source(bundle), *(package.requirement for package in missing)])
        # pip wrote new packages beside those that this process has looked for
        invalidate_caches()
        list_missing_packages.cache_clear()
        return ", ".join(package.module for package in missing)

    return SetupStep(
        "packages", "missing", f"the packages of the engine: {install_command(ENGINE)}", ENGINE_BYTES, fetch
    )


def _wheel_source(bundle: Bundle | None) -> list[str]:
    """Return the options of pip that take wheels from a bundle only, if there is one."""
    return ["--no-index", "--find-links", str(bundle.folder / WHEELS)] if bundle else []


def choose_library(setting: str) -> LibraryCard | None:
    """Return the prebuilt library that a setup stores, or None if none can run here.

    Args:
        setting: The setting `engine.library`.
    """
    fitting = Machine.read().list_fitting()
    named = setting or read_selection()
    return next((one for one in fitting if not named or one.name == named), None)


def _plan_library(setting: str, bundle: Bundle | None) -> SetupStep:
    try:
        library = find_library(setting)
    except LibraryError as error:
        chosen = choose_library(setting)
        if chosen is None:
            return SetupStep("llama.cpp", "impossible", error.message)
        source = bundle.find_library(chosen) if bundle else None

        def fetch(report: PullReport) -> str:
            from lsp_harness.inference.libraries.library_fetch import fetch_library

            return str(fetch_library(chosen, report, source))

        says = f"the prebuilt library {chosen.name} (llama.cpp {chosen.llama_cpp})"
        return SetupStep("llama.cpp", "missing", says, chosen.bytes, fetch)
    return SetupStep("llama.cpp", "here", f"{library.name} {library.version} in {library.folder}")


def _plan_model(name: str, bundle: Bundle | None) -> SetupStep:
    try:
        return SetupStep("model", "here", f"{name} in {model_files.resolve_model(name)}")
    except ModelError as error:
        try:
            model = card(name)
        except ModelError:
            return SetupStep("model", "impossible", error.message)
        if not isinstance(error, ModelMissing) and model_files.model_state(model) != "damaged":
            return SetupStep("model", "impossible", error.message)
    if bundle:
        model = replace(model, sources=(LocalFile(str(bundle.find_model(model))),))

    def fetch(report: PullReport) -> str:
        from lsp_harness.inference.models.pull import pull

        return str(pull(model, report=report).path)

    remaining = max(0, model.bytes - model_files.downloaded_bytes(model_files.model_path(model)))
    return SetupStep("model", "missing", f"{model.title} ({model.license})", remaining, fetch)


def _plan_checkers(bundle: Bundle | None) -> SetupStep:
    missing = [name for name in CHECKERS if not find_tool(name)]
    if not missing:
        return SetupStep("checkers", "here", ", ".join(f"{name} ({find_tool(name)})" for name in CHECKERS))

    def fetch(report: PullReport) -> str:
        report.step(f"installing {' and '.join(missing)}")
        run_pip(["install", *_wheel_source(bundle), *missing])
        return ", ".join(str(find_tool(name)) for name in missing)

    says = f"{' and '.join(missing)}, which check edits of Python"
    return SetupStep("checkers", "missing", says, sum(CHECKER_BYTES[name] for name in missing), fetch)


def run_pip(arguments: Sequence[str]) -> None:
    """Run the pip of this environment. No build script of a package runs.

    Raises:
        PullFailed: There is no pip, or it has failed.
    """
    # -P: a file pip.py in the current folder must not be run
    argv = [sys.executable, "-P", "-m", "pip", "--disable-pip-version-check", "--no-input", *arguments]
    try:
        done = subprocess.run(
            [*argv, "--quiet", "--only-binary", ":all:"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=PIP_TIMEOUT_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise PullFailed(f"pip did not end within {PIP_TIMEOUT_S} s") from None
    if "No module named pip" in done.stderr:
        names = " ".join(CHECKERS)
        raise PullFailed(
            f"this environment has no pip; run: pipx install 'lsp-harness[all]' and pipx inject --include-apps "
            f"lsp-harness {names}, or uv tool install 'lsp-harness[all]' and uv tool install "
            f"{' && uv tool install '.join(CHECKERS)}"
        )
    if done.returncode:
        errors = [line for line in done.stderr.splitlines() if line.lower().startswith("error:")]
        reason = errors[0].partition(":")[2].strip() if errors else f"it ended with {done.returncode}"
        raise PullFailed(f"pip failed: {reason}")
