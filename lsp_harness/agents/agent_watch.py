"""The watch of a folder in which an agent works without a worktree: changed files are verified and reported."""

import asyncio
import hashlib
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from lsp_harness.agents.change_review import review_changes
from lsp_harness.agents.file_findings import find_in_files
from lsp_harness.agents.folder_watch import FolderWatch
from lsp_harness.disk.file_reading import read_file
from lsp_harness.disk.file_warnings import warn_once
from lsp_harness.errors import FileError, HarnessError
from lsp_harness.files.folders import resolve_links
from lsp_harness.harness.services import Services
from lsp_harness.runtime.agent_events import EventName
from lsp_harness.runtime.isolation.git import MAX_FILE_BYTES, GitFailed, TreeChange, read_changes, run_git, write_tree
from lsp_harness.runtime.isolation.worktree import MAX_CHANGED_FILES

Publish = Callable[[str, EventName, Mapping[str, Any]], object]
"""Publishes an event of an agent."""


class AgentWatch:
    """The watch of the folder of one agent.

    In a git repository the texts at the start of the agent are not to blame. Elsewhere a changed file is checked as if
    it were new. Changes of the user at the same time cannot be told from those of the agent.

    Args:
        services: The shared parts of the harness.
        folder: The folder of the agent.
        publish: Publishes an event of an agent.
        agent_id: The agent.
    """

    def __init__(self, services: Services, folder: Path, publish: Publish, agent_id: str = "") -> None:
        self._services, self._publish = services, publish
        self.agent_id = agent_id
        """The agent, or an empty text until it is known."""
        self._folder = resolve_links(folder)
        self._repository: Path | None = None
        self._base = ""
        self._watch = FolderWatch(self._folder)
        self._task: asyncio.Task[None] | None = None
        self._verified = ""
        self._verifying = asyncio.Lock()
        self._has_ended = False

    async def start(self) -> None:
        """Begin to watch, and note the texts as they are. Start the agent afterwards."""
        try:
            await self._watch.start()
        except OSError as error:
            reason = error.strerror or error
            warn_once(f"the changes of agents in {self._folder} are checked at their end only: {reason}")
        self._task = asyncio.create_task(self._follow())
        with suppress(GitFailed):
            top = await run_git(self._folder, "rev-parse", "--show-toplevel")
            self._repository = Path(top.decode().rstrip("\n"))
            self._base = await write_tree(self._repository)

    async def finish(self) -> None:
        """Verify the last changes of the agent, which has ended.

        The watch goes on while there are findings about files that stay as the agent left them, and then ends.
        """
        if not self._has_ended:
            await self._verify_last()
            self._has_ended = True
            self._end_without_findings()

    async def aclose(self) -> None:
        """End the watch. In a git repository the last changes are verified before, although nobody saw them yet."""
        self._watch.stop()
        if self._task:
            await asyncio.gather(self._task, return_exceptions=True)
        if not self._has_ended:
            await self._verify_last()

    async def _verify_last(self) -> None:
        if self._base:
            with suppress(HarnessError):
                await self.verify()

    def _end_without_findings(self) -> None:
        if not self._services.agent_findings.has_any(self.agent_id):
            self._watch.stop()

    async def _follow(self) -> None:
        async for files in self._watch.changes():
            if self._has_ended:
                self._services.agent_findings.drop_outdated(self.agent_id)
                self._end_without_findings()
                continue
            with suppress(HarnessError):
                await self.verify(files)

    async def verify(self, files: Iterable[Path] | None = None) -> None:
        """Verify files that may have changed, and publish `files_changed` and `verified` if they are news.

        Args:
            files: The files. None means all, which needs a git repository.

        Raises:
            HarnessError: They cannot be read.
        """
        # the end of the agent must not pass a verification that has no findings yet
        async with self._verifying:
            await self._verify(files)

    async def _verify(self, files: Iterable[Path] | None) -> None:
        self._services.agent_findings.drop_outdated(self.agent_id)
        root = self._repository or self._folder
        resolved = None if files is None else [resolve_links(file.parent) / file.name for file in files]
        wanted = None
        if resolved is not None:
            wanted = {str(file.relative_to(root)) for file in resolved if file.is_relative_to(root)}
        found = [change for change in await self._read(root, wanted) if ".git" not in Path(change.path).parts]
        key = hashlib.blake2b(repr(found).encode()).hexdigest()
        if not found or not self.agent_id or key == self._verified:
            return
        self._verified = key
        self._publish(self.agent_id, "files_changed", {"paths": [change.path for change in found]})
        review = await review_changes(self._services, self._root(root), root, found, author=self.agent_id)
        for change in review.all_changes:
            self._services.verifier.record_file_change(change.file)
        self._publish(self.agent_id, "verified", {**review.fields(root), "isApplied": True})
        async for found in find_in_files(self._services, review):
            self._services.agent_findings.record(self.agent_id, found)

    def _root(self, root: Path) -> Path:
        roots = [resolve_links(folder) for folder in self._services.workspace.roots]
        return next((folder for folder in roots if self._folder.is_relative_to(folder)), root)

    async def _read(self, root: Path, wanted: set[str] | None) -> list[TreeChange]:
        if self._repository:
            changes, _ = await read_changes(root, self._base, await write_tree(root), 10 * MAX_CHANGED_FILES)
            return [change for change in changes if wanted is None or change.path in wanted]
        return [change for path in sorted(wanted or ())[:MAX_CHANGED_FILES] if (change := self._read_file(root, path))]

    def _read_file(self, root: Path, path: str) -> TreeChange | None:
        file = root / path
        if file.is_symlink() or self._services.workspace.private_files.reason(file.as_uri()):
            return None
        try:
            return TreeChange(path, "created", None, read_file(file, MAX_FILE_BYTES))
        except FileError:
            return None
