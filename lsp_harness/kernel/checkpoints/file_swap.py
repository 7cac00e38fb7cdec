"""Changes of several files that happen together: after a failure all files are as they were.

Each file is compared with its expected content after it has got another name, so that no text is lost that another
program writes between a check and a change.
"""

import os
import secrets
import shutil
import stat
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path, PurePosixPath

from lsp_harness.disk.file_lock import FolderLock
from lsp_harness.disk.file_reading import describe_system_error
from lsp_harness.disk.file_writing import NEW_FILE_FLAGS, write_all
from lsp_harness.disk.ownership import set_mode
from lsp_harness.disk.renaming import exchange, rename_new
from lsp_harness.errors import FileError
from lsp_harness.kernel.checkpoints.file_state import ABSENT, SWAP_FOLDER, FileState, read_state


class FileSwap:
    """Changes below a folder. Call `prepare` for all new contents, then `remove` and `put`, and at the end `commit`.

    A failing method undoes everything before it raises FileError. No link in the folder is followed.
    """

    def __init__(self, root: Path, expected: Mapping[str, FileState]) -> None:
        """Begin a group of changes of files below a folder.

        Args:
            root: The folder.
            expected: Path → the state that is given up. If a file has another one, nothing is changed.
        """
        self._root = root
        self._expected = expected
        self._folder = root / SWAP_FOLDER.format(secrets.token_hex(6))
        self._lock: FolderLock | None = None
        self._prepared: dict[str, tuple[Path, FileState]] = {}
        self._undo: list[Callable[[], object]] = []
        self._names = 0
        self._emptied: set[Path] = set()

    def prepare(self, path: str, state: FileState, content: bytes) -> None:
        """Write the new content of a file to the disk, so that a full disk is noticed before anything changes."""
        try:
            new = self._choose_temporary()
            self._prepared[path] = new, state
            if state.is_link:
                os.symlink(os.fsdecode(content), new)
                return
            descriptor = os.open(new, NEW_FILE_FLAGS, 0o600)
            try:
                write_all(descriptor, content)
                set_mode(descriptor, new, stat.S_IMODE(state.mode))
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
        except OSError as error:
            raise self._make_failure(path, error) from error

    def remove(self, path: str) -> None:
        """Remove a file, if it exists."""
        file = self._root / path
        try:
            self._check_folders(path)
            if self._is_there(file):
                backup = self._choose_temporary("old")
                os.rename(file, backup)
                self._undo.append(lambda: rename_new(backup, file))
                self._require_expected(path, backup)
            self._emptied.update(self._folders_above(path))
        except OSError as error:
            raise self._make_failure(path, error) from error

    def put(self, path: str) -> None:
        """Replace a file by its prepared content, or create it."""
        file = self._root / path
        try:
            self._remove_empty_folder(file)
            self._create_folders(path)
            new, state = self._prepared.pop(path)
            if not self._is_there(file):
                rename_new(new, file)
                self._undo.append(lambda: self._take_back(path, file, state))
                self._require_expected(path, None)
                return
            exchange(new, file)
            self._undo.append(lambda: self._exchange_back(path, new, file, state))
            self._require_expected(path, new)
        except OSError as error:
            raise self._make_failure(path, error) from error

    def commit(self, is_removable: Callable[[str], bool]) -> None:
        """Finish. Folders that became empty are removed if `is_removable` says so of their path."""
        shutil.rmtree(self._folder, ignore_errors=True)
        self._release()
        for folder in sorted(self._emptied, key=lambda folder: len(folder.parts), reverse=True):
            if is_removable(str(folder.relative_to(self._root))):
                with suppress(OSError):
                    os.rmdir(folder)

    def roll_back(self) -> None:
        """Give all files that were changed their earlier contents again."""
        for undo in reversed(self._undo):
            with suppress(OSError):
                undo()
        self._undo.clear()
        for new, _ in self._prepared.values():
            new.unlink(missing_ok=True)
        self._prepared.clear()
        # a text that could not get its name back stays
        with suppress(OSError):
            os.rmdir(self._folder)
        self._release()

    def _make_failure(self, path: str, error: OSError) -> FileError:
        self.roll_back()
        reason = describe_system_error(error).lower()
        return FileError(f"nothing was restored, because {self._root / path} cannot be changed: {reason}")

    def _require_expected(self, path: str, backup: Path | None) -> None:
        """Raise OSError if the file that was there has another content than the expected one."""
        expected = self._expected.get(path, ABSENT)
        found = read_state(self._folder, backup.name) if backup else ABSENT
        if not found.is_same(expected):
            raise OSError("another program has written it just now")

    def _take_back(self, path: str, file: Path, state: FileState) -> None:
        """Remove a file that this swap created, unless somebody has changed it since."""
        backup = self._choose_temporary("new")
        os.rename(file, backup)
        if read_state(self._folder, backup.name).is_same(_drop_times(state)):
            backup.unlink()
        else:
            rename_new(backup, file)

    def _exchange_back(self, path: str, backup: Path, file: Path, state: FileState) -> None:
        """Give a file its old text again. If somebody has changed the new text meanwhile, keep both texts."""
        exchange(backup, file)
        if read_state(self._folder, backup.name).is_same(_drop_times(state)):
            backup.unlink()
        else:
            exchange(backup, file)

    def _is_there(self, file: Path) -> bool:
        try:
            if stat.S_ISDIR(os.lstat(file).st_mode):
                raise IsADirectoryError("a folder with other files has its name")
        except (FileNotFoundError, NotADirectoryError):
            return False
        return True

    def _remove_empty_folder(self, file: Path) -> None:
        """Remove an empty folder in the place of a file."""
        if not file.is_symlink() and file.is_dir():
            for folder, _, names in os.walk(file, topdown=False):
                if not names:
                    mode = stat.S_IMODE(os.lstat(folder).st_mode)
                    os.rmdir(folder)
                    self._undo.append(lambda folder=folder, mode=mode: os.mkdir(folder, mode))

    def _create_folders(self, path: str) -> None:
        self._check_folders(path)
        for folder in reversed(self._folders_above(path)):
            if not folder.exists():
                os.mkdir(folder)
                self._undo.append(lambda folder=folder: os.rmdir(folder))

    def _check_folders(self, path: str) -> None:
        for folder in self._folders_above(path):
            if folder.is_symlink():
                raise OSError(f"the folder {folder} is a link now")

    def _folders_above(self, path: str) -> list[Path]:
        """Return the folders of a file below the root, the innermost first."""
        return [self._root / folder for folder in PurePosixPath(path).parents if folder.parts]

    def _choose_temporary(self, kind: str = "new") -> Path:
        if not self._names:
            self._folder.mkdir(mode=0o700)
            # the lock tells other processes that the folder is in use. It is free when this process ends
            self._lock = FolderLock(self._folder)
            self._lock.acquire()
        self._names += 1
        return self._folder / f"{kind}-{self._names}"

    def _release(self) -> None:
        if self._lock:
            self._lock.close()
            self._lock = None


def left_files(root: Path) -> Iterator[Path]:
    """Yield the files that killed processes left in their folders, and remove the folders that are empty."""
    for folder in root.glob(SWAP_FOLDER.format("*")):
        with suppress(OSError):
            lock = FolderLock(folder)
            try:
                lock.acquire()
                yield from sorted(folder.iterdir())
                os.rmdir(folder)
            finally:
                lock.close()


def _drop_times(state: FileState) -> FileState:
    """Return the mode and the hash of a state: the times of a file are other ones after it was written again."""
    return FileState(state.mode, state.digest)
