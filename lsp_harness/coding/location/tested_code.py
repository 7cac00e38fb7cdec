"""Finds the code that tests run, because a task that wants a failing test to pass is about that code."""

import re
from collections.abc import Sequence

from lsp_harness.index.declaration_shape import TEST_PATH
from lsp_harness.index.identifier_words import split_words
from lsp_harness.index.index_query import IndexQuery
from lsp_harness.index.symbol_table import Symbol
from lsp_harness.syntax.symbols.declarations import TYPE_KINDS, WEAK_KINDS

MAX_HELPER_HOPS = 2
"""Most functions of the tests between a test and the code that it runs."""
MAX_TESTED = 8
MAX_CALLS = 60
NAME_WEIGHT, SIGNATURE_WEIGHT, FILE_WEIGHT, CERTAIN_WEIGHT, LAST_WEIGHT = 1.0, 0.8, 0.5, 1.0, 0.3
TYPE_PENALTY = 0.6
"""A test makes an object before it calls the method that it is about."""
NO_SUBJECT = frozenset(
    {"test", "tests", "spec", "should", "case", "cases", "it", "the", "a", "with", "and", "of", "is"}
)


async def find_tested_code(index: IndexQuery, uri: str, tests: Sequence[Symbol]) -> list[Symbol]:
    """Return the declarations outside of tests that tests call, those first that the tests are most likely about.

    Args:
        index: The indexes of the workspace folders.
        uri: The folder.
        tests: The tests.
    """
    scores: dict[tuple[str, str], float] = {}
    symbols: dict[tuple[str, str], Symbol] = {}
    for test in tests:
        words, file_words = _subject_words(test)
        for position, (symbol, is_certain) in enumerate(await _find_called(index, uri, test)):
            key = symbol.path, symbol.qualified
            # of overloads, the longest one is the implementation
            symbols[key] = max(symbols.get(key, symbol), symbol, key=lambda one: one.end - one.start)
            if key not in scores:
                overview = await index.symbol_overview(uri, symbol) if symbol.kind not in TYPE_KINDS else None
                signature = _words(overview.signature.partition("(")[2]) if overview else set[str]()
                scores[key] = (
                    NAME_WEIGHT * len(words & _words(symbol.qualified))
                    + SIGNATURE_WEIGHT * len(words & signature)
                    + FILE_WEIGHT * len(file_words & _words(symbol.path.rpartition("/")[2].partition(".")[0]))
                    + CERTAIN_WEIGHT * is_certain
                    - TYPE_PENALTY * (symbol.kind in TYPE_KINDS)
                )
            scores[key] += LAST_WEIGHT * (position + 1) / MAX_CALLS
    ranked = sorted(scores, key=lambda key: (-scores[key], key))
    return [symbols[key] for key in ranked[:MAX_TESTED]]


async def _find_called(index: IndexQuery, uri: str, test: Symbol) -> list[tuple[Symbol, bool]]:
    """Return the declarations outside of tests that a test calls, and whether imports prove it."""
    found: list[tuple[Symbol, bool]] = []
    todo, seen = [(test, 0)], {(test.path, test.qualified)}
    while todo:
        caller, hops = todo.pop(0)
        overview = await index.symbol_overview(uri, caller)
        for edge in overview.graph.calls[:MAX_CALLS] if overview else ():
            named = await index.symbols_with_names(uri, [edge.name.rpartition(".")[2]])
            if edge.is_certain:
                meant = [one for one in named if (one.path, one.qualified) == (edge.path, edge.name)]
            else:
                meant = [one for one in named if one.kind not in WEAK_KINDS and one.language == caller.language]
            for symbol in meant:
                if not TEST_PATH.search(symbol.path):
                    found.append((symbol, edge.is_certain))
                elif edge.is_certain and hops < MAX_HELPER_HOPS and (symbol.path, symbol.qualified) not in seen:
                    seen.add((symbol.path, symbol.qualified))
                    todo.append((symbol, hops + 1))
    return found


def _subject_words(test: Symbol) -> tuple[set[str], set[str]]:
    """Return the words of the names of a test and its class, and those of its file."""
    stem = test.path.rpartition("/")[2].partition(".")[0]
    return _words(test.qualified) - NO_SUBJECT, _words(stem) - NO_SUBJECT


def _words(text: str) -> set[str]:
    return {word for name in re.findall(r"\w+", text) for word in split_words(name).lower().replace("_", " ").split()}
