"""What a request works on: one version of one document, frozen when the request arrived."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from lsp_harness.files.folders import find_folder
from lsp_harness.text.document import Document
from lsp_harness.text.uri import local_path, remote_path


@dataclass(frozen=True, slots=True)
class Snapshot:
    """`path` is relative to the workspace where there is one; it is what the model is told."""

    document: Document
    path: str
    file: Path | None = None
    root: Path | None = None

    @classmethod
    def of(cls, document: Document, roots: Sequence[Path]) -> "Snapshot":
        """Any text, and where it lies in the workspace."""
        file = local_path(document.uri)
        if place := find_folder(file, roots):
            # under the name that the folder was opened by, whatever name the file was
            return cls(document, str(place.path), place.file, place.folder)
        return cls(document, file.name if file else remote_path(document.uri), file)

    @property
    def tool_path(self) -> Path:
        """Where the text would lie; tools choose their settings by it."""
        return self.file or Path(self.path)
