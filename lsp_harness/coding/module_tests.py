"""The file that the tests of a module are written to."""

from pathlib import Path

from lsp_harness.disk.file_reading import read_file
from lsp_harness.files.folders import is_same_file
from lsp_harness.languages.language_table import find_language_of_file
from lsp_harness.text.document import Document
from lsp_harness.text.uri import local_path
from lsp_harness.workspace.open_documents import OpenDocuments


def find_test_file(root: Path, file: Path) -> Path:
    """Return the test file of a module. If there is none, return where people would look for it.

    Args:
        root: The workspace folder.
        file: The file of the module.
    """
    name = f"test_{file.stem.strip('_')}.py"
    folders = [root / "tests" / file.relative_to(root).parent.name, root / "tests", file.parent]
    for folder in folders:
        if (folder / name).is_file():
            return folder / name
    return (root / "tests" if (root / "tests").is_dir() else file.parent) / name


def open_test_file(documents: OpenDocuments, file: Path) -> tuple[Document, bool]:
    """Return the text of a test file, and whether the file does not exist yet. An open text counts as it is."""
    uri = file.as_uri()
    for opened in documents:
        if opened.uri == uri or ((open_file := local_path(opened.uri)) and is_same_file(open_file, file)):
            return opened.text, False
    is_new = not file.exists()
    language = find_language_of_file(uri)
    return Document.from_text(uri, b"" if is_new else read_file(file), language=language.id if language else ""), is_new
