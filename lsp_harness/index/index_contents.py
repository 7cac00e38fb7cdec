"""The contents of an index in numbers, for reports."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from lsp_harness.index.builder.file_extract import hash_content
from lsp_harness.index.index_view import IndexView
from lsp_harness.store.database import DatabaseReader


@dataclass(frozen=True, slots=True)
class IndexContents:
    """The contents of an index in numbers.

    Attributes:
        files: The number of files.
        languages: The number of files by language, the most frequent first. `text` stands for files that cannot be
            parsed, and `left out` for files whose text is not in the index.
        symbols: The number of declarations.
        imports: The number of import statements.
        chunks: The number of pieces of text.
        left_out: Why files and folders were left out, by their paths.
    """

    files: int = 0
    languages: Mapping[str, int] = field(default_factory=dict[str, int])
    symbols: int = 0
    imports: int = 0
    chunks: int = 0
    left_out: Mapping[str, str] = field(default_factory=dict[str, str])


def read_contents(view: IndexView) -> IndexContents:
    """Return the contents of an index."""
    rows = view.reader.rows("SELECT language, skipped, count(*) FROM files GROUP BY 1, 2")
    languages = Counter[str]()
    for language, reason, count in rows:
        languages[language or ("left out" if reason else "text")] += count
    symbols, imports, chunks = (_count_rows(view, table) for table in ("symbols", "imports", "chunks"))
    left_out = view.reader.rows("SELECT path, why FROM left_out ORDER BY path")
    left_out += view.reader.rows("SELECT path, skipped FROM files WHERE skipped != '' ORDER BY path")
    return IndexContents(
        sum(languages.values()),
        dict(languages.most_common()),
        symbols,
        imports,
        chunks,
        dict(left_out),
    )


def read_unparsed_paths(view: IndexView) -> list[str]:
    """Return the paths of the files in languages that cannot be parsed."""
    return [path for (path,) in view.reader.rows("SELECT path FROM files WHERE language = '' AND skipped = ''")]


def has_text(reader: DatabaseReader, path: str, data: bytes) -> bool:
    """Return whether the index has this text of a file, or leaves the file out."""
    rows = reader.rows("SELECT digest, skipped FROM files WHERE path = ?", (path,))
    if not rows:
        return bool(reader.rows("SELECT 1 FROM left_out WHERE path = ?", (path,)))
    return bool(rows[0][1]) or rows[0][0] == hash_content(data)


def _count_rows(view: IndexView, table: str) -> int:
    rows = view.reader.rows(f"SELECT count(*) FROM {table}")
    return rows[0][0] if rows else 0
