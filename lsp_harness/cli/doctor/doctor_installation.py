"""Checks of `doctor`: Python, its packages, the settings, the model and the linter."""

import platform
import sys
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from lsp_harness.cli.doctor.doctor_row import Row
from lsp_harness.cli.doctor.doctor_servers import check_servers
from lsp_harness.cli.doctor.doctor_surroundings import ignore_file_problems
from lsp_harness.config.load import Problem, user_config_file
from lsp_harness.config.schema import Config
from lsp_harness.errors import HarnessError
from lsp_harness.inference.models import model_files
from lsp_harness.inference.target import is_remote
from lsp_harness.knowledge.project_python import list_project_pythons
from lsp_harness.process import tool_run
from lsp_harness.verify.project_tools.configured_tools import list_project_tools

PACKAGES = ("pygls", "llama-cpp-python", "tree-sitter")
"""Packages whose versions matter in a bug report."""


def check_packages() -> Iterator[Row]:
    """Report the version of Python and of its packages."""
    yield Row("ok", "python", f"{platform.python_version()} ({sys.executable})")
    for name in PACKAGES:
        try:
            yield Row("ok", name, version(name))
        except PackageNotFoundError:
            yield Row("bad", name, "not installed; reinstall lsp-harness")


def check_settings(folder: Path, problems: list[Problem]) -> Iterator[Row]:
    """Report mistakes in the settings files and in the ignore files of a folder.

    Args:
        folder: The folder.
        problems: The mistakes in the settings files.
    """
    problems = [*problems, *ignore_file_problems(folder)]
    if not problems:
        says = f"{user_config_file()} and the settings files of this folder contain no mistakes"
        yield Row("ok", "settings", says)
    for problem in problems:
        place = problem.file or "environment"
        yield Row("note", "settings", f"{place}:{problem.line + 1}: {problem.message}")


def check_model(config: Config) -> Iterator[Row]:
    """Report whether the model of the settings can be used: a file on this machine, or a server."""
    if config.engine.script:
        yield Row("note", "model", f"scripted replies from {config.engine.script}, no model")
    elif is_remote(config.engine):
        yield from check_servers(config.engine)
    else:
        try:
            yield Row("ok", "model", f"{config.model.path}: {model_files.resolve_model(config.model.path)}")
        except HarnessError as error:
            yield Row("bad", "model", error.message)


MISSING_TOOLS = {
    "ruff": "not found, so edits of Python are not linted before they are offered",
    # the type checker of a project is in its own environment, which only a server that trusts the folder looks into
    "ty": "not found, so the types of suggestions in Python are only checked in projects that have it",
}
"""The consequence if the linter or the type checker for Python is missing."""


def check_tools() -> Iterator[Row]:
    """Report whether the linter and the type checker for Python are installed."""
    for tool, consequence in MISSING_TOOLS.items():
        if program := tool_run.find_tool(tool):
            yield Row("ok", tool, program)
        else:
            yield Row("note", tool, f"{consequence}; run: pip install {tool}")


def check_project_python(folder: Path, config: Config) -> Iterator[Row]:
    """Report the Python of each project in a folder, and why it is that one. Nothing is started."""
    setting = config.knowledge.python
    for place, python in list_project_pythons(folder, setting):
        name = "project python" if place == folder else f"project python of {place.relative_to(folder)}"
        is_missing = bool(setting) and not python.reason.startswith("knowledge.python")
        yield Row("note" if is_missing else "ok", name, f"{python.python} ({python.reason})")


def check_project_tools(folder: Path, python: str = "") -> Iterator[Row]:
    """Report the type checkers and linters that a project configures, by which its edits are checked.

    No program of the project is run to find out.
    """
    for tool in list_project_tools(folder, python):
        if tool.program:
            yield Row("ok", tool.name, f"{tool.configuration} configures it: {tool.program}")
        else:
            says = f"{tool.configuration} configures it, but it is not found, so edits are not checked by it"
            yield Row("note", tool.name, f"{says}; run: {tool.install_hint}")
