"""Where the index of a workspace folder is: outside of it, as it is no work of the user's."""

import os
import shutil
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

from lsp_harness.config import paths
from lsp_harness.disk.file_reading import read_file
from lsp_harness.disk.file_writing import write_own_file
from lsp_harness.errors import FileProblem, StoreError
from lsp_harness.process.leader_lock import is_locked


@dataclass(frozen=True, slots=True)
class Place:
    """Of one folder. `lock` is held by the process that writes."""

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


def place(root: Path) -> Place:
    """The place is made. A folder is told from others by where it really is. Where the cache cannot be written, an index is made
    in a folder for temporary files. Raises ConfigError or StoreError where that cannot be, either."""
    real = root.resolve()
    folder = _all() / _name(real)
    try:
        return _made(real, folder)
    except OSError as error:
        if (folder / "index.db").exists():
            # it can be read, if not brought up to date
            paths.unkept("what changed in the index", paths.CACHE, folder, error)
            return Place(real, folder)
        paths.unkept("the index", paths.CACHE, folder, error)
        return elsewhere(root)


def elsewhere(root: Path) -> Place:
    """The place of an index in a folder for temporary files. Raises ConfigError or StoreError."""
    real = root.resolve()
    folder = paths.private(paths.temporary() / "index") / _name(real)
    try:
        return _made(real, folder)
    except OSError as error:
        raise StoreError(paths.not_written(paths.CACHE, folder, error)) from error


def _name(real: Path) -> str:
    return f"{real.name or 'root'}-{blake2b(bytes(real), digest_size=6).hexdigest()}"


def _made(real: Path, folder: Path) -> Place:
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    # for people who wonder whose it is, and to find out whether there is room
    if not _is_of(folder, real):
        write_own_file(folder / "root", bytes(real))
    return Place(real, folder)


def _is_of(folder: Path, real: Path) -> bool:
    try:
        return read_file(folder / "root") == bytes(real)
    except FileProblem:
        return False


def prune() -> list[Path]:
    """Removes the indexes of folders that are gone; these folders."""
    gone: list[Path] = []
    # where no index was made yet there is no folder of them
    for folder in _all().glob("*"):
        try:
            root = Path(os.fsdecode(read_file(folder / "root")))
            # of one that cannot be looked at nobody knows
            if not root.is_dir() and not is_locked(Place(root, folder).lock):
                shutil.rmtree(folder, ignore_errors=True)
                gone.append(root)
        except (OSError, ValueError, FileProblem):
            continue
    return gone


def _all() -> Path:
    return paths.cache() / "index"
