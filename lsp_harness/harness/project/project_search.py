"""Search in the index of a folder, for a command: by words, at a place, or around a symbol."""

from collections.abc import Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path

from lsp_harness.errors import StoreError, UsageError
from lsp_harness.harness.project.command_project import CommandProject, require_index
from lsp_harness.harness.project.index_update import update_index
from lsp_harness.harness.project.symbol_report import split_symbol_name
from lsp_harness.harness.project.vector_search import EMBED_COMMAND, find_similar_texts
from lsp_harness.index.index_view import IndexView
from lsp_harness.index.query.anchor import FilePosition, SymbolName, find_anchors, find_declared
from lsp_harness.index.query.code_search import CodeSearch
from lsp_harness.index.query.doc_line import read_doc_line
from lsp_harness.index.vectors import Vectors
from lsp_harness.store.database import Reader

SEARCH_TIMEOUT_S = 2.0
"""How long a search may take. A command may take longer than a key press."""
MAX_SIMILAR_TEXTS = 50


@dataclass(frozen=True, slots=True)
class FileOffset:
    """A byte offset in a file. `written` is the place as the user wrote it, for messages."""

    file: Path
    offset: int
    written: str


@dataclass(frozen=True, slots=True)
class SymbolQuery:
    """A symbol as users write it: `Config.parse`, `Config::parse` or `src/config.py:Config.parse`."""

    name: str


@dataclass(frozen=True, slots=True)
class ProjectQuery:
    """A search.

    Attributes:
        target: Words, a place or a symbol.
        limit: The largest number of results.
        near: A file of the folder, relative to it. Files that imports connect with it come first.
        explains: Whether warnings say why nothing was searched by meaning.
    """

    target: str | FileOffset | SymbolQuery
    limit: int = 10
    near: str = ""
    explains: bool = False


@dataclass(frozen=True, slots=True)
class ProjectHit:
    """Code that a search found.

    Attributes:
        symbol: The qualified name; empty outside of declarations.
        line: The line, counted from 0.
        start: The byte offset of the code in its file.
        end: The byte offset of its end.
        reasons: The rankings that found the code, with its rank in each.
        doc: The first line of the symbol's documentation.
    """

    path: str
    symbol: str
    kind: str
    line: int
    start: int
    end: int
    score: float
    reasons: tuple[str, ...]
    doc: str


async def search_code(project: CommandProject, query: ProjectQuery) -> list[ProjectHit]:
    """Update the index and return the declarations and other code that fit a query, the best first.

    Raises:
        UsageError: The settings forbid an index, or the index does not contain the file or the symbol.
        StoreError: The index cannot be written or read.
    """
    require_index(project)
    project = await update_index(project)
    with closing(Reader(project.place.database)) as reader:
        target, digests = await _resolve(project, reader, query)
        hits = CodeSearch(reader).search(
            target, query.limit, digests, current_path=query.near, seconds=SEARCH_TIMEOUT_S
        )
        view = IndexView(reader)
        symbols = [view.symbols.find_symbol(hit.path, hit.symbol) for hit in hits]
        return [
            ProjectHit(
                hit.path,
                hit.symbol,
                hit.kind,
                hit.line,
                hit.start,
                hit.end,
                hit.score,
                hit.reasons,
                read_doc_line(view, symbol) if symbol else "",
            )
            for hit, symbol in zip(hits, symbols, strict=True)
        ]


async def search_files(project: CommandProject, query: ProjectQuery) -> list[tuple[str, float]]:
    """Update the index and return the paths of the files that fit the words of a query, with their scores.

    Raises:
        UsageError: The settings forbid an index, or the target of the query is not words.
        StoreError: The index cannot be written or read.
    """
    require_index(project)
    project = await update_index(project)
    with closing(Reader(project.place.database)) as reader:
        target, digests = await _resolve(project, reader, query)
        if not isinstance(target, str):
            raise UsageError("files can only be searched by words")
        return CodeSearch(reader).rank_files(
            target, query.limit, digests, current_path=query.near, seconds=SEARCH_TIMEOUT_S
        )


async def _resolve(
    project: CommandProject, reader: Reader, query: ProjectQuery
) -> tuple[str | FilePosition | SymbolName, list[bytes]]:
    """Return the target as the index knows it, and the digests of the texts that are similar to it."""
    if query.near and IndexView(reader).symbols.find_file(query.near) is None:
        raise UsageError(f"the index has no file {query.near!r}; write its path relative to the folder")
    match query.target:
        case str() as words:
            return words, await find_similar_texts(project, words, explains=query.explains)
        case FileOffset() as place:
            target = _find_position(project, reader, place)
        case SymbolQuery() as symbol:
            target = _find_symbol(reader, symbol)
    digests = _find_similar_code(project, [anchor.digest for anchor in find_anchors(reader, target)])
    if query.explains and not digests:
        project.output.warn(
            f"not searched by meaning: this code has no vector yet; {EMBED_COMMAND} makes the missing vectors"
        )
    return target, digests


def _find_position(project: CommandProject, reader: Reader, place: FileOffset) -> FilePosition:
    try:
        path = place.file.resolve().relative_to(project.root.resolve()).as_posix()
    except ValueError:
        raise UsageError(
            f"{place.file} is not in {project.root}; write its folder as well: "
            f"lsp-harness search --at {place.written} FOLDER"
        ) from None
    if IndexView(reader).symbols.find_file(path) is None:
        raise UsageError(
            f"the index has no file {path!r}; lsp-harness index status shows which files were left out and why"
        )
    return FilePosition(path, place.offset)


def _find_symbol(reader: Reader, symbol: SymbolQuery) -> SymbolName:
    path, name = split_symbol_name(symbol.name)
    target = SymbolName(name, path)
    if not find_declared(reader, target):
        raise UsageError(
            f'there is no symbol {symbol.name!r} in this folder; to find similar code: lsp-harness search "{name}"'
        )
    return target


def _find_similar_code(project: CommandProject, digests: Sequence[bytes]) -> list[bytes]:
    """Return the texts whose stored vectors are nearest to that of the first text. No new vector is made."""
    with closing(Vectors(project.place.folder)) as vectors, suppress(StoreError):
        if digests and digests[0]:
            return vectors.find_similar(digests[0], MAX_SIMILAR_TEXTS)
    return []
