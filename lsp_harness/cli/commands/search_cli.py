"""`lsp-harness search`: code found by words, by a symbol or by a place in a file."""

import asyncio
from collections.abc import Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from lsp_harness.cli import file_place
from lsp_harness.cli.composition import read_named
from lsp_harness.cli.console import AsJson, as_json, positive, say, warn
from lsp_harness.cli.fresh_index import Folder, fresh, named, wanted
from lsp_harness.cli.nearest_texts import EMBED, SEARCH_SECONDS, nearest
from lsp_harness.errors import StoreError, UsageError
from lsp_harness.index.index_place import IndexPlace
from lsp_harness.index.index_view import IndexView
from lsp_harness.index.query.anchor import FilePosition, SymbolName, find_anchors, find_declared
from lsp_harness.index.query.code_search import CodeSearch, FileHit, Hit, SearchRequest
from lsp_harness.index.query.doc_line import read_doc_line
from lsp_harness.index.vectors import Vectors
from lsp_harness.store.database import Reader
from lsp_harness.text.document import Document

LIKE = 50
"""Texts that are most like another."""


def search(
    query: Annotated[str, Parameter(help="What to find: the words of a name, or of what the code does.")] = "",
    folder: Folder = Path(),
    *,
    at: Annotated[str, Parameter(help="FILE:LINE or FILE:LINE:COL: find the code related to this place.")] = "",
    symbol: Annotated[str, Parameter(help="NAME or FILE:NAME: find this symbol, what it uses and what uses it.")] = "",
    files: Annotated[
        bool,
        Parameter(
            negative="",
            help="Find files instead of declarations, for a longer text such as a bug report. File names in the text count.",
        ),
    ] = False,
    limit: Annotated[int, Parameter(help="The largest number of results.", validator=positive)] = 10,
    near: Annotated[
        str,
        Parameter(
            help="A file of the folder. Of results that fit equally well, those that it imports or that import it come first."
        ),
    ] = "",
    explain: Annotated[
        bool,
        Parameter(
            negative="",
            help="Show how each result was found, with its rank, and the first line of its documentation.",
        ),
    ] = False,
    json: AsJson = False,
) -> int:
    """Find code by words, by a symbol or by a place in a file.

    The exit status is 1 if nothing was found.
    """
    if at or symbol:
        # what is found is said by the option, and only the folder is left to say
        folder, query = Path(query or folder), ""
    if [bool(query), bool(at), bool(symbol)].count(True) != 1:
        raise UsageError('say what to find: lsp-harness search "WORDS", --at FILE:LINE or --symbol NAME')
    if files and not query:
        raise UsageError('--files needs words: lsp-harness search --files "WORDS"')
    if query or at:
        file_place.check_folder(folder, "search" if query else "search --at", query or at)
    where = wanted(folder)
    where = asyncio.run(fresh(where))
    with closing(Reader(where.database)) as reader:
        if near and IndexView(reader).symbols.find_file(near) is None:
            raise UsageError(f"the index has no file {near!r}; write its path relative to the folder")
        asked = query or (_at(reader, where, at) if at else _named(reader, symbol))
        if isinstance(asked, str):
            alike = asyncio.run(nearest(where, asked, explain=explain))
        else:
            alike = _like(where, [spot.digest for spot in find_anchors(reader, asked)])
            if explain and not alike:
                warn(f"not searched by meaning: this code has no vector yet; {EMBED} makes the missing vectors")
        # there is nobody who types meanwhile
        if isinstance(asked, str) and files:
            request = SearchRequest(asked, limit, alike, near, SEARCH_SECONDS)
            return _files(CodeSearch(reader).rank_files(request), json=json)
        hits = CodeSearch(reader).search(SearchRequest(asked, limit, alike, near, SEARCH_SECONDS))
        view = IndexView(reader)
        docs = [
            read_doc_line(view, it) if (it := view.symbols.find_symbol(hit.path, hit.symbol)) else "" for hit in hits
        ]
    if json:
        as_json([_as_row(hit) | {"doc": said} for hit, said in zip(hits, docs, strict=True)])
    else:
        for hit, said in zip(hits, docs, strict=True):
            why = f"  [{', '.join(hit.reasons)}]" + f"  {said}" * bool(said)
            say(f"{hit.path}:{hit.line + 1}: {hit.symbol or 'text'}" + why * explain)
    return 0 if hits else 1


def _files(found: Sequence[FileHit], *, json: bool) -> int:
    if json:
        as_json([{"path": hit.path, "score": hit.score} for hit in found])
    else:
        for hit in found:
            say(hit.path)
    return 0 if found else 1


def _at(reader: Reader, where: IndexPlace, said: str) -> FilePosition:
    file, numbers = file_place.place(said, 2)
    if not numbers:
        raise UsageError(f"say where in the file: lsp-harness search --at {said}:LINE or {said}:LINE:COL")
    document = Document.from_text(file.absolute().as_uri(), read_named(file))
    line, column = [*numbers, 1][:2]
    try:
        path = file.resolve().relative_to(where.root.resolve()).as_posix()
    except ValueError:
        raise UsageError(
            f"{file} is not in {where.root}; write its folder as well: lsp-harness search --at {said} FOLDER"
        ) from None
    if IndexView(reader).symbols.find_file(path) is None:
        raise UsageError(
            f"the index has no file {path!r}; lsp-harness index status shows which files were left out and why"
        )
    return FilePosition(path, file_place.offset_of(document, line, column))


def _named(reader: Reader, said: str) -> SymbolName:
    path, name = named(said)
    found = SymbolName(name, path)
    if not find_declared(reader, found):
        raise UsageError(
            f'there is no symbol {said!r} in this folder; to find similar code: lsp-harness search "{name}"'
        )
    return found


def _like(where: IndexPlace, digests: Sequence[bytes]) -> list[bytes]:
    """The texts whose vectors are most like those of these texts, where they have some: nothing is embedded for it."""
    with closing(Vectors(where.folder)) as vectors, suppress(StoreError):
        return [one for digest in digests[:1] if digest for one in vectors.find_similar(digest, LIKE)]
    return []


def _as_row(hit: Hit) -> dict[str, Any]:
    return {name: getattr(hit, name) for name in ("path", "symbol", "kind", "line", "start", "end", "score", "reasons")}
