"""Writes the edits of a proposal to their files, if nobody changed them meanwhile."""

from collections.abc import Sequence
from pathlib import Path

from lsp_harness.disk.file_reading import read_file
from lsp_harness.disk.file_writing import replace_file
from lsp_harness.errors import FileMissing, StaleDocument
from lsp_harness.syntax.parse_budget import MAX_TEXT_BYTES
from lsp_harness.verify.change import Change


def require_unchanged(files: Sequence[tuple[Path, Change]]) -> None:
    """Raise StaleDocument if a file is not as it was when its change was computed.

    Args:
        files: The path of each file, as messages name it, and its change.
    """
    for path, change in files:
        try:
            present = read_file(path, MAX_TEXT_BYTES)
        except FileMissing:
            # an empty text may be that of a new file
            present = b""
        if present != change.before.data:
            raise StaleDocument(f"{path} changed while the edit was computed; run it again")


def write_changes(files: Sequence[tuple[Path, Change]]) -> None:
    """Write the new text of each file, or none if one of them has changed.

    Raises:
        StaleDocument: Somebody changed a file meanwhile.
        FileError: A file cannot be read or written.
    """
    require_unchanged(files)
    for path, change in files:
        replace_file(path, change.after.data, change.before.data)
