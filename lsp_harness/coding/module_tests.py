"""The file that the tests of a module are written to."""

from collections import Counter
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

from lsp_harness.disk.file_reading import read_file
from lsp_harness.errors import NoAnswer
from lsp_harness.files.folders import is_same_file
from lsp_harness.languages.language_table import find_language_of_file
from lsp_harness.text.document import Document
from lsp_harness.text.position import Span
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


async def find_test_place(
    index: "IndexQuery", documents: OpenDocuments, root: Path, file: Path, document: Document
) -> tuple[Document, Span]:
    """Return the last test of a file, or of the file with its tests, with the text that has it.

    Args:
        index: The indexes of the workspace folders.
        documents: The texts that a client has open.
        root: The workspace folder.
        file: The file of the code that is tested.
        document: The text of this file.

    Raises:
        NoAnswer: Neither of them has a test, so nothing shows how the project writes tests.
        HarnessError: The index or the file cannot be read.
    """
    from lsp_harness.index.declaration_shape import TEST_PATH, is_test_code

    path, uri = file.relative_to(root), root.as_uri()
    symbols = await index.symbols_in(uri, path.as_posix())
    if not TEST_PATH.search(path.as_posix()) and (
        inside := [one for one in symbols if one.kind == "function" and is_test_code(one.path, one.qualified)]
    ):
        last = max(inside, key=lambda one: one.start)
        return document, Span(last.start, last.end)
    stems = {path.stem, f"test_{path.stem}", f"{path.stem}_test"}
    tests = [
        one for one in await index.code_paths(uri) if TEST_PATH.search(one) and PurePath(one).suffix == path.suffix
    ]
    tests = [one for one in tests if PurePath(one).name.split(".")[0] in stems]
    if not tests:
        raise NoAnswer(f"{file.name} has no test file yet; create one with a first test, then ask again")
    found, _ = open_or_begin(documents, root / max(tests, key=lambda one: (_count_common_parts(one, path), -len(one))))
    end = len(found.data.rstrip())
    return found, Span(*_find_last_statement(found, end)) if end else Span(0, 0)


def _find_last_statement(document: Document, end: int) -> tuple[int, int]:
    """Return the start and the end of the last outer statement of a text, or of its last line."""
    from lsp_harness.syntax.tree import parse

    tree = parse(document)
    nodes = [node for node in tree.root.named_children if "comment" not in node.type] if tree else []
    return (nodes[-1].start_byte, nodes[-1].end_byte) if nodes else document.line_span(document.line_of(end - 1))


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
