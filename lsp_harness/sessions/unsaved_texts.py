"""The unsaved texts of an editor for the tools of sessions, and the edits of them, which only the editor can make."""

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from time import monotonic

from lsp_harness.disk.file_reading import read_file
from lsp_harness.errors import FileError, StaleDocument, UsageError
from lsp_harness.files.folders import resolve_links
from lsp_harness.harness.services import Services
from lsp_harness.syntax.parse_budget import MAX_TEXT_BYTES
from lsp_harness.text.document import Document
from lsp_harness.text.edit import Edit, apply
from lsp_harness.text.uri import local_path

EDIT_WAIT_S = 2.0
"""How long a tool waits for the text that the editor sends after an edit."""
POLL_INTERVAL_S = 0.02


class UnsavedTexts:
    """The texts of one client that differ from their files (see `EditorTexts`).

    Args:
        services: The settings, documents, engine and checks that all parts of the harness share.
    """

    def __init__(self, services: Services) -> None:
        self._services = services

    def unsaved(self) -> Mapping[Path, Document]:
        """Return the texts by their absolute paths without links."""
        edited = (opened.text for opened, _ in self._services.edited_documents())
        texts = {resolve_links(path): text for text in edited if (path := _file_of(text)) is not None}
        return {path: text for path, text in texts.items() if _read(path) != text.data}

    async def apply(self, document: Document, edits: Sequence[Edit]) -> None:
        """Let the editor change a text, and wait until it has sent the new one.

        Raises:
            UsageError: The editor cannot change texts, or refuses.
            StaleDocument: The text has changed.
        """
        name = Path(document.uri).name
        if (apply_edit := self._services.apply_edit) is None:
            raise UsageError(
                f"{name} has unsaved changes, and this editor does not let a server edit its texts; nothing was "
                "changed. Ask the user to save the file, and repeat the edit then"
            )
        if self._services.find_text(document.uri) is not document:
            raise StaleDocument(f"{name} has changed in the editor since it was read; read it again")
        if reason := await apply_edit(document, edits):
            raise UsageError(f"{name} has unsaved changes, and the editor did not apply the edit: {reason}")
        deadline_s = monotonic() + EDIT_WAIT_S
        # an editor may send the change after its answer
        while monotonic() < deadline_s and self._services.find_text(document.uri) is document:  # noqa: ASYNC110
            await asyncio.sleep(POLL_INTERVAL_S)
        present = self._services.find_text(document.uri)
        if present is None or present.data != apply(document.data, edits):
            raise UsageError(f"the editor did not send the new text of {name}; read the file before the next edit")


def _file_of(document: Document) -> Path | None:
    """Return the file of a document. Texts of a notebook or of a commit have none."""
    return local_path(document.uri) if document.uri.startswith("file:") else None


def _read(path: Path) -> bytes | None:
    try:
        return read_file(path, MAX_TEXT_BYTES)
    except FileError:
        return None
