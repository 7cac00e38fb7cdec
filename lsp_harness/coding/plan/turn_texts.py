"""The texts that a prompt changes: as they are, and with the edits of the items that are finished."""

from collections.abc import Sequence
from pathlib import Path

from lsp_harness.coding.location.task_location import TextReader
from lsp_harness.errors import NoAnswer
from lsp_harness.events.plan_events import ItemCompleted, LoggedEdit
from lsp_harness.text.document import Document
from lsp_harness.text.edit import Edit, apply
from lsp_harness.text.position import decode, encode
from lsp_harness.verify.change import Change
from lsp_harness.verify.change_set import ChangeSet


class TurnTexts:
    """The texts of one folder, and the edits of one prompt.

    Args:
        root: The folder.
        read_text: Returns the text of a file of the folder, or None.
    """

    def __init__(self, root: Path, read_text: TextReader) -> None:
        self._root = root
        self._read_text = read_text
        self._before: dict[str, Document] = {}
        self._after: dict[str, Document] = {}

    def present(self, path: str) -> Document:
        """Return the text of a file with the edits until now.

        Raises:
            NoAnswer: There is no such text that a model may see.
        """
        document = self._after.get(path) or self._read_text(path)
        if document is None:
            raise NoAnswer(f"{path} cannot be read, or no model may see it")
        return document

    def change(self, path: str, before: Document, after: Document) -> None:
        """Note the text of a file after one more edit."""
        if before.hash != after.hash:
            self._before.setdefault(path, before)
            self._after[path] = after

    def repeat(self, item: ItemCompleted) -> bool:
        """Make the edits of an item again that is finished. Return False if its text is another one now."""
        try:
            before = self.present(item.path)
        except NoAnswer:
            return False
        if before.hash != item.hash:
            return False
        edits = [Edit(edit.start, edit.end, encode(edit.new)) for edit in item.edits]
        self.change(item.path, before, with_data(before, apply(before.data, edits)))
        return True

    def create_changes(self) -> ChangeSet:
        """Return all changes, that of the first changed file as the main one.

        Raises:
            NoAnswer: Nothing was changed.
        """
        if not self._before:
            raise NoAnswer("no edit changes anything")
        return ChangeSet.of(
            *(
                Change.from_documents(before, self._after[path], self._root / path, self._root)
                for path, before in self._before.items()
            )
        )


def describe_edits(edits: Sequence[Edit]) -> tuple[LoggedEdit, ...]:
    """Return edits as the log keeps them."""
    return tuple(LoggedEdit(edit.start, edit.end, decode(edit.new)) for edit in edits)


def with_data(document: Document, data: bytes) -> Document:
    """Return a document with another text."""
    return Document.from_text(document.uri, data, language=document.language, version=document.version)
