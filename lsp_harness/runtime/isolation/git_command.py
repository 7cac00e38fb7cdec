"""Runs of git that start no program of the repository: no hooks, no filters and no file monitor."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from lsp_harness.errors import HarnessError
from lsp_harness.process.safe_git import LISTING, SAFE_OPTIONS, override_variables, read_overrides, safe_environment
from lsp_harness.process.tool_run import run_tool

IDENTITY = {
    f"GIT_{role}_{part}": value
    for role in ("AUTHOR", "COMMITTER")
    for part, value in (("NAME", "lsp-harness"), ("EMAIL", "lsp-harness@localhost"))
}
GIT_LIMIT_S = 60.0


class GitFailed(HarnessError):
    """Git is missing, or a command of git failed."""


async def run_git(folder: Path, *arguments: str, env: Mapping[str, str] | None = None, stdin: bytes = b"") -> bytes:
    """Run git in a folder and return what it prints.

    Args:
        folder: The folder.
        arguments: The command of git and its arguments.
        env: More variables.
        stdin: The standard input.

    Raises:
        GitFailed: Git is missing, or the command failed.
    """
    environment = {**safe_environment(os.environ), **IDENTITY, **(env or {})}
    # the settings are read each time, because an agent may have changed them
    overrides = read_overrides(await _run(folder, LISTING, environment))
    environment |= override_variables(overrides.items())
    return await _run(folder, arguments, environment, stdin)


async def _run(folder: Path, arguments: Sequence[str], environment: Mapping[str, str], stdin: bytes = b"") -> bytes:
    command = ("git", *SAFE_OPTIONS, *arguments)
    try:
        result = await run_tool(command, cwd=folder, env=environment, stdin=stdin, limit_s=GIT_LIMIT_S)
    except OSError as error:
        raise GitFailed(f"git cannot be started: {error.strerror}") from error
    if result.exit_code == 0:
        return result.stdout
    lines = result.stderr.decode("utf-8", "replace").strip().splitlines()
    raise GitFailed(f"git {arguments[0]} failed: {lines[-1] if lines else f'exit code {result.exit_code}'}")
