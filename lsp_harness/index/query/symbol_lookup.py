"""Symbols by typed letters of their names, as editors ask for them, and the imports by which a file gets a name."""

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from itertools import islice

from lsp_harness.index.identifier_words import split_words
from lsp_harness.index.index_view import IndexView
from lsp_harness.index.symbol_table import SELECT_SYMBOLS, Symbol, read_symbol_row
from lsp_harness.languages.language_table import find_language, shipped_languages
from lsp_harness.store.database import placeholders

MODULE_SEPARATOR = re.compile(r"[./\\\\:]")
SELECT_IMPORTS = """
SELECT module, name, alias, path FROM imports JOIN files ON files.id = imports.file
WHERE language IN ({languages}) AND path != ?
  AND (alias = ? OR (alias = '' AND (name = ? OR (name IN ('', '*') AND (module = ? OR module LIKE ?)))))
"""


@dataclass(frozen=True, slots=True)
class IndexedImport:
    """An import in a file of the index.

    Attributes:
        module: The module, as the statement names it.
        name: The name in the module; empty for the module itself, `*` for all its names.
        alias: The name that the file uses instead; empty for none.
        importer: The file of the statement.
    """

    module: str
    name: str
    alias: str
    importer: str


def find_import_statements(view: IndexView, path: str, language: str, name: str) -> list[IndexedImport]:
    """Return the imports after which a file knows a name.

    Args:
        view: The index.
        path: A file whose own imports are left out.
        language: The language of the file. Only files of the same language count.
        name: The name.
    """
    languages = [language]
    if find_language(language).imports.has_module_imports:
        languages = [spec.id for spec in shipped_languages() if spec.imports.has_module_imports]
    statement = SELECT_IMPORTS.format(languages=placeholders(len(languages)))
    rows = view.reader.rows(statement, (*languages, path, name, name, name, f"%{name}"))
    statements = [IndexedImport(*row) for row in rows]
    return [item for item in statements if item.alias or item.name or MODULE_SEPARATOR.split(item.module)[-1] == name]


def find_exported_names(view: IndexView, path: str, language: str, module: str) -> list[str]:
    """Return the public names of a module of the workspace, in their order in its file; empty if it has no such module.

    Args:
        view: The index.
        path: The file that imports the module.
        language: The language of that file.
        module: The module, as that file names it.
    """
    return [symbol.name for symbol in view.find_module_symbols(path, language, module) if is_public(view, symbol)]


def is_public(view: IndexView, symbol: Symbol) -> bool:
    """Return whether other files may import a symbol, judged by its declaration."""
    word = find_language(symbol.language).declarations.public_word
    if not word:
        return not symbol.name.startswith("_")
    line_start = view.texts.read_line_start(symbol)
    return symbol.kind != "implementation" and re.search(rf"\b{word}\b", line_start) is not None


MAX_SYMBOLS = 200
"""Largest number of symbols in an answer."""
MAX_RANKED_NAMES = 2_000
"""Largest number of names that are ranked: first those with the typed prefix, then those that contain the text, then
the others."""
LOW_RANK_KINDS = frozenset({"field", "variable", "constant", "parameter"})
"""Kinds of symbols that are ranked after the others."""

Rank = tuple[int, bool, int, str]


@dataclass(frozen=True, slots=True)
class SymbolMatch:
    """A symbol that matches a query. `text_before` is the text before its name on the same line."""

    rank: Rank
    symbol: Symbol
    text_before: str


def rank_symbol(query: str, name: str, qualified: str, kind: str) -> Rank | None:
    """Return how well a symbol matches the query (smaller is better), or None if it does not match.

    Case is ignored, but equal case ranks higher. The part of a query before its last dot must match the names around
    the symbol.
    """
    qualifier, _, typed_name = query.rpartition(".")
    if qualifier and not _is_subsequence(qualifier.lower(), qualified[: -len(name)].lower()):
        return None
    quality = _match_quality(typed_name, name)
    return None if quality is None else (quality, kind in LOW_RANK_KINDS, len(name), qualified)


def _match_quality(typed_name: str, name: str) -> int | None:
    typed_lower, name_lower = typed_name.lower(), name.lower()
    if typed_name == name:
        return 0
    if typed_lower == name_lower:
        return 1
    if name_lower.startswith(typed_lower):
        return 2 if name.startswith(typed_name) else 3
    if "".join(word[0] for word in split_words(name).lower().split()).startswith(typed_lower):
        return 4
    if typed_lower in name_lower:
        return 5
    return 6 if _is_subsequence(typed_lower, name_lower) else None


def _is_subsequence(letters: str, text: str) -> bool:
    remaining = iter(text)
    return all(letter in remaining for letter in letters)


def find_symbols(view: IndexView, query: str, excluded_paths: Collection[str] = ()) -> list[SymbolMatch]:
    """Return the best matching symbols of an index, as they were saved. Symbols of `excluded_paths` are left out."""
    ranks: dict[tuple[int, int], Rank] = {}
    for pattern in _make_patterns(query.rpartition(".")[2]):
        rows = view.reader.rows(
            "SELECT file, n, kind, name, qualified FROM symbols WHERE (file, n) IN "
            "(SELECT file, n FROM symbols WHERE name LIKE ? ESCAPE '\\' LIMIT ?)",
            (pattern, MAX_RANKED_NAMES - len(ranks)),
        )
        for file, n, kind, name, qualified in rows:
            if (file, n) not in ranks and (symbol_rank := rank_symbol(query, name, qualified, kind)):
                ranks[file, n] = symbol_rank
        if len(ranks) >= MAX_SYMBOLS:
            break
    best = sorted(ranks, key=lambda key: (ranks[key], key))
    rows = ((key, view.reader.rows(f"{SELECT_SYMBOLS} WHERE file = ? AND n = ?", key)) for key in best)
    # The index may change between the two queries.
    ranked_symbols = ((ranks[key], read_symbol_row(row)) for key, symbol_rows in rows for row in symbol_rows)
    matches = (
        SymbolMatch(rank, symbol, view.texts.read_line_start(symbol))
        for rank, symbol in ranked_symbols
        if symbol.path not in excluded_paths
    )
    return [*islice(matches, MAX_SYMBOLS)]


def _make_patterns(name: str) -> Iterator[str]:
    letters = [re.sub(r"[%_\\]", r"\\\g<0>", letter) for letter in name]
    yield f"{''.join(letters)}%"
    if letters:
        yield f"%{''.join(letters)}%"
    if len(letters) > 1:
        yield f"%{'%'.join(letters)}%"
