"""A snapshot: one version of one document, frozen when a request arrives."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from lsp_harness.files.folders import find_folder
from lsp_harness.text.document import Document
from lsp_harness.text.uri import local_path, remote_path


@dataclass(frozen=True, slots=True)
class Snapshot:
    """One version of a document and its place in the workspace.

    Attributes:
        document: The version of the document.
        path: The path that prompts name. It is relative to the workspace folder if the file lies in one.
        file: The file, or None if the document has none on this machine.
        root: The workspace folder of the file, or None.
    """

    document: Document
    path: str
    file: Path | None = None
    root: Path | None = None

    @classmethod
    def of(cls, document: Document, roots: Sequence[Path]) -> "Snapshot":
        """Return the snapshot of a text.

        Args:
            document: The text.
            roots: The workspace folders.
        """
        file = local_path(document.uri)
        if place := find_folder(file, roots):
            # The path uses the name by which the client opened the folder, even if the file has another name.
            return cls(document, str(place.path), place.file, place.folder)
        return cls(document, file.name if file else remote_path(document.uri), file)

    @property
    def tool_path(self) -> Path:
        """The path by which tools choose their settings. The file does not need to exist."""
        return self.file or Path(self.path)
