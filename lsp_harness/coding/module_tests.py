"""The file that the tests of a module are written to."""

from collections import Counter
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

from lsp_harness.disk.file_reading import read_file
from lsp_harness.files.folders import is_same_file
from lsp_harness.languages.language_table import find_language_of_file
from lsp_harness.text.document import Document
from lsp_harness.text.uri import local_path
from lsp_harness.workspace.open_documents import OpenDocuments

if TYPE_CHECKING:
    # it needs the parser of code, and a server must start without that
    from lsp_harness.index.index_query import IndexQuery

MAX_IMPORT_HOPS = 1
"""How many imports may lie between a module and the file of its tests."""


async def find_test_file(index: "IndexQuery", root: Path, file: Path, name: str) -> Path:
    """Return the file in which a project keeps the tests of a module. If there is none, return where people would look.

    A file with the name of the module comes first, then the one that uses the tested name most, if it imports the
    module.

    Args:
        index: The indexes of the workspace folders.
        root: The workspace folder.
        file: The file of the module.
        name: The function or class that is tested.
    """
    path, stem = file.relative_to(root), file.stem.strip("_")
    usual = f"test_{stem}{file.suffix}"
    folders = [root / "tests" / path.parent.name, root / "tests", file.parent]
    for folder in folders:
        if (folder / usual).is_file():
            return folder / usual
    uri = root.as_uri()
    affected = [test for test in await index.affected_tests(uri, path.as_posix()) if test.path != path.as_posix()]
    named = [test.path for test in affected if test.hops == 0] + await index.paths_ending(uri, usual)
    if named:
        importing = {test.path for test in affected if test.hops == MAX_IMPORT_HOPS}
        return root / max(named, key=lambda other: (other in importing, _count_common_parts(other, path), -len(other)))
    usage = await index.usage(uri, path.as_posix(), name)
    near = {test.path for test in affected if test.hops <= MAX_IMPORT_HOPS}
    users = Counter(use.path for use in usage.uses if use.path in near)
    if users:
        return root / min(users, key=lambda other: (-users[other], other))
    return (root / "tests" if (root / "tests").is_dir() else file.parent) / usual


def _count_common_parts(test: str, module: PurePath) -> int:
    """Return how many folders of a module the path of a test file names."""
    return sum(part in words for part in module.parts[:-1] for words in PurePath(test).parts[:-1])


def open_or_begin(documents: OpenDocuments, file: Path) -> tuple[Document, bool]:
    """Return the text of a file, and whether the file does not exist yet. An open text counts as it is."""
    uri = file.as_uri()
    for opened in documents:
        if opened.uri == uri or ((open_file := local_path(opened.uri)) and is_same_file(open_file, file)):
            return opened.text, False
    is_new = not file.exists()
    language = find_language_of_file(uri)
    return Document.from_text(uri, b"" if is_new else read_file(file), language=language.id if language else ""), is_new
