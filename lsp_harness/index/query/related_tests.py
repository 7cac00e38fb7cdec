"""The most informative test of a declaration: one that fails, else one with a similar name, else the shortest."""

from collections.abc import Iterable, Iterator
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from textwrap import dedent

from lsp_harness.index.declaration_shape import TEST_PATH
from lsp_harness.index.identifier_words import split_words
from lsp_harness.index.index_view import IndexView
from lsp_harness.index.query.declaration_uses import Use
from lsp_harness.index.symbol_table import Symbol

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
        text: The whole test.
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
