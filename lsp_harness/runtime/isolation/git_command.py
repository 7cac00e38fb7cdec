"""Runs of git that start no program of the repository: no hooks and no file monitor."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from lsp_harness.errors import HarnessError
from lsp_harness.process.tool_run import run_tool

SAFE_OPTIONS = ("-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "gc.auto=0", "--no-pager")
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
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    command: Sequence[str] = ("git", *SAFE_OPTIONS, *arguments)
    try:
        result = await run_tool(
            command,
            cwd=folder,
            env={**inherited, **IDENTITY, "LC_ALL": "C", "GIT_TERMINAL_PROMPT": "0", **(env or {})},
            stdin=stdin,
            limit_s=GIT_LIMIT_S,
        )
    except OSError as error:
        raise GitFailed(f"git cannot be started: {error.strerror}") from error
    if result.exit_code == 0:
        return result.stdout
    lines = result.stderr.decode("utf-8", "replace").strip().splitlines()
    raise GitFailed(f"git {arguments[0]} failed: {lines[-1] if lines else f'exit code {result.exit_code}'}")
