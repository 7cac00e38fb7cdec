"""`lsp-harness search`: finding the code that words or names mean, or that has to do with a place or a symbol."""

import asyncio
import sys
from collections.abc import Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from lsp_harness.cli import compose
from lsp_harness.cli.indexed import Folder, fresh, named, wanted
from lsp_harness.cli.nearest import EMBED, SEARCH_SECONDS, nearest
from lsp_harness.cli.say import AsJson, as_json, say
from lsp_harness.errors import StoreError, UsageError
from lsp_harness.index.doc import doc
from lsp_harness.index.place import Place
from lsp_harness.index.search import Hit, Search
from lsp_harness.index.spot import At, Named, declared, spots
from lsp_harness.index.vectors import Vectors
from lsp_harness.index.view import View
from lsp_harness.store.database import Reader
from lsp_harness.text.document import Document

LIKE = 50
"""Texts that are most like another."""


def search(
    query: str = "",
    folder: Folder = Path(),
    *,
    at: Annotated[str, Parameter(help="FILE:LINE or FILE:LINE:COL: what has to do with what stands there.")] = "",
    symbol: Annotated[
        str, Parameter(help="A name, or src/file.py:name: what is called so, what that uses, and what uses it.")
    ] = "",
    files: Annotated[
        bool,
        Parameter(
            negative="",
            help="The files that a longer text is about, such as a report of a fault: those it names count, too.",
        ),
    ] = False,
    limit: Annotated[int, Parameter(help="Hits at most.")] = 10,
    near: Annotated[
        str, Parameter(help="A file of the folder: what it imports, or what imports it, comes before what is as good.")
    ] = "",
    explain: Annotated[
        bool,
        Parameter(
            negative="",
            help="Show by which way each hit was found, its rank there, and the first line of its documentation.",
        ),
    ] = False,
    json: AsJson = False,
) -> int:
    """Find the code that some words or names mean, or that has to do with a place or a symbol."""
    if at or symbol:
        # what is found is said by the option, and only the folder is left to say
        folder, query = Path(query or folder), ""
    if [bool(query), bool(at), bool(symbol)].count(True) != 1:
        raise UsageError('say what to find: lsp-harness search "words", --at FILE:LINE, or --symbol NAME')
    if files and not query:
        raise UsageError('say in words what the files are about: lsp-harness search --files "words"')
    where = wanted(folder)
    where = asyncio.run(fresh(where))
    with closing(Reader(where.database)) as reader:
        if near and View(reader).file(near) is None:
            raise UsageError(f"the index has no file {near!r}; name it by its path in the folder")
        asked = query or (_at(reader, where, at) if at else _named(reader, symbol))
        if isinstance(asked, str):
            alike = asyncio.run(nearest(where, asked, explain=explain))
        else:
            alike = _like(where, [spot.digest for spot in spots(reader, asked)])
            if explain and not alike:
                sys.stderr.write(f"not by meaning: what was asked about has no vector; {EMBED} makes them\n")
        # there is nobody who types meanwhile
        if isinstance(asked, str) and files:
            return _files(Search(reader).files(asked, limit, alike, beside=near, seconds=SEARCH_SECONDS), json=json)
        hits = Search(reader).search(asked, limit, alike, beside=near, seconds=SEARCH_SECONDS)
        view = View(reader)
        docs = [doc(view, it) if (it := view.symbol(hit.path, hit.symbol)) else "" for hit in hits]
    if json:
        as_json([_as_row(hit) | {"doc": said} for hit, said in zip(hits, docs, strict=True)])
    else:
        for hit, said in zip(hits, docs, strict=True):
            why = f"  [{', '.join(hit.reasons)}]" + f"  {said}" * bool(said)
            say(f"{hit.path}:{hit.line + 1}: {hit.symbol or 'text'}" + why * explain)
    return 0 if hits else 1


def _files(found: Sequence[tuple[str, float]], *, json: bool) -> int:
    if json:
        as_json([{"path": path, "score": score} for path, score in found])
    else:
        for path, _ in found:
            say(path)
    return 0 if found else 1


def _at(reader: Reader, where: Place, said: str) -> At:
    file, numbers = compose.place(said, 2)
    if not numbers:
        raise UsageError("say where in the file: lsp-harness search --at FILE:LINE or FILE:LINE:COL")
    document = Document.of(file.absolute().as_uri(), compose.read_named(file))
    line, column = [*numbers, 1][:2]
    try:
        path = file.resolve().relative_to(where.root.resolve()).as_posix()
    except ValueError:
        raise UsageError(
            f"{file} is not in {where.root}; name its folder: lsp-harness search --at {said} FOLDER"
        ) from None
    if View(reader).file(path) is None:
        raise UsageError(f"the index has no file {path!r}; lsp-harness index status says what was left out, and why")
    return At(path, compose.offset_of(document, line, column))


def _named(reader: Reader, said: str) -> Named:
    path, name = named(said)
    found = Named(name, path)
    if not declared(reader, found):
        raise UsageError(f'nothing is called {said!r} here; lsp-harness search "{name}" finds what is like it')
    return found


def _like(where: Place, digests: Sequence[bytes]) -> list[bytes]:
    """The texts whose vectors are most like those of these texts, where they have some: nothing is embedded for it."""
    with closing(Vectors(where.folder)) as vectors, suppress(StoreError):
        return [one for digest in digests[:1] if digest for one in vectors.like(digest, LIKE)]
    return []


def _as_row(hit: Hit) -> dict[str, Any]:
    return {name: getattr(hit, name) for name in ("path", "symbol", "kind", "line", "start", "end", "score", "reasons")}
