"""A folder that this process serves to other programs, such as agents: its harness, its index and the rules of reading.

The client is no editor and no person. So nothing says that the user trusts the folder but the settings, and whatever
the permission gate would ask is denied.
"""

from collections.abc import Callable, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from lsp_harness.chat.tools.tool_environment import ToolEnvironment, can_read_all
from lsp_harness.config.load import is_in_trusted_folder
from lsp_harness.config.schema import Config
from lsp_harness.disk.file_warnings import warn_once
from lsp_harness.errors import UsageError
from lsp_harness.files.folders import resolve_links
from lsp_harness.harness.harness import Harness
from lsp_harness.harness.services import Services
from lsp_harness.index.index_query import IndexQuery
from lsp_harness.inference.client import Engine
from lsp_harness.permission.action import Action
from lsp_harness.permission.gate_policy import make_hooks, make_policy
from lsp_harness.permission.hooks import Hooks
from lsp_harness.permission.permission_gate import PermissionGate
from lsp_harness.project.lazy_index import LazyIndex
from lsp_harness.workspace.workspace import Workspace

ReportLine = Callable[[str], None]
"""Receives a line about the progress of work that takes long."""


def ignore_line(line: str) -> None:
    """Show no progress."""


class ServedProject:
    """A folder that is served to other programs.

    Attributes:
        root: The folder, without links.
        harness: The harness of the folder.
        index: The index of the folder, which the first question opens.

    Args:
        root: The folder.
        config: The settings of the folder.
        create_engine: Creates the engine of the settings, with the first request that needs a model.
    """

    def __init__(self, root: Path, config: Config, create_engine: Callable[[Config], Engine]) -> None:
        self.root = resolve_links(root)
        self.harness = Harness(config, create_engine, Workspace([self.root]))
        self.index = LazyIndex(self.root, is_enabled=config.index.enabled, find_shared=self.services.index.find_folder)

    @property
    def config(self) -> Config:
        """The settings of the folder."""
        return self.harness.config

    @property
    def services(self) -> Services:
        """The parts that the verbs of the harness share."""
        return self.harness.services

    @property
    def is_trusted(self) -> bool:
        """True if the user has written in the settings that code of this folder may run."""
        return is_in_trusted_folder(self.root, self.config)

    @cached_property
    def reading_gate(self) -> PermissionGate:
        """The gate of reading. Nobody can be asked, and its decisions belong to no session."""
        policy, problems = make_policy(self.config, [self.root])
        hooks, hook_problems = make_hooks(self.config)
        for problem in (*problems, *hook_problems):
            warn_once(problem.sentence)
        return PermissionGate(policy, None, Hooks(hooks, lambda event: None, self.root))

    @cached_property
    def environment(self) -> ToolEnvironment:
        """The surroundings of the tools that read code. No tool that changes something works in them."""
        can_read = self.reading_gate.is_readable if self.reading_gate.policy.tells_files_apart else can_read_all
        return ToolEnvironment([self.root], self.harness.workspace.private_files, self.index, can_read=can_read)

    async def open_index(self, report: ReportLine = ignore_line) -> IndexQuery | None:
        """Return the questions to the index when it is up to date, or None without an index.

        Args:
            report: Receives the progress.
        """
        settings = self.config.index
        if settings.enabled:
            # the search for a task asks the indexes of the harness, and the tools ask the same one
            self.services.index.folder_indexes.keep([self.root], follow=settings.update_on_save)
        return await self.index.ready(report)

    async def require_reading(self, tool: str, input: Mapping[str, Any], *paths: Path) -> None:
        """Raise UsageError if the rules of the settings forbid to read files, or all files without paths."""
        decision = await self.reading_gate.check(Action(tool, "read", input, paths or (self.root,)))
        if not decision.is_allowed:
            raise UsageError(f"{tool} is not allowed: {decision.reason}")

    async def aclose(self) -> None:
        """Close the index and the engine."""
        await self.index.aclose()
        await self.harness.aclose()
