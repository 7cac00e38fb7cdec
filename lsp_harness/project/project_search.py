"""Search in the index of a folder, for a command: by words, at a place, around a symbol, or for the lines of a task."""

import asyncio
import re
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path

from lsp_harness.coding.location.task_location import TEST_WORDS, LocationRequest, TaskPlaces
from lsp_harness.config.schema import Config
from lsp_harness.disk.file_reading import read_file
from lsp_harness.errors import FileError, StoreError, UsageError
from lsp_harness.files.secrets import redact
from lsp_harness.harness.harness import Harness
from lsp_harness.harness.index_service import ReadyIndex
from lsp_harness.harness.task_locator import check_request
from lsp_harness.index.declaration_shape import TEST_PATH
from lsp_harness.index.identifier_words import split_words
from lsp_harness.index.index_query import IndexQuery, open_index
from lsp_harness.index.query.anchor import FilePosition, SymbolName
from lsp_harness.index.query.code_search import Hit, SearchRequest
from lsp_harness.index.query.rankers import STOP_WORDS
from lsp_harness.index.vectors import Vectors
from lsp_harness.inference.client import Engine
from lsp_harness.project.command_project import CommandProject
from lsp_harness.project.index_update import open_updated_index, update_index
from lsp_harness.project.symbol_reports import split_symbol_name
from lsp_harness.project.vectors import EMBED_COMMAND, find_similar_texts
from lsp_harness.syntax.parse_budget import MAX_TEXT_BYTES
from lsp_harness.text.position import decode
from lsp_harness.workspace.workspace import Workspace

SEARCH_TIMEOUT_S = 2.0
"""How long a search may take. A command may take longer than a key press."""
MAX_SIMILAR_TEXTS = 50
HITS_PER_RESULT = 3
"""Hits for each result. Parts of the same declaration are one result."""


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
class FoundCode:
    """Code that a search found.

    Attributes:
        hit: The declaration, or the part of a file outside of declarations.
        doc: The first line of its documentation.
        line: The line that fits the query best, from 1.
        text: That line. Empty if the file was changed or removed meanwhile.
    """

    hit: Hit
    doc: str
    line: int
    text: str


async def search_code(project: CommandProject, query: ProjectQuery) -> list[FoundCode]:
    """Update the index and return the declarations and other code that fit a query, the best first.

    Each declaration and each line is there once. Unless the words of the query speak of tests, tests come last.

    Raises:
        UsageError: The settings forbid an index, or the index does not contain the file or the symbol.
        StoreError: The index cannot be written or read.
    """
    async with open_updated_index(project) as (updated_project, index):
        target, digests = await _resolve(updated_project, index, query)
        uri = updated_project.root.as_uri()
        # some hits are parts of the same declaration
        wanted = query.limit * HITS_PER_RESULT
        hits = await index.search(uri, SearchRequest(target, wanted, digests, query.near, SEARCH_TIMEOUT_S))
        docs = await index.doc_lines(uri, [(hit.path, hit.symbol) for hit in hits])
    words = _read_words(target)
    found: dict[tuple[str, str | int], FoundCode] = {}
    for hit, doc in zip(hits, docs, strict=True):
        line, text = await asyncio.to_thread(_find_line, updated_project.root / hit.path, hit, words)
        found.setdefault((hit.path, hit.symbol or line), FoundCode(hit, doc, line, text))
    best = list(found.values())[: query.limit]
    if isinstance(target, str) and not TEST_WORDS.search(target):
        best.sort(key=lambda one: TEST_PATH.search(one.hit.path) is not None)
    return best


def _read_words(target: str | FilePosition | SymbolName) -> frozenset[str]:
    """Return the words of a query in lower case."""
    text = target if isinstance(target, str) else target.name if isinstance(target, SymbolName) else ""
    words = {word.lower() for word in re.findall(r"[^\W_]+", split_words(text))}
    return frozenset(words - STOP_WORDS or words)


def _find_line(file: Path, hit: Hit, words: frozenset[str]) -> tuple[int, str]:
    """Return the line of a hit that has the most words of a query, from 1, and its text.

    Among lines that are equally good, the line of the name of a declaration and then the first one is chosen.
    """
    try:
        data = read_file(file, MAX_TEXT_BYTES)
    except (OSError, FileError):
        return hit.line + 1, ""
    first = data.count(b"\n", 0, hit.start)
    lines = decode(data[hit.start : hit.end]).split("\n")
    name_line = hit.line - first if hit.symbol else -1

    def rate(number: int) -> tuple[int, bool, int]:
        text = split_words(lines[number]).lower()
        return sum(word in text for word in words), number == name_line, -number

    filled = [number for number, line in enumerate(lines) if line.strip()]
    best = max(filled, key=rate, default=0)
    return first + best + 1, redact(lines[best].strip())


async def search_files(project: CommandProject, query: ProjectQuery) -> list[tuple[str, float]]:
    """Update the index and return the paths of the files that fit the words of a query, with their scores.

    Raises:
        UsageError: The settings forbid an index, or the target of the query is not words.
        StoreError: The index cannot be written or read.
    """
    async with open_updated_index(project) as (updated_project, index):
        target, digests = await _resolve(updated_project, index, query)
        if not isinstance(target, str):
            raise UsageError("files can only be searched by words")
        request = SearchRequest(target, query.limit, digests, query.near, SEARCH_TIMEOUT_S)
        return [(hit.path, hit.score) for hit in await index.search_files(updated_project.root.as_uri(), request)]


async def _resolve(
    project: CommandProject, index: IndexQuery, query: ProjectQuery
) -> tuple[str | FilePosition | SymbolName, list[bytes]]:
    """Return the target as the index knows it, and the digests of the texts that are similar to it."""
    uri = project.root.as_uri()
    if query.near and not await index.has_file(uri, query.near):
        raise UsageError(f"the index has no file {query.near!r}; write its path relative to the folder")
    match query.target:
        case str() as words:
            return words, await find_similar_texts(project, words, explains=query.explains)
        case FileOffset() as place:
            target = await _find_position(project, index, place)
        case SymbolQuery() as symbol:
            target = await _find_symbol(project, index, symbol)
    digests = _find_similar_code(project, await index.digests_at(uri, target))
    if query.explains and not digests:
        project.output.warn(
            f"not searched by meaning: this code has no vector yet; {EMBED_COMMAND} makes the missing vectors"
        )
    return target, digests


async def _find_position(project: CommandProject, index: IndexQuery, place: FileOffset) -> FilePosition:
    try:
        path = place.file.resolve().relative_to(project.root.resolve()).as_posix()
    except ValueError:
        raise UsageError(
            f"{place.file} is not in {project.root}; write its folder as well: "
            f"lsp-harness search --at {place.written} FOLDER"
        ) from None
    if not await index.has_file(project.root.as_uri(), path):
        raise UsageError(
            f"the index has no file {path!r}; lsp-harness index status shows which files were left out and why"
        )
    return FilePosition(path, place.offset)


async def _find_symbol(project: CommandProject, index: IndexQuery, symbol: SymbolQuery) -> SymbolName:
    path, name = split_symbol_name(symbol.name)
    target = SymbolName(name, path)
    if not await index.symbols_named(project.root.as_uri(), target):
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


async def locate_in_project(
    project: CommandProject, task: str, make_engine: Callable[[Config], Engine], *, explains: bool = False
) -> TaskPlaces:
    """Update the index and return the candidates for a task.

    Args:
        project: The indexed folder.
        task: The task in words.
        make_engine: Creates the engine, if the settings let a model choose among the candidates.
        explains: Whether a warning says why nothing was searched by meaning.

    Raises:
        UsageError: The task is empty, or the settings forbid an index.
        ConfigError: A setting is not valid.
        StoreError: The index cannot be written or read.
        NoAnswer: No code fits the task.
    """
    request = LocationRequest(task, alternative="say the place as FILE:LINE")
    # before the index is updated, which takes long
    check_request(project.config, request)
    project = await update_index(project)

    async def find_similar(uri: str, task: str) -> list[bytes]:
        return await find_similar_texts(project, task, explains=explains, is_task=True)

    with open_index(project.place.database) as index:
        ready_index = ReadyIndex(index, find_similar)
        harness = Harness(project.config, make_engine, Workspace([project.root]), index=ready_index)
        try:
            return (await harness.tasks.locate(request)).ranking
        finally:
            await harness.aclose()
