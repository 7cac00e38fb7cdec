"""The test of a declaration that says most about it: the one that fails, else one that is named for it, else the shortest."""

from collections.abc import Iterable, Iterator
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from textwrap import dedent

from lsp_harness.context.sources.callers import Use
from lsp_harness.index.declaration_shape import TEST_PATH
from lsp_harness.index.identifier_words import split_words
from lsp_harness.index.index_view import IndexView
from lsp_harness.index.symbol_table import Symbol

LINES = 40
"""Of a test, at most: a longer one tests more than this."""

FAILING = 50
"""Tests that fail and are looked up, at most."""


@dataclass(frozen=True, slots=True)
class Test:
    """`head` is its name with its parameters, `text` the whole of it, `line` that of its name, counted from 0."""

    __test__ = False
    path: str
    name: str
    head: str
    text: str
    line: int

    def has(self, use: Use) -> bool:
        """Whether a use is in it."""
        return use.path == self.path and bool(use.around) and self.head.startswith(use.around)


def tested(view: IndexView, symbol: Symbol, used: Iterable[Use], failing: AbstractSet[str]) -> Test | None:
    """Among the tests that use the symbol, and those by these names that fail."""
    paths = {one.path for one in used if one.test}
    wanted = set(split_words(symbol.name).lower().split())

    def alike(name: str) -> int:
        return len(wanted & set(split_words(name).lower().split()))

    likeliest = sorted(failing, key=lambda name: (-alike(name), name))[:FAILING]
    found = [*_failing(view, likeliest), *_using(view, symbol, paths)]
    # it may be a test itself
    found = [one for one in found if (one.path, _plain(one.name)) != (symbol.path, symbol.name)]

    def worth(one: Test) -> tuple[bool, int, int]:
        return (one.name not in failing, -alike(one.name), len(one.text))

    return min(found, key=worth, default=None)


def _using(view: IndexView, symbol: Symbol, paths: AbstractSet[str]) -> Iterator[Test]:
    for path, around, _ in view.symbols.find_mentions(symbol.name) if paths else ():
        if path in paths and around and (one := _test(view, around)):
            yield one


def _failing(view: IndexView, names: Iterable[str]) -> Iterator[Test]:
    for name in names:
        for around in view.symbols.find_by_name(_plain(name), 4):
            if TEST_PATH.search(around.path) and (one := _test(view, around)):
                yield replace(one, name=name)


def _plain(name: str) -> str:
    """Without its class and its parameters, by which pytest names a test as well."""
    return name.partition("[")[0].rpartition("::")[2].rpartition(".")[2]


def _test(view: IndexView, around: Symbol) -> Test | None:
    if around.kind not in ("function", "method"):
        return None
    text = dedent(view.texts.read_with_comments(around)).strip("\n")
    head = " ".join(view.texts.read_text(around, around.named, around.body).split()).rstrip("{: ")
    return Test(around.path, around.name, head, text, around.line) if text and text.count("\n") < LINES else None
