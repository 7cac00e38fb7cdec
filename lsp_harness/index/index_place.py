"""The place of a workspace folder's index: outside of the folder, as the index is not the user's work."""

import os
import shutil
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

from lsp_harness.config import paths
from lsp_harness.disk.file_reading import read_file
from lsp_harness.disk.file_writing import write_own_file
from lsp_harness.errors import FileError, StoreError
from lsp_harness.process.leader_lock import is_locked
from lsp_harness.store.database import remove_database


@dataclass(frozen=True, slots=True)
class IndexPlace:
    """The place of one folder's index. The process that writes the index holds the lock file."""

    root: Path
    folder: Path

    @property
    def database(self) -> Path:
        return self.folder / "index.db"

    @property
    def lock(self) -> Path:
        return self.folder / "lock"

    @property
    def log(self) -> Path:
        return self.folder / "index.log"


def prepare_place(root: Path) -> IndexPlace:
    """Create the place of a folder's index. Folders are identified by their path without symbolic links.

    If the cache cannot be written, an existing index there is used as it is; otherwise the index is created in a folder
    for temporary files.

    Raises:
        ConfigError: The settings name no usable directory.
        StoreError: The temporary folder cannot be written either.
    """
    real = root.resolve()
    folder = _index_root() / _folder_name(real)
    try:
        return _create(real, folder)
    except OSError as error:
        if (folder / "index.db").exists():
            # The index can be read, but not updated.
            paths.warn_not_saved("what changed in the index", paths.CACHE, folder, error)
            return IndexPlace(real, folder)
        paths.warn_not_saved("the index", paths.CACHE, folder, error)
        return prepare_temporary_place(root)


def prepare_temporary_place(root: Path) -> IndexPlace:
    """Create the place of an index in a folder for temporary files.

    Raises:
        ConfigError: The settings name no usable directory.
        StoreError: The folder cannot be written.
    """
    real = root.resolve()
    folder = paths.make_private_folder(paths.make_temporary_folder() / "index") / _folder_name(real)
    try:
        return _create(real, folder)
    except OSError as error:
        raise StoreError(paths.describe_write_failure(paths.CACHE, folder, error)) from error


def _folder_name(real: Path) -> str:
    return f"{real.name or 'root'}-{blake2b(bytes(real), digest_size=6).hexdigest()}"


def _create(real: Path, folder: Path) -> IndexPlace:
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    # This file tells people which folder the index belongs to. Writing it shows whether there is disk space.
    if not _belongs_to(folder, real):
        write_own_file(folder / "root", bytes(real))
    return IndexPlace(real, folder)


def _belongs_to(folder: Path, real: Path) -> bool:
    try:
        return read_file(folder / "root") == bytes(real)
    except FileError:
        return False


def remove_index(place: IndexPlace) -> None:
    """Delete an index, but not its vectors.

    Raises:
        StoreError: A file cannot be deleted.
    """
    remove_database(place.database)


def remove_orphaned_indexes() -> list[Path]:
    """Remove the indexes of workspace folders that do not exist any more, and return these folders."""
    removed: list[Path] = []
    # Without any index, the root folder does not exist and the loop is empty.
    for folder in _index_root().glob("*"):
        try:
            root = Path(os.fsdecode(read_file(folder / "root")))
            # A folder that cannot be read may still exist; the error is caught below.
            if not root.is_dir() and not is_locked(IndexPlace(root, folder).lock):
                shutil.rmtree(folder, ignore_errors=True)
                removed.append(root)
        except (OSError, ValueError, FileError):
            continue
    return removed


def _index_root() -> Path:
    return paths.cache_folder() / "index"
