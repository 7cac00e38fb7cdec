"""The watch of a folder in which an agent works without a worktree: changed files are verified and reported."""

import asyncio
import hashlib
import threading
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from lsp_harness.agents.change_review import ChangeReview, review_changes
from lsp_harness.disk.file_reading import read_file
from lsp_harness.disk.file_warnings import warn_once
from lsp_harness.errors import ExtraMissing, FileError, HarnessError
from lsp_harness.extras import need_extra
from lsp_harness.files.folders import resolve_links
from lsp_harness.harness.services import Services
from lsp_harness.harness.verification.verdict_document import make_document_name
from lsp_harness.runtime.agent_events import EventName
from lsp_harness.runtime.isolation.git import MAX_FILE_BYTES, GitFailed, TreeChange, read_changes, run_git, write_tree
from lsp_harness.runtime.isolation.worktree import MAX_CHANGED_FILES
from lsp_harness.text.document import Document
from lsp_harness.text.edit import common_prefix_and_suffix
from lsp_harness.text.position import Span
from lsp_harness.verify.change import Change, ChangeSet
from lsp_harness.verify.check import CheckContext, run_checks
from lsp_harness.verify.finding import Outcome
from lsp_harness.verify.published_findings import FileFindings, PublishedFindings


async def find_in_files(services: Services, review: ChangeReview) -> AsyncGenerator[FileFindings]:
    """Yield the findings of a review about each file that was changed, also if there are none.

    The findings of a check belong to the first file. For the others, the checks that are not slow run once more, on
    each of them alone. So a failing test is shown in the first file only.

    Args:
        services: The settings, documents, engine and checks that all parts of the harness share.
        review: The review. The files on disk have the texts that were checked.
    """
    failed = tuple(outcome for outcome in review.verdict.outcomes if outcome.status == "failed")
    for number, change in enumerate(review.changes or ()):
        outcomes = failed
        if failed and number:
            checks = services.verifier.create_checks(
                services.config.verification, CheckContext(services.verifier.tools)
            )
            quick_checks = [check for check in checks if not check.is_slow]
            outcomes = (await run_checks(ChangeSet.of(change), quick_checks)).outcomes
        yield _describe(services, review, change, outcomes)


def _describe(services: Services, review: ChangeReview, change: Change, outcomes: tuple[Outcome, ...]) -> FileFindings:
    start, same = common_prefix_and_suffix(change.before.data, change.after.data)
    published = PublishedFindings(
        0,
        outcomes,
        Span(start, len(change.after.data) - same),
        make_document_name(services.session.log, review.turn),
        "agent",
        is_complete=True,
    )
    file = resolve_links(change.file)
    text = Document.from_text(_make_uri(services, file), change.after.data, language=change.after.language)
    return FileFindings(file, text, published)


def _make_uri(services: Services, file: Path) -> str:
    """Return the URI of a file, in the spelling of the workspace folders of the client."""
    for root in services.workspace.roots:
        resolved = resolve_links(root)
        if file.is_relative_to(resolved):
            return (root / file.relative_to(resolved)).as_uri()
    return file.as_uri()


QUIET_MS = 400
"""Changes that follow each other as quickly are one report."""
STEP_MS = 50


class _StopSignal:
    """The stop signal of a watch. The watch reads it for the first time after its folder is registered."""

    def __init__(self, watch: "FolderWatch") -> None:
        self._watch = watch
        self.is_stopped = False

    def is_set(self) -> bool:
        self._watch.report_registration()
        return self.is_stopped


class FolderWatch:
    """The watch of one folder.

    Args:
        folder: The folder. Its subfolders are watched, too.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._signal = _StopSignal(self)
        self._loop = asyncio.get_running_loop()
        self._failure: OSError | None = None
        self._is_registered = False
        self._registered = asyncio.Event()
        self._batches: asyncio.Queue[set[Path] | None] = asyncio.Queue()

    async def start(self) -> None:
        """Begin to watch the folder, and wait until every change is noticed. Other work of the event loop goes on.

        Raises:
            OSError: The folder cannot be watched.
        """
        # no task of the shared thread pool: it has few threads, and this one stays until the end
        threading.Thread(target=self._run, name=f"watch {self._folder.name}", daemon=True).start()
        await self._registered.wait()
        if self._failure:
            raise self._failure

    def stop(self) -> None:
        """End the watch. `changes` ends soon after."""
        self._signal.is_stopped = True

    async def changes(self) -> AsyncGenerator[set[Path]]:
        """Yield the files that changed together, until the watch ends."""
        while (batch := await self._batches.get()) is not None:
            yield batch

    def report_registration(self) -> None:
        """Let `start` return. The thread of the watch calls it."""
        if not self._is_registered:
            self._is_registered = True
            self._call(self._registered.set)

    def _run(self) -> None:
        try:
            with need_extra("runtime"):
                import watchfiles
            batches = watchfiles.watch(
                self._folder, debounce=QUIET_MS, step=STEP_MS, stop_event=self._signal, raise_interrupt=False
            )
            for batch in batches:
                paths = {Path(path) for _, path in batch}
                self._call(lambda paths=paths: self._batches.put_nowait(paths))
        except (OSError, RuntimeError, ExtraMissing) as error:
            self._failure = error if isinstance(error, OSError) else OSError(str(error))
        finally:
            self.report_registration()
            self._call(lambda: self._batches.put_nowait(None))

    def _call(self, function: Callable[[], object]) -> None:
        """Call a function in the event loop, unless that has ended."""
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(function)


Publish = Callable[[str, EventName, Mapping[str, Any]], object]
"""Publishes an event of an agent."""


class AgentWatch:
    """The watch of the folder of one agent.

    In a git repository the texts at the start of the agent are not to blame. Elsewhere a changed file is checked as if
    it were new. Changes of the user at the same time cannot be told from those of the agent.

    Args:
        services: The settings, documents, engine and checks that all parts of the harness share.
        folder: The folder of the agent.
        publish: Publishes an event of an agent.
        agent_id: The id of the agent.
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
        review = await review_changes(self._services, self._find_root(root), root, found, author=self.agent_id)
        for change in review.all_changes:
            self._services.verifier.record_file_change(change.file)
        self._publish(self.agent_id, "verified", {**review.fields(root), "isApplied": True})
        async for found in find_in_files(self._services, review):
            self._services.agent_findings.record(self.agent_id, found)

    def _find_root(self, root: Path) -> Path:
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
