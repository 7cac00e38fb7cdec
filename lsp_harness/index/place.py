"""Where the index of a workspace folder is: outside of it, as it is no work of the user's."""

import os
import shutil
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

from lsp_harness.config import paths
from lsp_harness.process.lead import led


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
    """The place is made. A folder is told from others by where it really is. Raises OSError."""
    real = root.resolve()
    name = f"{real.name or 'root'}-{blake2b(bytes(real), digest_size=6).hexdigest()}"
    folder = _all() / name
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    # for people who wonder whose it is
    (folder / "root").write_bytes(bytes(real))
    return Place(real, folder)


def prune() -> list[Path]:
    """Removes the indexes of folders that are gone; these folders."""
    gone: list[Path] = []
    # where no index was made yet there is no folder of them
    for folder in _all().glob("*"):
        try:
            root = Path(os.fsdecode((folder / "root").read_bytes()))
            # of one that cannot be looked at nobody knows
            if not root.is_dir() and not led(Place(root, folder).lock):
                shutil.rmtree(folder, ignore_errors=True)
                gone.append(root)
        except OSError:
            continue
    return gone


def _all() -> Path:
    return paths.cache() / "index"
