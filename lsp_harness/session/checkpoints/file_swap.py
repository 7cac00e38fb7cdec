"""Changes of several files that happen together: after a failure all files are as they were."""

import os
import secrets
import shutil
import stat
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path, PurePosixPath

from lsp_harness.disk.file_reading import system_message
from lsp_harness.disk.file_writing import NEW_FILE_FLAGS, write_all
from lsp_harness.errors import FileError
from lsp_harness.session.checkpoints.file_state import FileState


class FileSwap:
    """Changes below a folder. Call `prepare` for all new contents, then `remove` and `put`, and at the end `commit`.

    A failing method undoes everything before it raises FileError. No link in the folder is followed.
    """

    def __init__(self, root: Path) -> None:
        """Change files below `root`."""
        self._root = root
        # it is on the same disk, so that renaming suffices
        self._folder = root / f".lsp-harness-{secrets.token_hex(6)}.tmp"
        self._prepared: dict[str, Path] = {}
        self._undo: list[Callable[[], object]] = []
        self._names = 0
        self._emptied: set[Path] = set()

    def prepare(self, path: str, state: FileState, content: bytes) -> None:
        """Write the new content of a file to the disk, so that a full disk is noticed before anything changes."""
        try:
            new = self._temporary()
            self._prepared[path] = new
            if state.is_link:
                os.symlink(os.fsdecode(content), new)
                return
            descriptor = os.open(new, NEW_FILE_FLAGS, 0o600)
            try:
                write_all(descriptor, content)
                os.fchmod(descriptor, stat.S_IMODE(state.mode))
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
        except OSError as error:
            raise self._failure(path, error) from error

    def remove(self, path: str) -> None:
        """Remove a file, if it exists."""
        try:
            self._check_folders(path)
            self._set_aside(self._root / path)
            self._emptied.update(self._folders_above(path))
        except OSError as error:
            raise self._failure(path, error) from error

    def put(self, path: str) -> None:
        """Replace a file by its prepared content, or create it."""
        file = self._root / path
        try:
            self._remove_empty_folder(file)
            self._create_folders(path)
            self._set_aside(file)
            os.rename(self._prepared.pop(path), file)
            self._undo.append(lambda: os.unlink(file))
        except OSError as error:
            raise self._failure(path, error) from error

    def commit(self, is_removable: Callable[[str], bool]) -> None:
        """Finish. Folders that became empty are removed if `is_removable` says so of their path."""
        shutil.rmtree(self._folder, ignore_errors=True)
        for folder in sorted(self._emptied, key=lambda folder: len(folder.parts), reverse=True):
            if is_removable(str(folder.relative_to(self._root))):
                with suppress(OSError):
                    os.rmdir(folder)

    def roll_back(self) -> None:
        """Undo everything."""
        for undo in reversed(self._undo):
            with suppress(OSError):
                undo()
        self._undo.clear()
        self._prepared.clear()
        # a backup that could not get its name back stays
        self._remove_unless_backups()

    def _failure(self, path: str, error: OSError) -> FileError:
        self.roll_back()
        return FileError(
            f"nothing was restored, because {self._root / path} cannot be changed: {system_message(error).lower()}"
        )

    def _set_aside(self, file: Path) -> None:
        """Give an existing file another name in its folder."""
        try:
            if stat.S_ISDIR(os.lstat(file).st_mode):
                raise IsADirectoryError("a folder with other files has its name")
        except (FileNotFoundError, NotADirectoryError):
            return
        backup = self._temporary("old")
        os.rename(file, backup)
        self._undo.append(lambda: os.rename(backup, file))

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

    def _temporary(self, kind: str = "new") -> Path:
        if not self._names:
            self._folder.mkdir(mode=0o700)
        self._names += 1
        return self._folder / f"{kind}-{self._names}"

    def _remove_unless_backups(self) -> None:
        if self._names and not any(self._folder.glob("old-*")):
            shutil.rmtree(self._folder, ignore_errors=True)
