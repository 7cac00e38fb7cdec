"""The folders that a client has open, whether the user trusts them, and which of their files no model may see."""

from collections.abc import Iterable, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from lsp_harness.text.document import Document
from lsp_harness.workspace.snapshot import Snapshot

if TYPE_CHECKING:
    from lsp_harness.files.private_files import PrivateFiles


class Workspace:
    """The folders that one client has open, and whether the user trusts them.

    Attributes:
        roots: The workspace folders.
        is_trusted: Whether the user trusts the workspace. If not, nothing of it is run, prepared or written to disk.
    """

    def __init__(self, roots: Iterable[Path] = (), *, is_trusted: bool = True) -> None:
        self._roots = list(roots)
        self.is_trusted = is_trusted

    @property
    def roots(self) -> Sequence[Path]:
        return self._roots

    def set_roots(self, roots: Iterable[Path]) -> None:
        """Replace the workspace folders."""
        self._roots[:] = roots

    @cached_property
    def private_files(self) -> "PrivateFiles":
        """The rules about files that no model may see. They follow the present folders."""
        # reading ignore patterns takes time to import, and `initialize` must be answered at once
        from lsp_harness.files.private_files import PrivateFiles

        return PrivateFiles(self._roots)

    def snapshot(self, text: Document) -> Snapshot:
        """Return any text together with its place in the workspace."""
        return Snapshot.of(text, self._roots)

    def private_reason(self, snapshot: Snapshot) -> str:
        """Return why no model, and no log on disk, may see a file. Empty if they may."""
        reason = self.private_files.reason(snapshot.document.uri, snapshot.path)
        return f"{reason}, so it is not sent to the model" if reason else ""

    def may_persist(self, snapshot: Snapshot) -> bool:
        """Return whether the engine may write its cache of a document to disk."""
        return self.is_trusted and snapshot.root is not None
