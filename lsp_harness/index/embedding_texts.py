"""The texts of an index that vectors are made of. This module needs no arrays, unlike `vectors`."""

from collections.abc import Iterable

from lsp_harness.index.builder.chunks import make_embedding_text
from lsp_harness.index.index_view import IndexView


def read_text_digests(view: IndexView) -> list[bytes]:
    """Return the digests of all texts, the last indexed ones first."""
    rows = view.reader.rows("SELECT digest FROM chunks WHERE digest != x'' GROUP BY digest ORDER BY max(id) DESC")
    return [digest for (digest,) in rows]


def count_texts(view: IndexView) -> int:
    """Return the number of different texts."""
    rows = view.reader.rows("SELECT count(DISTINCT digest) FROM chunks WHERE digest != x''")
    return rows[0][0] if rows else 0


def read_texts(view: IndexView, digests: Iterable[bytes]) -> dict[bytes, str]:
    """Return the texts with these digests, without those that the index no longer contains."""
    texts: dict[bytes, str] = {}
    sql = "SELECT names, text FROM chunks JOIN texts ON texts.rowid = chunks.id WHERE digest = ? LIMIT 1"
    for digest in digests:
        if rows := view.reader.rows(sql, (digest,)):
            texts[digest] = make_embedding_text(*rows[0])
    return texts
