"""Checks of `doctor`: Python, its packages, the settings, the model, the linter and remote servers.

Of a remote server: whether it answers, which models it serves, and which features it lacks.
"""

import asyncio
import platform
import sys
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from ipaddress import ip_address
from pathlib import Path
from urllib.parse import urlsplit

from lsp_harness.cli.doctor.doctor_row import DoctorRow
from lsp_harness.cli.doctor.doctor_surroundings import ignore_file_problems
from lsp_harness.config.load import Problem, find_user_config_file
from lsp_harness.config.schema import Config, EngineSettings
from lsp_harness.errors import EngineError, HarnessError
from lsp_harness.extras import install_command, list_missing_packages, read_extras
from lsp_harness.inference.backends.backend import Features
from lsp_harness.inference.backends.endpoint import Endpoint, RetryableError, SilenceLimits, protocol_errors
from lsp_harness.inference.backends.server_supply import ModelServer
from lsp_harness.inference.libraries.library_choice import EngineLibrary, find_library
from lsp_harness.inference.measured_speed import find_speed
from lsp_harness.inference.models import model_files
from lsp_harness.inference.models.measured_abilities import find_abilities
from lsp_harness.inference.providers import targets
from lsp_harness.inference.target import Target, is_remote
from lsp_harness.knowledge.project_python import list_project_pythons
from lsp_harness.process import tool_run
from lsp_harness.text.wording import format_count
from lsp_harness.verify.project_tools.configured_tools import list_project_tools

PACKAGES = ("pygls", "tree-sitter")
"""Packages whose versions matter in a bug report."""


def check_packages() -> Iterator[DoctorRow]:
    """Report the version of Python and of its packages."""
    yield DoctorRow("ok", "python", f"{platform.python_version()} ({sys.executable})")
    for name in PACKAGES:
        try:
            yield DoctorRow("ok", name, version(name))
        except PackageNotFoundError:
            yield DoctorRow("bad", name, "not installed; reinstall lsp-harness")
    yield from _check_extras()


EXTRA_USES = {
    "engine": "a model",
    "api": "`lsp-harness api` and `serve --ws`",
    "runtime": "agents in terminals",
    "tui": "`lsp-harness chat` and questions in a terminal",
    "acp": "`lsp-harness acp` and agents that speak it",
    "mcp": "`lsp-harness mcp`, tools of MCP servers and Python tools of the SDK",
    "languages": "languages besides Python and shells",
}
"""The purpose of each extra."""


def _check_extras() -> Iterator[DoctorRow]:
    """Report which extras are installed, and for each missing one what it is for and its command."""
    missing = {extra: list_missing_packages(extra) for extra in read_extras()}
    if complete := [extra for extra, packages in missing.items() if not packages]:
        yield DoctorRow("ok", "extras", f"installed: {', '.join(complete)}")
    for extra, packages in missing.items():
        if packages:
            use = f"{EXTRA_USES[extra]} needs" if extra in EXTRA_USES else "it needs"
            says = f"{use} {format_count(len(packages), 'package')} more; run: {install_command(extra)}"
            yield DoctorRow("note", f"extra {extra}", says)


def check_library(config: Config) -> Iterator[DoctorRow]:
    """Report which library of llama.cpp an engine of this machine uses, and why. No library is loaded."""
    if is_remote(config.engine) or config.engine.script:
        yield DoctorRow("ok", "llama.cpp", "not used: the settings name a remote server or a script")
        return
    try:
        library = find_library(config.engine.library)
    except HarnessError as error:
        yield DoctorRow("bad", "llama.cpp", error.message)
    else:
        named = f"{library.name} {library.version}".rstrip()
        yield DoctorRow("ok", "llama.cpp", f"{named}: {library.reason} ({library.folder})")
        yield _describe_speed(config, library)
        yield _describe_abilities(config)


def _describe_abilities(config: Config) -> DoctorRow:
    """Return what the model of the settings can do, as far as it was measured."""
    try:
        abilities = find_abilities(config)
    except HarnessError as error:
        return DoctorRow("ok", "abilities", f"not known: {error.message}")
    if abilities is None:
        return DoctorRow(
            "ok", "abilities", "not measured yet: the first session measures them, or lsp-harness model measure"
        )
    return DoctorRow("ok", "abilities", f"{config.model.path} {abilities.sentence}")


def _describe_speed(config: Config, library: EngineLibrary) -> DoctorRow:
    """Return the speed that an engine measured at its first start with the model of the settings."""
    try:
        speed = find_speed(library.identity, model_files.fingerprint(model_files.resolve_model(config.model.path)))
    except (HarnessError, OSError):
        speed = None
    if speed is None:
        return DoctorRow("ok", "speed", "not measured yet: the first engine with this library and model measures it")
    says = f"{speed.prompt_per_second:,.0f} tokens of a prompt and {speed.generated_per_second:,.0f} generated a second"
    return DoctorRow("ok", "speed", f"{says} with {config.model.path}, measured when an engine first started with it")


def check_settings(folder: Path, problems: list[Problem]) -> Iterator[DoctorRow]:
    """Report mistakes in the settings files and in the ignore files of a folder.

    Args:
        folder: The folder.
        problems: The mistakes in the settings files.
    """
    problems = [*problems, *ignore_file_problems(folder)]
    if not problems:
        says = f"{find_user_config_file()} and the settings files of this folder contain no mistakes"
        yield DoctorRow("ok", "settings", says)
    for problem in problems:
        place = problem.file or "environment"
        yield DoctorRow("note", "settings", f"{place}:{problem.line + 1}: {problem.message}")


def check_model(config: Config) -> Iterator[DoctorRow]:
    """Report whether the model of the settings can be used: a file on this machine, or a server."""
    if config.engine.script:
        yield DoctorRow("note", "model", f"scripted replies from {config.engine.script}, no model")
    elif is_remote(config.engine):
        yield from check_servers(config.engine)
    else:
        try:
            yield DoctorRow("ok", "model", f"{config.model.path}: {model_files.resolve_model(config.model.path)}")
        except HarnessError as error:
            yield DoctorRow("bad", "model", error.message)


MISSING_TOOLS = {
    "ruff": "not found, so edits of Python are not linted before they are offered",
    # the type checker of a project is in its own environment, which only a server that trusts the folder looks into
    "ty": "not found, so the types of suggestions in Python are only checked in projects that have it",
}
"""The consequence if the linter or the type checker for Python is missing."""


def check_tools() -> Iterator[DoctorRow]:
    """Report whether the linter and the type checker for Python are installed."""
    for tool, consequence in MISSING_TOOLS.items():
        if program := tool_run.find_tool(tool):
            yield DoctorRow("ok", tool, program)
        else:
            yield DoctorRow("note", tool, f"{consequence}; run: pip install {tool}")


def check_project_python(folder: Path, config: Config) -> Iterator[DoctorRow]:
    """Report the Python of each project in a folder, and why it is that one. Nothing is started."""
    setting = config.knowledge.python
    for place, python in list_project_pythons(folder, setting):
        name = "project python" if place == folder else f"project python of {place.relative_to(folder)}"
        is_missing = bool(setting) and not python.reason.startswith("knowledge.python")
        yield DoctorRow("note" if is_missing else "ok", name, f"{python.python} ({python.reason})")


def check_project_tools(folder: Path, python: str = "") -> Iterator[DoctorRow]:
    """Report the type checkers, linters and formatters that a project configures, which its edits go through.

    No program of the project is run to find out.
    """
    for tool in list_project_tools(folder, python):
        if tool.program:
            yield DoctorRow("ok", tool.name, f"{tool.configuration} configures it: {tool.program}")
        else:
            says = f"{tool.configuration} configures it, but it is not found, so edits do not go through it"
            yield DoctorRow("note", tool.name, f"{says}; run: {tool.install_hint}")


SERVER_TIMEOUT_S = 10.0
"""How long `doctor` waits for an answer of a server."""


def check_servers(settings: EngineSettings) -> list[DoctorRow]:
    """Check each server of the settings. The rows show the variable that contains a key, and never the key."""
    try:
        servers = targets(settings)
    except HarnessError as error:
        return [DoctorRow("bad", "server", error.message)]
    return asyncio.run(_check_all(servers))


def is_private(target: Target) -> bool:
    """Return whether nobody on the network can read what is sent to a server."""
    url = urlsplit(target.base)
    if target.socket or url.scheme == "https" or url.hostname == "localhost":
        return True
    try:
        return ip_address(url.hostname or "").is_loopback
    except ValueError:
        return False


async def _check_all(servers: list[Target]) -> list[DoctorRow]:
    results = await asyncio.gather(*(_check_server(target) for target in servers))
    rows = [row for server_rows, _ in results for row in server_rows]
    models = sorted({model for _, model in results if model})
    if len(models) > 1:
        says = f"they serve different models ({', '.join(models)}), but several servers must serve the same one"
        rows.append(DoctorRow("note", "servers", says))
    return rows


async def _check_server(target: Target) -> tuple[list[DoctorRow], str]:
    """Return the rows of a server and its model, which is empty if the server does not answer."""
    server = ModelServer(Endpoint(target, SilenceLimits(SERVER_TIMEOUT_S, SERVER_TIMEOUT_S)))
    try:
        backend = await server.backend()
        with protocol_errors(target.name):
            props, features = await backend.props(), backend.features()
    except EngineError as error:
        return [DoctorRow("bad", "server", error.message)], ""
    except RetryableError as failure:
        return [DoctorRow("bad", "server", failure.error.message)], ""
    finally:
        await server.endpoint.aclose()
    key = f"key from {target.key_name}" if target.key else "no key"
    row = DoctorRow("ok", "server", f"{target.name}: {backend.kind}, {props.model or 'an unnamed model'}, {key}")
    return [row, *_feature_rows(features), *_key_rows(target)], props.model


def _feature_rows(features: Features) -> Iterator[DoctorRow]:
    if missing := [name for name, value in features.items() if value is False]:
        yield DoctorRow("note", "missing", f"{', '.join(missing)} (docs/team.md says what is done instead)")
    if limited := [f"{name}: {value}" for name, value in features.items() if isinstance(value, str)]:
        yield DoctorRow("note", "limited", "; ".join(limited))


def _key_rows(target: Target) -> Iterator[DoctorRow]:
    if target.key and not is_private(target):
        says = f"{target.name} does not use https, so others on the network can read the key and your code"
        yield DoctorRow("note", "key", says)
