"""The output of `lsp-harness index status`: the JSON for programs and the table for people."""

from typing import Any

from rich.table import Table

from lsp_harness.cli.console import console, say
from lsp_harness.project.index_status import IndexStatus, VectorStatus
from lsp_harness.text.wording import format_count

MAX_LEFT_OUT = 20
"""Number of files that the table lists as left out."""


def status_json(status: IndexStatus) -> dict[str, Any]:
    """Return the JSON of a status. Its keys are part of the command's interface."""
    contents, vectors = status.contents, status.vectors
    return {
        "root": str(status.place.root),
        "database": str(status.place.database),
        "bytes": status.size_bytes,
        "kept": status.is_updated,
        "files": contents.files,
        "languages": contents.languages,
        "symbols": contents.symbols,
        "imports": contents.imports,
        "chunks": contents.chunks,
        "vectors": vectors and {"model": vectors.model, "dimensions": vectors.dimensions, "count": vectors.count},
        "left_out": contents.left_out,
    }


def show_status(status: IndexStatus) -> None:
    """Print a status as a table."""
    table, contents = Table(box=None, show_header=False), status.contents
    languages = ", ".join(f"{count:,} {language}" for language, count in contents.languages.items())
    for name, value in (
        ("folder", str(status.place.root)),
        ("database", f"{status.place.database}, {status.size_bytes / 1e6:.1f} MB"),
        ("updated by", "a server that has this folder open" if status.is_updated else "no process at the moment"),
        ("files", f"{contents.files:,}" + (f": {languages}" if languages else "")),
        ("symbols", f"{contents.symbols:,}"),
        ("imports", f"{contents.imports:,}"),
        ("chunks", f"{contents.chunks:,}"),
        ("vectors", _describe_vectors(status.vectors)),
        *(("left out", f"{path}: {reason}") for path, reason in list(contents.left_out.items())[:MAX_LEFT_OUT]),
    ):
        table.add_row(name, value.replace("[", "\\["))
    console().print(table)
    if len(contents.left_out) > MAX_LEFT_OUT:
        say(f"and {len(contents.left_out) - MAX_LEFT_OUT:,} more are left out; --json shows all")


def _describe_vectors(vectors: VectorStatus | None) -> str:
    if vectors is None:
        return "none: search uses names and words only (BM25); lsp-harness doctor says why"
    return f"{format_count(vectors.count, 'vector')} of {vectors.dimensions} numbers, made with {vectors.model}"
