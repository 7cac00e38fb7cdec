"""`lsp-harness index` and `lsp-harness search`: what is known of a workspace folder, and finding something in it."""

import asyncio
from collections import Counter
from collections.abc import Sequence
from contextlib import closing, suppress
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import cyclopts
from cyclopts import Parameter

from lsp_harness.cli import compose
from lsp_harness.cli.graph import graph
from lsp_harness.cli.indexed import called, fresh, placed, scan
from lsp_harness.cli.nearest import SEARCH_SECONDS, nearest
from lsp_harness.cli.say import AsJson, as_json, console, say
from lsp_harness.context.extract import Extract, extracts
from lsp_harness.errors import StoreError, UsageError
from lsp_harness.index.doc import doc
from lsp_harness.index.patterns import Pattern, patterns
from lsp_harness.index.place import Place
from lsp_harness.index.search import Hit, Search
from lsp_harness.index.spot import At, Named, declared, spots
from lsp_harness.index.vectors import Vectors
from lsp_harness.index.view import View
from lsp_harness.inference.embed.recipe import model_of
from lsp_harness.process.lead import led
from lsp_harness.store.database import Reader, remove
from lsp_harness.syntax.languages import language_for
from lsp_harness.syntax.tree import parse
from lsp_harness.text.document import Document

LIKE = 50
"""Texts that are most like another."""

app = cyclopts.App(name="index", help="What is known of a workspace folder: status, context, graph, patterns, rebuild.")
app.command(graph)

Folder = Annotated[Path, Parameter(help="The workspace folder; here by default.")]


@app.command
def status(folder: Folder = Path(), *, json: AsJson = False) -> int:
    """Show what the index of a folder holds, what was left out of it and why, and who keeps it."""
    where = placed(folder)
    if json:
        as_json(told(where))
    else:
        _show(told(where))
    return 0


@app.command
def rebuild(folder: Folder = Path(), *, json: AsJson = False) -> int:
    """Throw the index of a folder away and make it anew. A server that has the folder open does so, if there is one."""
    where = placed(folder)
    for database in (where.database, Vectors(where.folder).database):
        remove(database)
    if led(where.lock):
        say("the server that has this folder open makes it anew")
        return 0
    scanned = asyncio.run(scan(where))
    if json:
        as_json(told(where))
    else:
        say(f"{scanned.files:,} files, {scanned.parsed:,} of them read")
    return 0


@app.command
def context(symbol: str, folder: Folder = Path(), *, json: AsJson = False) -> int:
    """Print what a symbol is: its text, and the imports that this needs.

    Parameters
    ----------
    symbol
        Its name, with those around it where several are called so: `Config.parse`, or `src/config.py:Config.parse`.
    """
    where = placed(folder)
    asyncio.run(fresh(where))
    with closing(Reader(where.database)) as reader:
        view = View(reader)
        found = [
            (one, doc(view, it)) for it in called(view, symbol) for one in _extracts(where.root, it.path, it.qualified)
        ]
    if json:
        as_json([asdict(one) | {"doc": said} for one, said in found])
    else:
        comments = [(language_for("", one.path), one) for one, _ in found]
        say("\n\n".join(f"{(it and it.comment) or '#'} {one.path}:{one.line + 1}\n{one}" for it, one in comments))
    return 0


def _extracts(root: Path, path: str, name: str) -> list[Extract]:
    try:
        tree = parse(Document.of((root / path).as_uri(), (root / path).read_bytes()))
    except OSError:
        return []
    return extracts(tree, path, name) if tree else []


@app.command(name="patterns")
def shown_patterns(
    folder: Folder = Path(), *, limit: Annotated[int, Parameter(help="Patterns at most.")] = 20, json: AsJson = False
) -> int:
    """Print what kinds of code the folder has many of (handlers, tests, models), the most frequent first, and one of each."""
    where = placed(folder)
    asyncio.run(fresh(where))
    with closing(Reader(where.database)) as reader:
        found = patterns(reader, max(0, limit))
    if json:
        as_json([_as_pattern(one) for one in found])
    else:
        for one in found:
            it = one.representative
            say(f"{len(one.members):,} {one.name}: {it.path}:{it.line + 1} {it.qualified}")
    return 0 if found else 1


def search(
    query: str = "",
    folder: Folder = Path(),
    *,
    at: Annotated[str, Parameter(help="FILE:LINE or FILE:LINE:COL: what has to do with what stands there.")] = "",
    symbol: Annotated[
        str, Parameter(help="A name, or src/file.py:name: what is called so, what that uses, and what uses it.")
    ] = "",
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
    where = placed(folder)
    asyncio.run(fresh(where))
    with closing(Reader(where.database)) as reader:
        if near and View(reader).file(near) is None:
            raise UsageError(f"the index has no file {near!r}; name it by its path in the folder")
        asked = query or (_at(reader, where, at) if at else _named(reader, symbol))
        if isinstance(asked, str):
            alike = asyncio.run(nearest(where, asked))
        else:
            alike = _like(where, [spot.digest for spot in spots(reader, asked)])
        # there is nobody who types meanwhile
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


def _at(reader: Reader, where: Place, said: str) -> At:
    file, numbers = compose.place(said, 2)
    if not numbers:
        raise UsageError("say where in the file: lsp-harness search --at FILE:LINE or FILE:LINE:COL")
    document = Document.of(file.absolute().as_uri(), file.read_bytes())
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
    path, _, name = said.rpartition(":")
    found = Named(name, path)
    if not declared(reader, found):
        raise UsageError(f'nothing is called {said!r} here; lsp-harness search "{name}" finds what is like it')
    return found


def _like(where: Place, digests: Sequence[bytes]) -> list[bytes]:
    """The texts whose vectors are most like those of these texts, where they have some: nothing is embedded for it."""
    with closing(Vectors(where.folder)) as vectors, suppress(StoreError):
        return [one for digest in digests[:1] if digest for one in vectors.like(digest, LIKE)]
    return []


def told(where: Place) -> dict[str, Any]:
    """What `status` says, for programs."""
    with closing(Reader(where.database)) as reader:
        files = reader.rows("SELECT language, skipped, count(*), sum(size) FROM files GROUP BY 1, 2")
        counts = {
            table: (reader.rows(f"SELECT count(*) FROM {table}") or [(0,)])[0][0]
            for table in ("symbols", "imports", "chunks")
        }
        left = reader.rows("SELECT path, why FROM left_out ORDER BY path")
        skipped = reader.rows("SELECT path, skipped FROM files WHERE skipped != '' ORDER BY path")
    model, embedded = None, 0
    # damaged ones are made anew with the next completion
    with closing(Vectors(where.folder)) as vectors, suppress(StoreError):
        model, embedded = vectors.model(), len(vectors.texts())
    languages = Counter[str]()
    for language, why, count, _ in files:
        languages[language or ("left out" if why else "text")] += count
    return {
        "root": str(where.root),
        "database": str(where.database),
        "bytes": where.database.stat().st_size if where.database.exists() else 0,
        "kept": led(where.lock),
        "files": sum(count for _, _, count, _ in files),
        "languages": dict(languages.most_common()),
        **counts,
        "vectors": {"model": model_of(model[0]), "dimensions": model[1], "count": embedded} if model else None,
        "left_out": dict([*left, *skipped]),
    }


def _as_row(hit: Hit) -> dict[str, Any]:
    return {name: getattr(hit, name) for name in ("path", "symbol", "kind", "line", "start", "end", "score", "reasons")}


def _as_pattern(one: Pattern) -> dict[str, Any]:
    it = one.representative
    shown = {"path": it.path, "line": it.line, "symbol": it.qualified}
    return {"name": one.name, "language": one.language, "count": len(one.members), "representative": shown}


def _of_vectors(found: dict[str, Any] | None) -> str:
    if not found:
        return "none: search goes by names and words (BM25); lsp-harness doctor says why"
    return f"{found['count']:,} of {found['dimensions']} numbers by {found['model']}"


def _show(found: dict[str, Any]) -> None:
    from rich.table import Table

    table = Table(box=None, show_header=False)
    kept = "a server that has it open" if found["kept"] else "nobody at the moment"
    languages = ", ".join(f"{count:,} {language}" for language, count in found["languages"].items())
    for what, says in (
        ("folder", found["root"]),
        ("database", f"{found['database']}, {found['bytes'] / 1e6:.1f} MB"),
        ("kept by", kept),
        ("files", f"{found['files']:,}" + f": {languages}" * bool(languages)),
        *((name, f"{found[name]:,}") for name in ("symbols", "imports", "chunks")),
        ("vectors", _of_vectors(found["vectors"])),
        *(("left out", f"{path}: {why}") for path, why in list(found["left_out"].items())[:20]),
    ):
        table.add_row(what, says.replace("[", "\\["))
    console().print(table)
    if len(found["left_out"]) > 20:
        say(f"and {len(found['left_out']) - 20:,} more left out (--json has all)")
