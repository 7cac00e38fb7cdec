"""Declarations of an index by their names alone, whether a file can see them or not."""

from collections.abc import Iterable
from dataclasses import dataclass

from lsp_harness.index.index_view import IndexView
from lsp_harness.index.query.doc_line import read_doc_line
from lsp_harness.index.symbol_table import Symbol

CALLABLE_KINDS = ("function", "method", "class")
MAX_FUNCTIONS = 4
"""Most functions of one name to read."""
MAX_NAMES = 20_000
"""Most names to return for one range of lengths."""
SELECT_NAMES = """
SELECT DISTINCT name, kind FROM symbols JOIN files ON files.id = symbols.file
WHERE language IN (?, ?) AND length(name) BETWEEN ? AND ? LIMIT ?
"""


@dataclass(frozen=True, slots=True)
class DeclaredName:
    """The name of some declaration, and the kind of that declaration."""

    name: str
    kind: str


@dataclass(frozen=True, slots=True)
class LengthRange:
    """Names of `min_chars` to `max_chars` characters in two languages, which may be equal."""

    languages: tuple[str, str]
    min_chars: int
    max_chars: int


def find_names_by_length(view: IndexView, request: LengthRange) -> list[DeclaredName]:
    """Return at most `MAX_NAMES` names in a range of lengths, without repetition."""
    rows = view.reader.rows(SELECT_NAMES, (*request.languages, request.min_chars, request.max_chars, MAX_NAMES))
    return [DeclaredName(name, kind) for name, kind in rows]


def read_functions(view: IndexView, name: str, language: str) -> list[str]:
    """Return the texts of at most `MAX_FUNCTIONS` functions and classes with this name in a language."""
    symbols = view.symbols.find_by_name(name, MAX_FUNCTIONS, CALLABLE_KINDS, language)
    return [view.texts.read_body(symbol) for symbol in symbols]


def read_doc_lines(view: IndexView, keys: Iterable[tuple[str, str]]) -> list[str]:
    """Return the first line of the documentation of each declaration, empty where there is none.

    Args:
        view: The index.
        keys: The path and the qualified name of each declaration.
    """
    symbols: list[Symbol | None] = [view.symbols.find_symbol(*key) for key in keys]
    return [read_doc_line(view, symbol) if symbol else "" for symbol in symbols]
