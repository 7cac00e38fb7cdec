"""What a request works on: one version of one document, frozen when the request arrived."""

from dataclasses import dataclass
from pathlib import Path

from lsp_harness.text.document import Document


@dataclass(frozen=True, slots=True)
class Snapshot:
    """`path` is relative to the workspace where there is one; it is what the model is told."""

    document: Document
    path: str
    file: Path | None = None
    root: Path | None = None

    @property
    def tool_path(self) -> Path:
        """Where the text would lie; tools choose their settings by it."""
        return self.file or Path(self.path)
