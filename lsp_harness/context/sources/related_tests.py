"""The test of a declaration that says most about it: the one that fails, else one that is named for it, else the shortest."""

from collections.abc import Iterable, Iterator
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from textwrap import dedent

from lsp_harness.context.sources.callers import Use
from lsp_harness.index.declaration_shape import TESTS
from lsp_harness.index.identifier_words import words
from lsp_harness.index.index_view import Symbol, View

LINES = 40
"""Of a test, at most: a longer one tests more than this."""

FAILING = 50
"""Tests that fail and are looked up, at most."""


@dataclass(frozen=True, slots=True)
class RelatedTest:
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


def find_related_test(view: View, symbol: Symbol, used: Iterable[Use], failing: AbstractSet[str]) -> RelatedTest | None:
    """Among the tests that use the symbol, and those by these names that fail."""
    paths = {one.path for one in used if one.test}
    wanted = set(words(symbol.name).lower().split())

    def alike(name: str) -> int:
        return len(wanted & set(words(name).lower().split()))

    likeliest = sorted(failing, key=lambda name: (-alike(name), name))[:FAILING]
    found = [*_failing(view, likeliest), *_using(view, symbol, paths)]
    # it may be a test itself
    found = [one for one in found if (one.path, _plain(one.name)) != (symbol.path, symbol.name)]

    def worth(one: RelatedTest) -> tuple[bool, int, int]:
        return (one.name not in failing, -alike(one.name), len(one.text))

    return min(found, key=worth, default=None)


def _using(view: View, symbol: Symbol, paths: AbstractSet[str]) -> Iterator[RelatedTest]:
    for path, around, _ in view.mentions(symbol.name) if paths else ():
        if path in paths and around and (one := _test(view, around)):
            yield one


def _failing(view: View, names: Iterable[str]) -> Iterator[RelatedTest]:
    for name in names:
        for around in view.named(_plain(name), 4):
            if TESTS.search(around.path) and (one := _test(view, around)):
                yield replace(one, name=name)


def _plain(name: str) -> str:
    """Without its class and its parameters, by which pytest names a test as well."""
    return name.partition("[")[0].rpartition("::")[2].rpartition(".")[2]


def _test(view: View, around: Symbol) -> RelatedTest | None:
    if around.kind not in ("function", "method"):
        return None
    text = dedent(view.whole(around)).strip("\n")
    head = " ".join(view.text(around, around.named, around.body).split()).rstrip("{: ")
    return RelatedTest(around.path, around.name, head, text, around.line) if text and text.count("\n") < LINES else None
