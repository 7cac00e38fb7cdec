"""The tests of a file or a declaration: those that a change affects, and the one that tells most about a declaration.

The most informative test is one that fails, else one with a similar name, else the shortest.
"""

from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from textwrap import dedent

from lsp_harness.index.declaration_shape import TEST_PATH
from lsp_harness.index.identifier_words import split_words
from lsp_harness.index.index_view import IndexView
from lsp_harness.index.query.declaration_uses import Use, find_uses
from lsp_harness.index.symbol_table import Symbol

CONFTEST = "conftest.py"
"""The file of fixtures of pytest."""
MAX_IMPORT_HOPS = 4
"""A longer chain of imports connects nearly everything in a project."""

MAX_USERS = 200
"""Number of files that use a changed one and of which some are checked with it."""


@dataclass(frozen=True, slots=True)
class AffectedTest:
    """A test file.

    Attributes:
        path: The path in the workspace folder.
        reason: Why the change can break it, such as "imports src/config.py".
        hops: The number of imports between the file and the change. 0 is the file itself or a file with its name.
    """

    path: str
    reason: str
    hops: int


def find_affected_tests(view: IndexView, path: str) -> list[AffectedTest]:
    """Return the test files that depend on a file, the closest first.

    A test file depends on a file if it is that file, has its name (`test_config.py` for `config.py`), or imports it,
    directly or through other files. All tests beside and below a `conftest.py` depend on it.

    Args:
        view: The index.
        path: The changed file, relative to its workspace folder.
    """
    found: dict[str, AffectedTest] = {}
    for test in (*_find_by_name(view, path), *_find_by_import(view, path)):
        if _is_conftest(test.path):
            for other in _find_tests_below(view, PurePosixPath(test.path).parent.as_posix().removeprefix(".")):
                found.setdefault(other, AffectedTest(other, f"{test.path}: {test.reason}", test.hops))
        else:
            found.setdefault(test.path, test)
    return sorted(found.values(), key=lambda test: (test.hops, test.path))


def find_users(view: IndexView, path: str, limit: int) -> list[str]:
    """Return the files that import a file, directly or through others, the nearest first.

    Args:
        view: The index.
        path: The file, relative to its workspace folder.
        limit: The number of files.
    """
    found, frontier = dict[str, None](), [path]
    for _ in range(MAX_IMPORT_HOPS):
        entries = [view.symbols.find_file(via) for via in frontier]
        importers = dict.fromkeys(
            importer for entry in entries if entry for importer in view.imports.find_importers(entry[0])
        )
        frontier = [importer for importer in importers if importer not in found and importer != path]
        found.update(dict.fromkeys(frontier))
        if len(found) >= limit or not frontier:
            break
    return [*found][:limit]


def _is_conftest(path: str) -> bool:
    return PurePosixPath(path).name == CONFTEST


def _find_tests_below(view: IndexView, folder: str) -> Iterator[str]:
    for path in view.symbols.find_paths_below(folder):
        if path.endswith(".py") and TEST_PATH.search(path) and not _is_conftest(path):
            yield path


def _find_by_name(view: IndexView, path: str) -> Iterator[AffectedTest]:
    changed = PurePosixPath(path)
    if TEST_PATH.search(path) or _is_conftest(path):
        yield AffectedTest(path, "is the changed file", 0)
        return
    stem = changed.stem
    for other in view.symbols.find_paths_named({f"test_{stem}", f"{stem}_test", f"{stem}.test", f"{stem}.spec"}):
        if PurePosixPath(other).suffix == changed.suffix:
            yield AffectedTest(other, f"has the name of {path}", 0)


def _find_by_import(view: IndexView, path: str) -> Iterator[AffectedTest]:
    visited, frontier = {path}, [path]
    for hops in range(1, MAX_IMPORT_HOPS + 1):
        following: list[str] = []
        for via in frontier:
            entry = view.symbols.find_file(via)
            for importer in view.imports.find_importers(entry[0]) if entry else ():
                if importer not in visited:
                    visited.add(importer)
                    following.append(importer)
                    if TEST_PATH.search(importer) or _is_conftest(importer):
                        reason = f"imports {path}" if hops == 1 else f"imports {path} through {via}"
                        yield AffectedTest(importer, reason, hops)
        frontier = following


MAX_TEST_LINES = 40
"""A longer test checks more than this declaration."""
MAX_FAILING_TESTS = 50
"""Most failing tests to look up."""
MAX_NAMESAKES = 4
"""Most declarations to read for the name of a failing test."""


@dataclass(frozen=True, slots=True)
class RelatedTest:
    """A test.

    Attributes:
        path: The file.
        name: The name, as the test runner reports it if the test fails.
        head: The name with its parameters.
        text: The text of the whole test.
        line: The line of the name, counted from 0.
    """

    path: str
    name: str
    head: str
    text: str
    line: int

    def contains(self, use: Use) -> bool:
        """Return whether a use lies in this test."""
        return use.path == self.path and bool(use.enclosing) and self.head.startswith(use.enclosing)


def find_related_test(
    view: IndexView, symbol: Symbol, uses: Iterable[Use], failing_tests: AbstractSet[str]
) -> RelatedTest | None:
    """Return the most informative test of a declaration.

    Args:
        view: The index.
        symbol: The declaration.
        uses: Where the declaration is used. Tests in the files of these uses are candidates.
        failing_tests: The names of failing tests, which are candidates too.
    """
    paths = {use.path for use in uses if use.is_in_test}
    name_words = set(split_words(symbol.name).lower().split())

    def similarity(name: str) -> int:
        return len(name_words & set(split_words(name).lower().split()))

    likeliest = sorted(failing_tests, key=lambda name: (-similarity(name), name))[:MAX_FAILING_TESTS]
    tests = [*_read_failing(view, likeliest), *_read_using(view, symbol, paths)]
    # the declaration may be a test itself
    tests = [test for test in tests if (test.path, _plain_name(test.name)) != (symbol.path, symbol.name)]

    def rank(test: RelatedTest) -> tuple[bool, int, int]:
        return (test.name not in failing_tests, -similarity(test.name), len(test.text))

    return min(tests, key=rank, default=None)


def _read_using(view: IndexView, symbol: Symbol, paths: AbstractSet[str]) -> Iterator[RelatedTest]:
    """Yield the tests in the files with these paths that mention the name of a declaration."""
    for path, function, _ in view.symbols.find_mentions(symbol.name) if paths else ():
        if path in paths and function and (test := _read_test(view, function)):
            yield test


def _read_failing(view: IndexView, names: Iterable[str]) -> Iterator[RelatedTest]:
    for name in names:
        for function in view.symbols.find_by_name(_plain_name(name), MAX_NAMESAKES):
            if TEST_PATH.search(function.path) and (test := _read_test(view, function)):
                yield replace(test, name=name)


def _plain_name(name: str) -> str:
    """Return the name of the function, without the class and the parameters that pytest reports."""
    return name.partition("[")[0].rpartition("::")[2].rpartition(".")[2]


def _read_test(view: IndexView, function: Symbol) -> RelatedTest | None:
    """Return a function as a test, or None if it is no function or too long."""
    if function.kind not in ("function", "method"):
        return None
    text = dedent(view.texts.read_with_comments(function)).strip("\n")
    head = " ".join(view.texts.read_text(function, function.named, function.body).split()).rstrip("{: ")
    if not text or text.count("\n") >= MAX_TEST_LINES:
        return None
    return RelatedTest(function.path, function.name, head, text, function.line)


@dataclass(frozen=True, slots=True)
class DeclarationUsage:
    """The uses of a declaration. `test` is the most informative test of it."""

    uses: Sequence[Use] = ()
    test: RelatedTest | None = None


def find_usage(view: IndexView, path: str, qualified_name: str, failing_tests: AbstractSet[str]) -> DeclarationUsage:
    """Return where a declaration is used; empty if the index does not contain it.

    Args:
        view: The index.
        path: The file of the declaration.
        qualified_name: The name of the declaration.
        failing_tests: The names of tests that fail. One of them is preferred.
    """
    symbol = view.symbols.find_symbol(path, qualified_name)
    if symbol is None:
        return DeclarationUsage()
    uses = find_uses(view, symbol)
    return DeclarationUsage(uses, find_related_test(view, symbol, uses, failing_tests))
