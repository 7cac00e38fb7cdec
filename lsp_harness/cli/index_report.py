"""`lsp-harness index status`: what an index holds, what was left out of it and why, and who keeps it."""

from collections import Counter
from contextlib import closing, suppress
from typing import Any

from lsp_harness.cli.console import console, say
from lsp_harness.errors import StoreError
from lsp_harness.index.index_place import IndexPlace
from lsp_harness.index.vectors import Vectors
from lsp_harness.inference.embedding_recipe import model_name
from lsp_harness.process.leader_lock import is_locked
from lsp_harness.store.database import Reader
from lsp_harness.text.wording import format_count


def told(where: IndexPlace) -> dict[str, Any]:
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
        model, embedded = vectors.read_model(), len(vectors.read_digests())
    languages = Counter[str]()
    for language, why, count, _ in files:
        languages[language or ("left out" if why else "text")] += count
    return {
        "root": str(where.root),
        "database": str(where.database),
        "bytes": where.database.stat().st_size if where.database.exists() else 0,
        "kept": is_locked(where.lock),
        "files": sum(count for _, _, count, _ in files),
        "languages": dict(languages.most_common()),
        **counts,
        "vectors": {"model": model_name(model[0]), "dimensions": model[1], "count": embedded} if model else None,
        "left_out": dict([*left, *skipped]),
    }


def _of_vectors(found: dict[str, Any] | None) -> str:
    if not found:
        return "none: search uses names and words only (BM25); lsp-harness doctor says why"
    return f"{format_count(found['count'], 'vector')} of {found['dimensions']} numbers, made with {found['model']}"


def show(found: dict[str, Any]) -> None:
    from rich.table import Table

    table = Table(box=None, show_header=False)
    kept = "a server that has this folder open" if found["kept"] else "no process at the moment"
    languages = ", ".join(f"{count:,} {language}" for language, count in found["languages"].items())
    for what, says in (
        ("folder", found["root"]),
        ("database", f"{found['database']}, {found['bytes'] / 1e6:.1f} MB"),
        ("updated by", kept),
        ("files", f"{found['files']:,}" + f": {languages}" * bool(languages)),
        *((name, f"{found[name]:,}") for name in ("symbols", "imports", "chunks")),
        ("vectors", _of_vectors(found["vectors"])),
        *(("left out", f"{path}: {why}") for path, why in list(found["left_out"].items())[:20]),
    ):
        table.add_row(what, says.replace("[", "\\["))
    console().print(table)
    if len(found["left_out"]) > 20:
        say(f"and {len(found['left_out']) - 20:,} more are left out; --json shows all")
