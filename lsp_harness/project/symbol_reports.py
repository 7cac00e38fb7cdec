"""Reports on the symbols of a folder: relations, code with the imports that it needs, and patterns that many follow."""

from dataclasses import dataclass
from pathlib import Path

from lsp_harness.context.lookup.declaration_extract import Extract, extract_declarations
from lsp_harness.disk.file_reading import read_file
from lsp_harness.errors import FileError, UsageError
from lsp_harness.index.index_query import IndexQuery
from lsp_harness.index.query.anchor import SymbolName
from lsp_harness.index.query.symbol_overview import SymbolOverview
from lsp_harness.index.symbol_table import Symbol
from lsp_harness.project.command_project import CommandProject
from lsp_harness.project.index_update import open_updated_index
from lsp_harness.syntax.grammars import language_for
from lsp_harness.syntax.parse_budget import MAX_TEXT_BYTES
from lsp_harness.syntax.tree import parse
from lsp_harness.text.document import Document

MAX_REPORTS = 8
"""Largest number of symbols with one name that are reported."""


@dataclass(frozen=True, slots=True)
class CodeReport:
    """The code of a symbol.

    Attributes:
        extract: The declaration with its imports.
        comment: The mark that begins a comment in the language of the file.
        doc: The first line of the documentation.
    """

    extract: Extract
    comment: str
    doc: str


def split_symbol_name(name: str) -> tuple[str, str]:
    """Return the path and the qualified name of a symbol as users write it. The path is empty if there is none.

    Users write `Config.parse`, `Config::parse` or `src/config.py:Config.parse`.
    """
    path, _, qualified = name.replace("::", ".").rpartition(":")
    return path, qualified


async def report_relations(project: CommandProject, name: str) -> tuple[list[SymbolOverview], int]:
    """Update the index and return the relations and the documentation of the symbols with a name.

    Returns:
        The overviews, at most `MAX_REPORTS`, and the number of all symbols with this name.

    Raises:
        UsageError: The settings forbid an index, or there is no such symbol.
        StoreError: The index cannot be written or read.
    """
    async with open_updated_index(project) as (updated_project, index):
        symbols = await _find_symbols(updated_project, index, name)
        overviews = [
            await index.symbol_overview(updated_project.root.as_uri(), symbol) for symbol in symbols[:MAX_REPORTS]
        ]
    return [overview for overview in overviews if overview], len(symbols)


async def report_code(project: CommandProject, name: str) -> list[CodeReport]:
    """Update the index and return the code of the symbols with a name, as it is on disk.

    Raises:
        UsageError: The settings forbid an index, or there is no such symbol.
        StoreError: The index cannot be written or read.
    """
    async with open_updated_index(project) as (updated_project, index):
        symbols = await _find_symbols(updated_project, index, name)
        keys = [(symbol.path, symbol.qualified) for symbol in symbols]
        docs = await index.doc_lines(updated_project.root.as_uri(), keys)
    reports = [
        CodeReport(extract, _comment_mark(symbol.path), doc)
        for symbol, doc in zip(symbols, docs, strict=True)
        for extract in _extract(project.root, symbol)
    ]
    if not reports:
        raise UsageError(
            f"{name!r} is no longer in its file, which has changed since it was indexed; run the command again"
        )
    return reports


async def _find_symbols(project: CommandProject, index: IndexQuery, name: str) -> list[Symbol]:
    """Return the symbols with a name, one for each file. Raise UsageError if there is none."""
    path, qualified = split_symbol_name(name)
    named = await index.symbols_named(project.root.as_uri(), SymbolName(qualified, path))
    symbols = {(symbol.path, symbol.qualified): symbol for symbol in reversed(named)}
    if not symbols:
        raise UsageError(f"there is no symbol {name!r} in this folder; lsp-harness search finds similar code")
    return [symbols[key] for key in sorted(symbols)]


def _extract(root: Path, symbol: Symbol) -> list[Extract]:
    file = root / symbol.path
    try:
        tree = parse(Document.from_text(file.as_uri(), read_file(file, MAX_TEXT_BYTES)))
    except FileError:
        return []
    return extract_declarations(tree, symbol.path, symbol.qualified) if tree else []


def _comment_mark(path: str) -> str:
    language = language_for("", path)
    return (language and language.comment) or "#"


@dataclass(frozen=True, slots=True)
class PatternReport:
    """A pattern with its number of members, and one member as an example: its path, line (from 0) and symbol."""

    name: str
    language: str
    count: int
    path: str
    line: int
    symbol: str


async def report_patterns(project: CommandProject, limit: int) -> list[PatternReport]:
    """Update the index and return at most `limit` patterns, the most frequent first.

    Raises:
        UsageError: The settings forbid an index of the folder.
        StoreError: The index cannot be written or read.
    """
    async with open_updated_index(project) as (updated_project, index):
        return [
            PatternReport(
                pattern.name,
                pattern.language,
                len(pattern.members),
                pattern.representative.path,
                pattern.representative.line,
                pattern.representative.qualified,
            )
            for pattern in await index.patterns(updated_project.root.as_uri(), limit)
        ]
