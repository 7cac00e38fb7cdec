"""The unsaved texts of the editor on the other side of the Agent Client Protocol."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from acp import RequestError
from acp.interfaces import Client
from acp.schema import FileSystemCapabilities

from lsp_harness.disk.file_reading import read_file
from lsp_harness.errors import FileError, StaleDocument, UsageError
from lsp_harness.files.folders import resolve_links
from lsp_harness.syntax.parse_budget import MAX_TEXT_BYTES
from lsp_harness.text.document import Document
from lsp_harness.text.edit import Edit, apply
from lsp_harness.text.position import encode

MAX_ASKED_FILES = 20
"""Most files whose text is asked from the editor for one prompt."""

NO_ANSWER = (RequestError, ConnectionError, ValueError)
"""Errors of a request that the editor refused, did not get, or answered with something else."""


class ClientTexts:
    """The unsaved texts of the editor (see `EditorTexts`).

    The protocol cannot list them. So the editor is asked, before each prompt, for the files that the prompt names, and
    for those that were unsaved before.

    Args:
        client: The editor, as a client of the protocol.
        files: What the editor can read and write.
    """

    def __init__(self, client: Client, files: FileSystemCapabilities | None) -> None:
        self._client = client
        self._can_read = bool(files and files.read_text_file)
        self._can_write = bool(files and files.write_text_file)
        self._session_id = ""
        self._texts: dict[Path, Document] = {}

    def unsaved(self) -> Mapping[Path, Document]:
        """Return the texts by their absolute paths without links."""
        return dict(self._texts)

    async def refresh(self, session_id: str, files: Iterable[Path]) -> None:
        """Ask the editor for the texts of files, and keep those that differ from the disk."""
        self._session_id = session_id
        if not self._can_read:
            return
        wanted = dict.fromkeys([*map(resolve_links, files), *self._texts])
        self._texts = {}
        for path in list(wanted)[:MAX_ASKED_FILES]:
            text = await self._read(path)
            if text is not None and encode(text) != _read_disk(path):
                self._texts[path] = Document.from_text(path.as_uri(), encode(text))

    async def apply(self, document: Document, edits: Sequence[Edit], /) -> None:
        """Let the editor write a text.

        Raises:
            UsageError: The editor does not do it.
            StaleDocument: The text has changed.
        """
        path = next((path for path, known in self._texts.items() if known.uri == document.uri), None)
        if path is None or not self._can_write:
            raise UsageError(
                "the editor has unsaved changes in this file and cannot be asked to edit it; save it first"
            )
        if await self._read(path) != document.text:
            raise StaleDocument("the text in the editor has changed; try again")
        data = apply(document.data, edits)
        new = Document.from_text(document.uri, data, language=document.language, version=document.version + 1)
        try:
            await self._client.write_text_file(session_id=self._session_id, path=str(path), content=new.text)
        except NO_ANSWER as error:
            raise UsageError(f"the editor did not change {path.name}: {error}") from error
        self._texts.pop(path)
        if _read_disk(path) != data:
            self._texts[path] = new

    async def _read(self, path: Path) -> str | None:
        with suppress(*NO_ANSWER):
            return (await self._client.read_text_file(session_id=self._session_id, path=str(path))).content
        return None


def _read_disk(path: Path) -> bytes | None:
    with suppress(FileError):
        return read_file(path, MAX_TEXT_BYTES)
    return None
