"""`lsp-harness index`: what is known of a workspace folder."""

import asyncio
import sys
from contextlib import closing, suppress
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import cyclopts
from cyclopts import Parameter

from lsp_harness.cli.embed import embed
from lsp_harness.cli.graph import graph
from lsp_harness.cli.index_status import show, told
from lsp_harness.cli.indexed import Folder, called, fresh, placed, scan, wanted
from lsp_harness.cli.nearest import EMBED, without
from lsp_harness.cli.say import AsJson, as_json, say
from lsp_harness.context.extract import Extract, extracts
from lsp_harness.disk.reading import read_file
from lsp_harness.errors import FileProblem, HarnessError, UsageError
from lsp_harness.index.doc import doc
from lsp_harness.index.patterns import Pattern, patterns
from lsp_harness.index.vectors import Vectors
from lsp_harness.index.view import View
from lsp_harness.process.lead import led
from lsp_harness.store.database import Reader, remove
from lsp_harness.syntax.languages import language_for
from lsp_harness.syntax.tree import LIMIT, parse
from lsp_harness.text.document import Document

app = cyclopts.App(
    name="index", help="What is known of a workspace folder: status, context, graph, patterns, embed, rebuild."
)
app.command(graph)
app.command(embed)


@app.command
def status(folder: Folder = Path(), *, json: AsJson = False) -> int:
    """Show what the index of a folder holds, what was left out of it and why, and who keeps it."""
    where = placed(folder)
    if json:
        as_json(told(where))
    else:
        show(told(where))
    return 0


@app.command
def rebuild(folder: Folder = Path(), *, json: AsJson = False) -> int:
    """Throw the index of a folder away and make it anew. A server that has the folder open does so, if there is one. Vectors of
    texts that are still there stay; `index embed` makes those that are missing."""
    where = wanted(folder)
    remove(where.database)
    with closing(Vectors(where.folder)) as vectors:
        if not vectors.sound():
            remove(vectors.database)
    if led(where.lock):
        say("the server that has this folder open makes it anew")
        return 0
    if (scanned := asyncio.run(scan(where))) is None:
        say("the server that has this folder open makes it anew")
    elif json:
        as_json(told(where))
    else:
        say(f"{scanned.files:,} files, {scanned.parsed:,} of them read")
        # where there is no model `doctor` says so
        with suppress(HarnessError):
            if left := without(where):
                sys.stderr.write(f"texts without a vector: {left:,}; {EMBED} makes them\n")
    return 0


@app.command
def context(symbol: str, folder: Folder = Path(), *, json: AsJson = False) -> int:
    """Print what a symbol is: its text, and the imports that this needs.

    Parameters
    ----------
    symbol
        Its name, with those around it where several are called so: `Config.parse`, or `src/config.py:Config.parse`.
    """
    where = wanted(folder)
    where = asyncio.run(fresh(where))
    with closing(Reader(where.database)) as reader:
        view = View(reader)
        found = [
            (one, doc(view, it)) for it in called(view, symbol) for one in _extracts(where.root, it.path, it.qualified)
        ]
    if not found:
        raise UsageError(f"{symbol!r} is not in its file any more, which changed since it was indexed; ask again")
    if json:
        as_json([asdict(one) | {"doc": said} for one, said in found])
    else:
        comments = [(language_for("", one.path), one) for one, _ in found]
        say("\n\n".join(f"{(it and it.comment) or '#'} {one.path}:{one.line + 1}\n{one}" for it, one in comments))
    return 0


def _extracts(root: Path, path: str, name: str) -> list[Extract]:
    try:
        tree = parse(Document.of((root / path).as_uri(), read_file(root / path, LIMIT)))
    except FileProblem:
        return []
    return extracts(tree, path, name) if tree else []


@app.command(name="patterns")
def shown_patterns(
    folder: Folder = Path(), *, limit: Annotated[int, Parameter(help="Patterns at most.")] = 20, json: AsJson = False
) -> int:
    """Print what kinds of code the folder has many of (handlers, tests, models), the most frequent first, and one of each."""
    where = wanted(folder)
    where = asyncio.run(fresh(where))
    with closing(Reader(where.database)) as reader:
        found = patterns(reader, max(0, limit))
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
