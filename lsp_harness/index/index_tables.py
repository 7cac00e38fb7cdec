"""The tables of an index, and a version that changes with everything they depend on."""

from hashlib import blake2b

from lsp_harness.config.resources import find_resource
from lsp_harness.store.database import DatabaseReader
from lsp_harness.syntax.grammars import (
    language_pack_version,
    list_missing_grammars,
    optional_grammar_versions,
)

FORMAT_VERSION = 5
"""Must be increased with every change of the stored data."""

SCHEMA = """
CREATE TABLE files(
    id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, mtime INTEGER NOT NULL, size INTEGER NOT NULL,
    digest BLOB NOT NULL, language TEXT NOT NULL, skipped TEXT NOT NULL);
CREATE TABLE symbols(
    file INTEGER NOT NULL, n INTEGER NOT NULL, parent INTEGER NOT NULL, kind TEXT NOT NULL, name TEXT NOT NULL,
    qualified TEXT NOT NULL, start INTEGER NOT NULL, end INTEGER NOT NULL, named INTEGER NOT NULL,
    body INTEGER NOT NULL, line INTEGER NOT NULL, bases TEXT NOT NULL, PRIMARY KEY(file, n)) WITHOUT ROWID;
CREATE TABLE imports(
    file INTEGER NOT NULL, n INTEGER NOT NULL, module TEXT NOT NULL, name TEXT NOT NULL, alias TEXT NOT NULL,
    start INTEGER NOT NULL, PRIMARY KEY(file, n)) WITHOUT ROWID;
CREATE TABLE targets(
    file INTEGER NOT NULL, n INTEGER NOT NULL, target INTEGER NOT NULL, PRIMARY KEY(file, n, target)) WITHOUT ROWID;
CREATE TABLE chunks(
    id INTEGER PRIMARY KEY, file INTEGER NOT NULL, symbol INTEGER NOT NULL, start INTEGER NOT NULL,
    end INTEGER NOT NULL, digest BLOB NOT NULL);
CREATE VIRTUAL TABLE texts USING fts5(names, text, words, tokenize='porter unicode61 remove_diacritics 1');
CREATE TABLE unlinked(file INTEGER PRIMARY KEY);
CREATE TABLE left_out(path TEXT PRIMARY KEY, why TEXT NOT NULL);
INSERT INTO texts(texts, rank) VALUES ('hashsize', 33554432);
"""
"""`n` counts within a file. `parent` and `chunks.symbol` are such numbers, -1 for none. Offsets are bytes, lines
count from 0, `bases` has one name a line. `targets` has the files that import `n` of a file means; an import of
nothing in the workspace has no row. `texts` has the rowids of `chunks`. `chunks.digest` is the digest of the text
that a vector is made of, empty for chunks without a vector. `unlinked` has files whose imports are not resolved
yet, and deleted files that others imported. `left_out` has the files and folders that are not in `files`, with
the reason."""

INDEXES = """
CREATE INDEX IF NOT EXISTS symbols_name ON symbols(name);
CREATE INDEX IF NOT EXISTS chunks_file ON chunks(file);
CREATE INDEX IF NOT EXISTS chunks_digest ON chunks(digest) WHERE digest != x'';
CREATE INDEX IF NOT EXISTS targets_target ON targets(target);
"""
"""Created when the tables have rows. To update them during the first scan would cost three times as much."""


def is_complete(reader: DatabaseReader) -> bool:
    """Return whether the index was completed once and no imports wait to be resolved."""
    tables = reader.rows("SELECT 1 FROM sqlite_master WHERE name = 'targets_target'")
    return bool(tables) and not reader.rows("SELECT 1 FROM unlinked LIMIT 1")


def read_schema_version() -> str:
    """Return the version of the tables and of the queries that fill them.

    Languages without queries of their own are tagged by the language pack, so its version is included.
    """
    digest = blake2b(digest_size=8)
    for file in sorted(find_resource("queries").glob("*/*.scm")):
        if file.stem in ("symbols", "imports"):
            digest.update(f"{file.parent.name}/{file.name}".encode() + file.read_bytes())
    if grammars := optional_grammar_versions():
        digest.update(repr((grammars, language_pack_version())).encode())
    if missing := list_missing_grammars():
        digest.update(repr(missing).encode())
    return f"{FORMAT_VERSION}-{digest.hexdigest()}"
