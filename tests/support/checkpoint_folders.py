"""Helpers for tests of checkpoints: a folder as a value, and a machine without git."""

import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from lsp_harness.kernel.checkpoints import content_store
from lsp_harness.kernel.checkpoints.checkpoints import Checkpoints

Make = Callable[..., Checkpoints]
Texts = dict[str, tuple[int, bytes]]
KINDS = ("git", "copies")


def hide_git(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(content_store.shutil, "which", lambda name: None)


def read_tree(root: Path) -> Texts:
    """Return the mode and the content of each file, and the target of each link."""
    found: Texts = {}
    for folder, folders, names in os.walk(root):
        for name in [*names, *(name for name in folders if (Path(folder) / name).is_symlink())]:
            path = Path(folder) / name
            content = os.fsencode(os.readlink(path)) if path.is_symlink() else path.read_bytes()
            found[str(path.relative_to(root))] = (
                0 if path.is_symlink() else stat.S_IMODE(path.stat().st_mode),
                content,
            )
    return found
