"""`lsp-harness index`: the index of a folder's code."""

import asyncio
from contextlib import closing, suppress
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import cyclopts
from cyclopts import Parameter

from lsp_harness.cli.commands.embed_cli import embed
from lsp_harness.cli.commands.graph_cli import graph
from lsp_harness.cli.console import AsJson, as_json, positive, say, warn
from lsp_harness.cli.fresh_index import Folder, called, fresh, placed, scan, wanted
from lsp_harness.cli.index_report import show, told
from lsp_harness.cli.nearest_texts import EMBED, without
from lsp_harness.context.lookup.declaration_extract import Extract, extract_declarations
from lsp_harness.disk.file_reading import read_file
from lsp_harness.errors import FileError, HarnessError, UsageError
from lsp_harness.index.index_view import IndexView
from lsp_harness.index.query.code_patterns import Pattern, find_patterns
from lsp_harness.index.query.doc_line import read_doc_line
from lsp_harness.index.vectors import Vectors
from lsp_harness.process.leader_lock import is_locked
from lsp_harness.store.database import Reader, remove_database
from lsp_harness.syntax.grammars import language_for
from lsp_harness.syntax.parse_budget import MAX_TEXT_BYTES
from lsp_harness.syntax.tree import parse
from lsp_harness.text.document import Document
from lsp_harness.text.wording import format_count

app = cyclopts.App(name="index", help="Inspect and rebuild the index of a folder's code.")
app.command(graph)
app.command(embed)


@app.command
def status(folder: Folder = Path(), *, json: AsJson = False) -> int:
    """Show what the index of a folder contains, which files were left out and why, and which process updates it."""
    where = placed(folder)
    if json:
        as_json(told(where))
    else:
        show(told(where))
    return 0


@app.command
def rebuild(folder: Folder = Path(), *, json: AsJson = False) -> int:
    """Delete the index of a folder and make a new one.

    If a server has the folder open, the server does it. Vectors of texts that still exist are kept; `index embed` makes the
    missing ones.
    """
    where = wanted(folder)
    remove_database(where.database)
    with closing(Vectors(where.folder)) as vectors:
        if not vectors.is_sound():
            remove_database(vectors.database_path)
    if is_locked(where.lock):
        say("the server that has this folder open makes a new index")
        return 0
    if (scanned := asyncio.run(scan(where))) is None:
        say("the server that has this folder open makes a new index")
    elif json:
        as_json(told(where))
    else:
        say(f"{format_count(scanned.files, 'file')}, {scanned.parsed:,} of them read")
        # where there is no model `doctor` says so
        with suppress(HarnessError):
            if left := without(where):
                warn(f"{format_count(left, 'text')} without a vector; {EMBED} makes the missing vectors")
    return 0


@app.command
def context(symbol: str, folder: Folder = Path(), *, json: AsJson = False) -> int:
    """Print the code of a symbol, with the imports that it needs.

    Parameters
    ----------
    symbol
        Its name. If several symbols have this name, write the class or the file as well: `Config.parse` or
        `src/config.py:Config.parse`.
    """
    where = wanted(folder)
    where = asyncio.run(fresh(where))
    with closing(Reader(where.database)) as reader:
        view = IndexView(reader)
        found = [
            (one, read_doc_line(view, it))
            for it in called(view, symbol)
            for one in _extracts(where.root, it.path, it.qualified)
        ]
    if not found:
        raise UsageError(
            f"{symbol!r} is no longer in its file, which has changed since it was indexed; run the command again"
        )
    if json:
        as_json([asdict(one) | {"doc": said} for one, said in found])
    else:
        comments = [(language_for("", one.path), one) for one, _ in found]
        say("\n\n".join(f"{(it and it.comment) or '#'} {one.path}:{one.line + 1}\n{one}" for it, one in comments))
    return 0


def _extracts(root: Path, path: str, name: str) -> list[Extract]:
    try:
        tree = parse(Document.from_text((root / path).as_uri(), read_file(root / path, MAX_TEXT_BYTES)))
    except FileError:
        return []
    return extract_declarations(tree, path, name) if tree else []


@app.command(name="patterns")
def shown_patterns(
    folder: Folder = Path(),
    *,
    limit: Annotated[int, Parameter(help="The largest number of patterns.", validator=positive)] = 20,
    json: AsJson = False,
) -> int:
    """Print the kinds of code that the folder has many of (handlers, tests, models), most frequent first, each with an example."""
    where = wanted(folder)
    where = asyncio.run(fresh(where))
    with closing(Reader(where.database)) as reader:
        found = find_patterns(reader, max(0, limit))
    if json:
        as_json([_as_pattern(one) for one in found])
    else:
        for one in found:
            it = one.representative
            say(f"{len(one.members):,} {one.name}: {it.path}:{it.line + 1} {it.qualified}")
    return 0 if found else 1


def _as_pattern(one: Pattern) -> dict[str, Any]:
    it = one.representative
    shown = {"path": it.path, "line": it.line, "symbol": it.qualified}
    return {"name": one.name, "language": one.language, "count": len(one.members), "representative": shown}
