"""The contents of an index, the files that were left out, and whether a process updates it."""

from collections import Counter
from collections.abc import Mapping
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path

from lsp_harness.errors import StoreError
from lsp_harness.index.index_place import IndexPlace
from lsp_harness.index.vectors import Vectors
from lsp_harness.inference.embedding_recipe import model_name
from lsp_harness.process.leader_lock import is_locked
from lsp_harness.store.database import Reader


@dataclass(frozen=True, slots=True)
class VectorStatus:
    """The vectors of an index: the model that made them, the length of each, and their number."""

    model: str
    dimensions: int
    count: int


@dataclass(frozen=True, slots=True)
class IndexStatus:
    """The contents of an index.

    Attributes:
        size_bytes: The size of the database; 0 if there is none.
        is_updated: Whether a process keeps the index up to date at the moment.
        languages: The number of files by language. `text` are files of no known language, `left out` unreadable files.
        vectors: None if the index has no vectors, or if they are damaged.
        left_out: The reason by the path of each file or folder that is not in the index.
    """

    root: Path
    database: Path
    size_bytes: int
    is_updated: bool
    files: int
    languages: Mapping[str, int]
    symbols: int
    imports: int
    chunks: int
    vectors: VectorStatus | None
    left_out: Mapping[str, str]


def read_index_status(place: IndexPlace) -> IndexStatus:
    """Return the status of an index. An index that does not exist has no files.

    Raises:
        StoreError: The index is damaged.
    """
    with closing(Reader(place.database)) as reader:
        rows = reader.rows("SELECT language, skipped, count(*) FROM files GROUP BY 1, 2")
        symbols, imports, chunks = (_count_rows(reader, table) for table in ("symbols", "imports", "chunks"))
        left_out = reader.rows("SELECT path, why FROM left_out ORDER BY path")
        skipped = reader.rows("SELECT path, skipped FROM files WHERE skipped != '' ORDER BY path")
    languages = Counter[str]()
    for language, skip_reason, count in rows:
        languages[language or ("left out" if skip_reason else "text")] += count
    return IndexStatus(
        root=place.root,
        database=place.database,
        size_bytes=place.database.stat().st_size if place.database.exists() else 0,
        is_updated=is_locked(place.lock),
        files=languages.total(),
        languages=dict(languages.most_common()),
        symbols=symbols,
        imports=imports,
        chunks=chunks,
        vectors=_read_vector_status(place),
        left_out=dict([*left_out, *skipped]),
    )


def _count_rows(reader: Reader, table: str) -> int:
    rows = reader.rows(f"SELECT count(*) FROM {table}")
    return rows[0][0] if rows else 0


def _read_vector_status(place: IndexPlace) -> VectorStatus | None:
    # the next completion replaces damaged vectors
    with closing(Vectors(place.folder)) as vectors, suppress(StoreError):
        if model := vectors.read_model():
            return VectorStatus(model_name(model[0]), model[1], len(vectors.read_digests()))
    return None
