"""The place where commands run that are allowed because they only read: they can do nothing else there."""

import asyncio
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from lsp_harness.errors import UsageError
from lsp_harness.files.walk import TooManyFilesError
from lsp_harness.kernel.tasks.read_only_work import confine_reading
from lsp_harness.kernel.tasks.task_request import ShellWork
from lsp_harness.process.safe_git import (
    HOMELESS_VARIABLES,
    LISTING,
    SAFE_SETTINGS,
    SAFE_VARIABLES,
    find_user_ignores,
    override_variables,
    read_overrides,
    read_user_settings,
)
from lsp_harness.process.sandbox.sandbox_choice import SandboxChoice, machine_sandbox
from lsp_harness.process.tool_run import run_tool

GIT_LIMIT_S = 10.0
# git reads the settings of a submodule in a process of its own, which does not get these
SETTINGS = {
    **SAFE_SETTINGS,
    "diff.ignoreSubmodules": "all",
    "diff.submodule": "short",
    "status.submoduleSummary": "false",
}


GIT_STARTERS = frozenset({"git", "pip", "pip3", "cloc", "bat", "less", "more"})
"""Programs that only read, and git or those that may start it."""


class ReadingCommands:
    """Prepares commands that only read.

    The list of readers is the first wall. This is the second one: a view of the workspace that cannot be changed,
    without files with secrets and without network, and git with none of the programs that a repository names.

    Args:
        roots: The workspace folders.
    """

    def __init__(self, roots: Sequence[Path]) -> None:
        self._roots = tuple(roots)

    @staticmethod
    def can_confine() -> bool:
        """Return whether a sandbox works on this machine that is strong enough."""
        return _is_strong(machine_sandbox())

    async def confine(self, work: ShellWork) -> ShellWork:
        """Return work that does the same, but can only read. Where no sandbox works, only git is kept from more.

        Raises:
            UsageError: The command cannot run like this. The message says why.
        """
        listing = await _list_settings(work.cwd) if _may_start_git(work) else b""
        overrides = {**SETTINGS, **read_overrides(listing)}.items()
        choice = await asyncio.to_thread(machine_sandbox)
        if not _is_strong(choice):
            variables = {**SAFE_VARIABLES, **override_variables(overrides)}
            return replace(work, env={**(os.environ if work.env is None else work.env), **variables})
        ignores = find_user_ignores(listing, os.environ if work.env is None else work.env)
        try:
            confined = await asyncio.to_thread(confine_reading, work, self._roots, choice, [ignores] if ignores else [])
        except TooManyFilesError as error:
            reason = "the workspace has too many files to look for secrets in it; choose another permission mode"
            raise UsageError(reason) from error
        # the home of the user is not there, and its settings decide whether git reads a folder of another user at all
        files = [("core.excludesFile", str(ignores or os.devnull)), ("core.attributesFile", os.devnull)]
        settings = override_variables([*read_user_settings(listing), *files, *overrides])
        return replace(confined, env={**(confined.env or {}), **SAFE_VARIABLES, **HOMELESS_VARIABLES, **settings})


def _is_strong(choice: SandboxChoice) -> bool:
    """Return whether a sandbox hides files and closes the network."""
    return choice.is_confined and not choice.sandbox.has_network


def _may_start_git(work: ShellWork) -> bool:
    """Return whether a command starts git, or a program that may start it."""
    # the grammar of shells is loaded with the first command, and not with the server
    from lsp_harness.permission.shell.command_parts import split_arguments, split_command

    command = work.command
    split = split_command(command) if isinstance(command, str) else split_arguments(command)
    return bool(split.opaque_reasons) or any(part.name in GIT_STARTERS for part in split.parts)


async def _list_settings(folder: Path) -> bytes:
    """Return the settings of git in a folder, as `read_overrides` and `read_user_settings` read them.

    Raises:
        UsageError: They cannot be read.
    """
    try:
        result = await run_tool(["git", *LISTING], cwd=folder, limit_s=GIT_LIMIT_S)
    except OSError:
        # without git, no repository is read
        return b""
    if result.exit_code != 0:
        raise UsageError("the settings of git cannot be read, so that nobody knows which programs they name")
    return result.stdout
