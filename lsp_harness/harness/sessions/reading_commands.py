"""The place where commands run that are allowed because they only read: they can do nothing else there."""

import asyncio
import os
from collections.abc import Sequence
from pathlib import Path

from lsp_harness.chat.tools.session_tasks import ConfinedCommand
from lsp_harness.errors import UsageError
from lsp_harness.files.secrets import is_secret_path
from lsp_harness.process.safe_git import (
    LISTING,
    SAFE_SETTINGS,
    SAFE_VARIABLES,
    override_variables,
    read_overrides,
)
from lsp_harness.process.sandbox.read_only_view import ReadOnlyView
from lsp_harness.process.sandbox.sandbox_choice import SandboxChoice, machine_sandbox
from lsp_harness.process.tool_run import run_tool
from lsp_harness.session.permission.file_search import EntryBudget, TooManyFilesError, list_tree
from lsp_harness.verify.project_tests.project_view import list_private_paths, list_program_folders

GIT_LIMIT_S = 10.0
# git reads the settings of a submodule in a process of its own, which does not get these
SETTINGS = {**SAFE_SETTINGS, "diff.ignoreSubmodules": "all", "status.submoduleSummary": "false"}


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
        return can_confine(machine_sandbox())

    async def confine(self, argv: Sequence[str], folder: Path) -> ConfinedCommand:
        """Return the command that runs another one, so that it can only read.

        Args:
            argv: The command.
            folder: The folder in which it starts.

        Raises:
            UsageError: It cannot run like this. The message says why.
        """
        variables = {**SAFE_VARIABLES, **override_variables({**SETTINGS, **await _list_overrides(folder)})}
        choice = await asyncio.to_thread(machine_sandbox)
        if not can_confine(choice):
            return ConfinedCommand(tuple(argv), variables)
        try:
            wrapped = await asyncio.to_thread(self._wrap, choice, argv, folder)
        except ValueError as error:
            raise UsageError(
                f"the command cannot run in the sandbox: {error}; choose another permission mode"
            ) from error
        return ConfinedCommand(wrapped, variables)

    def _wrap(self, choice: SandboxChoice, argv: Sequence[str], folder: Path) -> tuple[str, ...]:
        home = Path.home()
        # the root folder, as the home of a service account, cannot be hidden
        hidden = (home,) if home != Path("/") and not choice.sandbox.has_overlays else ()
        visible = list_program_folders(os.environ.get("PATH", ""))
        absent = (*list_private_paths(self._roots[0], keeps_project=False), *self._list_secrets())
        return tuple(ReadOnlyView(choice.sandbox, self._roots, absent, hidden, visible).wrap(argv, folder))

    def _list_secrets(self) -> list[Path]:
        """Return the files with secrets in the workspace. In a very large one, the gate lets nothing search them."""
        found = list[Path]()
        for root in self._roots:
            budget = EntryBudget()
            try:
                found += (
                    Path(path)
                    for path in list_tree(str(root), budget)
                    if is_secret_path(path.removeprefix(str(root)).lstrip("/"))
                )
            except TooManyFilesError:
                continue
        return found


def can_confine(choice: SandboxChoice) -> bool:
    """Return whether a sandbox hides files and closes the network."""
    return choice.is_confined and not choice.sandbox.has_network


async def _list_overrides(folder: Path) -> dict[str, str]:
    """Return the settings that take the place of those of a repository which name programs."""
    try:
        result = await run_tool(["git", *LISTING], cwd=folder, limit_s=GIT_LIMIT_S)
    except OSError:
        # without git, no repository is read
        return {}
    return read_overrides(result.stdout)
