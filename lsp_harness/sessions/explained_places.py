"""The code beside the place of a question that the answer needs, too: who raises an error, and what a short function
calls.
"""

import re

from lsp_harness.coding.location.task_location import TaskPlace
from lsp_harness.coding.questions.project_facts import ProjectFacts, find_lines, find_raised, read_body
from lsp_harness.coding.shown_code import show_code
from lsp_harness.index.declaration_shape import is_test_code
from lsp_harness.index.identifier_words import split_words
from lsp_harness.index.symbol_table import Symbol
from lsp_harness.syntax.symbols.declarations import TYPE_KINDS

ASKS_FOR_CAUSE = re.compile(
    r"\b(?:why|when|raises?d?|thrown?|throws|get|gets|got|getting|causes?d?|happens?)\b", re.IGNORECASE
)
"""Matches questions about an error that ask where the error comes from."""
MAX_HEAD_LINES = 4
"""A function of so few lines hands its work on."""
MAX_SHOWN = 2
"""Most declarations that are shown beside the place."""


async def show_beside(facts: ProjectFacts, place: TaskPlace, question: str) -> str:
    """Return the lines of the code that the answer to a question needs beside its place. It may be empty.

    Args:
        facts: The facts of the folder.
        place: The place of the question.
        question: The question of the user.

    Raises:
        HarnessError: The index cannot be read.
    """
    symbols = await facts.index.symbols_in(facts.uri, place.path)
    symbol = next((one for one in symbols if one.qualified == place.symbol and one.kind == place.kind), None)
    if symbol is None:
        return ""
    if symbol.kind in TYPE_KINDS:
        found = await _find_raisers(facts, symbol) if ASKS_FOR_CAUSE.search(question) else []
    else:
        found = await _find_delegate(facts, symbol) if place.last - place.first < MAX_HEAD_LINES else []
    shown = [text for one in found[:MAX_SHOWN] if (text := _show(facts, one, question))]
    return "\n\n".join(shown)


async def _find_raisers(facts: ProjectFacts, error: Symbol) -> list[Symbol]:
    """Return the declarations outside of tests that raise an error, the innermost ones."""
    users = [
        one
        for one in await facts.index.mentions(facts.uri, error.name)
        if not is_test_code(one.path, one.qualified) and one.qualified != error.qualified
    ]
    raisers = [
        one
        for one in users
        if one.kind not in TYPE_KINDS
        and any(re.search(rf"\b{re.escape(error.name)}\b", code) for code, _ in find_raised(read_body(facts, one), 0))
    ]
    return sorted(raisers, key=lambda one: one.end - one.start)


async def _find_delegate(facts: ProjectFacts, function: Symbol) -> list[Symbol]:
    """Return the declaration of the folder to which a short function hands its work on.

    It is the only one that the function surely calls, or the one whose name has the most words of the function's name.
    """
    overview = await facts.index.symbol_overview(facts.uri, function)
    edges = {(edge.path, edge.name) for edge in (overview.graph.calls if overview else ()) if edge.is_certain}
    words = set(split_words(function.name).split())

    def count_words(edge: tuple[str, str]) -> int:
        return len(words & set(split_words(edge[1].rpartition(".")[2]).split()))

    path, name = max(edges, key=count_words, default=("", ""))
    if not path or (len(edges) > 1 and not count_words((path, name))):
        return []
    return [one for one in await facts.index.symbols_in(facts.uri, path) if one.qualified == name][:1]


def _show(facts: ProjectFacts, symbol: Symbol, question: str) -> str:
    document = facts.read_text(symbol.path)
    if document is None:
        return ""
    return show_code(document, symbol.path, *find_lines(document, symbol), question)
