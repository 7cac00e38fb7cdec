"""The state of the workspace folders on disk: the one place that learns of each change, and tells everybody else.

Saves, the editor's watcher and that of the index report files as hints. A hint whose stamp is known already is no
change, so that two watchers count once. Before a verification, `refresh` looks at the stamps of all files: what it
finds does not depend on whether anybody watches.
"""

import asyncio
import os
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from lsp_harness.files.folders import resolve_links
from lsp_harness.workspace.folder_stamps import (
    FEW_ENTRIES,
    PACKAGE_LISTS,
    ChangedFile,
    ChangeKind,
    Scope,
    Stamp,
    compare_looks,
    find_packages,
    is_same,
    is_walked,
    look_at_file,
    look_at_folder,
)

Listener = Callable[[Sequence[ChangedFile]], None]
MAX_HINTS = 200
"""Files that are looked at one by one. For more, the whole folder is looked at."""


class FolderState:
    """The files of the folders of one client.

    Args:
        list_roots: Returns the workspace folders.
        list_environments: Returns the Python environments of a folder that lie elsewhere.

    Attributes:
        listeners: Functions that get the changes, on the event loop.
        extra_files: Returns files outside of the folders that count, such as the user's settings.
    """

    def __init__(
        self,
        list_roots: Callable[[], Sequence[Path]],
        list_environments: Callable[[Path], Iterable[Path]] = lambda root: (),
    ) -> None:
        self.listeners: list[Listener] = []
        self.extra_files: Callable[[], Iterable[Path]] = tuple
        self._list_roots = list_roots
        self._list_environments = list_environments
        self._folders: dict[Path, _Folder] = {}
        self._extra: dict[str, Stamp] = {}
        self._count = 0
        self._counts: Counter[str] = Counter()
        self._tasks: set[asyncio.Task[None]] = set()
        self._due: set[Path] = set()
        """Folders that a task will look at."""

    # -- what changed
    def changes_without(self, file: Path | None) -> int:
        """Return the number of changes of all files but one. Another number means that a check may find another thing.

        Args:
            file: The file whose own changes do not count, or None.
        """
        return self._count - (self._counts[_name(file)] if file else 0)

    def record(self, hints: Iterable[tuple[Path, ChangeKind]]) -> Sequence[ChangedFile]:
        """Record that files may have changed, and return what did. Files that are as they were are left out.

        Args:
            hints: The files, and what happened to them in the words of who reports it.
        """
        hints = [*hints]
        if len(hints) > MAX_HINTS and self._look_soon(self._list_roots()):
            return ()
        changes: list[ChangedFile] = []
        for path, kind in hints:
            if (root := self._find_root(path)) is None:
                changes.append(ChangedFile(path, kind))
                continue
            folder = self._find_folder(root)
            if folder.holds_others(path) and self._look_soon([root]):
                continue
            if not is_walked(path, root):
                # a cache, or the files of a package, whose names say enough
                continue
            if change := folder.look_at(path, kind):
                changes.append(change)
        self._publish(changes)
        return changes

    async def refresh(self, root: Path | None = None) -> None:
        """Look at a folder, or at all of them, and report what changed since the last look.

        The first look at a folder reports nothing but what contradicts the hints before it.
        """
        changes = self._look_at_extra()
        for each in [root] if root else [*self._list_roots()]:
            changes += await self._find_folder(each).look(self._list_environments(each))
        self._publish(changes)

    def look_soon(self, root: Path | None = None) -> None:
        """Look at a folder, or at all of them, in the background."""
        self._look_soon([root] if root else self._list_roots())

    async def aclose(self) -> None:
        """Wait until no folder is looked at."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    # -- parts
    def _publish(self, changes: Sequence[ChangedFile]) -> None:
        if not changes:
            return
        counting = [change for change in changes if not change.is_noise]
        self._count += len(counting)
        self._counts.update(_name(change.path) for change in counting)
        for listener in tuple(self.listeners):
            listener(changes)

    def _look_soon(self, roots: Sequence[Path]) -> bool:
        """Look at folders in the background. Return whether there is an event loop that does it."""
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            return False
        for root in roots:
            if root in self._due:
                continue
            self._due.add(root)
            task = loop.create_task(self._look_now(root), name=f"the state of {root}")
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        return True

    async def _look_now(self, root: Path) -> None:
        self._due.discard(root)
        await self.refresh(root)

    def _look_at_extra(self) -> list[ChangedFile]:
        found: list[ChangedFile] = []
        for file in self.extra_files():
            path = str(file)
            stamp = look_at_file(path, self._extra)
            is_new = path not in self._extra
            if not is_new and not is_same(self._extra[path], stamp or ABSENT):
                found.append(ChangedFile(file, "deleted" if stamp is None else "changed"))
            self._extra[path] = stamp or ABSENT
        return found

    def _find_folder(self, root: Path) -> "_Folder":
        if root not in self._folders:
            self._folders[root] = _Folder(root)
        return self._folders[root]

    def _find_root(self, path: Path) -> Path | None:
        roots = [root for root in self._list_roots() if path.is_relative_to(root)]
        if not roots:
            roots = [root for root in self._list_roots() if resolve_links(path).is_relative_to(resolve_links(root))]
        return max(roots, key=lambda root: len(root.parts), default=None)


ABSENT = Stamp(())
"""The stamp of a file that does not exist."""


def _name(file: Path) -> str:
    return os.path.realpath(file)


class _Folder:
    """The stamps of one folder.

    Args:
        root: The folder.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self._stamps: dict[str, Stamp] = {}
        self._touched: dict[str, None] = {}
        """Files that were looked at one by one while the folder was looked at."""
        self._lock = asyncio.Lock()
        self.is_known = False

    def holds_others(self, path: Path) -> bool:
        """Return whether a hint is about more than one file: a folder, or installed packages."""
        name = str(path)
        if _find_scope(name) == "packages":
            return True
        if path.is_dir():
            return True
        return name not in self._stamps and any(known.startswith(name + os.sep) for known in self._stamps)

    def look_at(self, path: Path, kind: ChangeKind) -> ChangedFile | None:
        """Return the change of one file since the last look, or None if there is none."""
        name = self._spell_path(path)
        before, after = self._stamps.get(name), look_at_file(name, self._stamps)
        scope: Scope = before.scope if before else _find_scope(name)
        self._touched[name] = None
        if after:
            self._stamps[name] = Stamp(after.status, after.digest, scope)
        else:
            self._stamps.pop(name, None)
        if before is None and after is None:
            # a file that nobody has seen yet: only who reports it knows what happened
            return None if self.is_known else ChangedFile(path, kind, scope)
        if is_same(before, after):
            return None
        if before is None:
            return ChangedFile(path, "created" if self.is_known else kind, scope)
        return ChangedFile(path, "changed" if after else "deleted", scope)

    async def look(self, environments: Iterable[Path]) -> list[ChangedFile]:
        """Look at all files, and return what changed."""
        async with self._lock:
            packages = [Path(found) for folder in environments for found in find_packages(str(folder))]
            before = self._stamps
            self._touched = {}
            look = look_at_folder(self._root, packages, before, FEW_ENTRIES)
            if not look.is_complete:
                look = await asyncio.to_thread(look_at_folder, self._root, packages, dict(before))
            stamps = dict(look.stamps)
            for name in self._touched:
                # the look may be older than what is known of this file by now
                if stamp := before.get(name):
                    stamps[name] = stamp
                else:
                    stamps.pop(name, None)
            was_known, self.is_known = self.is_known, True
            changes = compare_looks(before, stamps)
            self._stamps = stamps
            if not was_known:
                return [change for change in changes if change.kind != "created"]
            if not look.is_complete:
                # nobody knows about the files that were not counted
                changes.append(ChangedFile(self._root, "changed"))
            return changes

    def _spell_path(self, path: Path) -> str:
        """Return a path as the looks spell it."""
        if path.is_relative_to(self._root):
            return str(path)
        try:
            return str(self._root / resolve_links(path).relative_to(resolve_links(self._root)))
        except ValueError:
            return str(path)


def _find_scope(name: str) -> Scope:
    parts = name.split(os.sep)
    if ".git" in parts:
        return "branch"
    return "packages" if any(part in PACKAGE_LISTS for part in parts) else "file"


def list_environments(root: Path, python: str) -> list[Path]:
    """Return the Python environments of a folder that are chosen by the settings or the surroundings.

    Args:
        root: The folder.
        python: The environment of the settings, or an empty text.
    """
    return [root / Path(path).expanduser() for path in (python, os.environ.get("VIRTUAL_ENV", "")) if path]
