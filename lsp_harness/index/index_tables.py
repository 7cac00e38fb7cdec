"""The tables of an index, and a version that changes with whatever they depend on."""

from hashlib import blake2b
from importlib import metadata

from lsp_harness.config.resources import resource
from lsp_harness.store.database import Reader
from lsp_harness.syntax.languages import optional_grammar_versions

FORMAT = 5
"""Raised with every change of what is kept or how it is found."""

SCHEMA = """
CREATE TABLE files(
    id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, mtime INTEGER NOT NULL, size INTEGER NOT NULL, digest BLOB NOT NULL,
    language TEXT NOT NULL, skipped TEXT NOT NULL);
CREATE TABLE symbols(
    file INTEGER NOT NULL, n INTEGER NOT NULL, parent INTEGER NOT NULL, kind TEXT NOT NULL, name TEXT NOT NULL,
    qualified TEXT NOT NULL, start INTEGER NOT NULL, end INTEGER NOT NULL, named INTEGER NOT NULL, body INTEGER NOT NULL,
    line INTEGER NOT NULL, bases TEXT NOT NULL, PRIMARY KEY(file, n)) WITHOUT ROWID;
CREATE TABLE imports(
    file INTEGER NOT NULL, n INTEGER NOT NULL, module TEXT NOT NULL, name TEXT NOT NULL, alias TEXT NOT NULL,
    start INTEGER NOT NULL, PRIMARY KEY(file, n)) WITHOUT ROWID;
CREATE TABLE targets(
    file INTEGER NOT NULL, n INTEGER NOT NULL, target INTEGER NOT NULL, PRIMARY KEY(file, n, target)) WITHOUT ROWID;
CREATE TABLE chunks(
    id INTEGER PRIMARY KEY, file INTEGER NOT NULL, symbol INTEGER NOT NULL, start INTEGER NOT NULL, end INTEGER NOT NULL,
    digest BLOB NOT NULL);
CREATE VIRTUAL TABLE texts USING fts5(names, text, words, tokenize='porter unicode61 remove_diacritics 1');
CREATE TABLE unlinked(file INTEGER PRIMARY KEY);
CREATE TABLE left_out(path TEXT PRIMARY KEY, why TEXT NOT NULL);
INSERT INTO texts(texts, rank) VALUES ('hashsize', 33554432);
"""
"""`n` counts within a file; `parent` and `chunks.symbol` are such, -1 for none. Offsets are bytes, lines count from 0, `bases`
is one a line. `targets` are the files that the import `n` of a file means; one that means none of the workspace has none. `texts`
has the rowids of `chunks`, `digest` is that of the text that a vector is of, empty for what has none. `unlinked` are files of which it is not
known yet what their imports mean, or what others mean now that they are gone. `left_out` says of files and folders that are not in `files` why that is."""

INDEXES = """
CREATE INDEX IF NOT EXISTS symbols_name ON symbols(name);
CREATE INDEX IF NOT EXISTS chunks_file ON chunks(file);
CREATE INDEX IF NOT EXISTS chunks_digest ON chunks(digest) WHERE digest != x'';
CREATE INDEX IF NOT EXISTS targets_target ON targets(target);
"""
"""Made when the tables have something in them, at a third of what it costs to keep them while the first files come in."""


def finished(reader: Reader) -> bool:
    """Whether an index has been made, and nothing in it waits for what imports mean."""
    made = reader.rows("SELECT 1 FROM sqlite_master WHERE name = 'targets_target'")
    return bool(made) and not reader.rows("SELECT 1 FROM unlinked LIMIT 1")


def version() -> str:
    """Of the tables and the queries that fill them; the tags of other languages are those of the language pack."""
    digest = blake2b(digest_size=8)
    for file in sorted(resource("queries").glob("*/*.scm")):
        if file.stem in ("symbols", "imports"):
            digest.update(f"{file.parent.name}/{file.name}".encode() + file.read_bytes())
    if grammars := optional_grammar_versions():
        digest.update(repr((grammars, metadata.version("tree-sitter-language-pack"))).encode())
    return f"{FORMAT}-{digest.hexdigest()}"
