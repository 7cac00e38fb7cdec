"""Extraction of the rows of one file for the index, as a pure function of its bytes.

Parsing holds the GIL, so it runs in other processes.
"""

import codecs
import re
from collections.abc import Sequence
from functools import cache
from hashlib import blake2b
from pathlib import PurePosixPath
from typing import NamedTuple

from lsp_harness.files.secrets import find_secrets
from lsp_harness.files.walk import WalkedFile
from lsp_harness.index.builder.chunks import make_embedding_text, split_chunks
from lsp_harness.index.identifier_words import find_compounds, split_words
from lsp_harness.languages.language_spec import LanguageSpec
from lsp_harness.syntax.grammars import language_for
from lsp_harness.syntax.parse_budget import MAX_TEXT_BYTES, ParseBudgetExceeded
from lsp_harness.syntax.symbols import tag_queries
from lsp_harness.syntax.symbols.declarations import qualified_names
from lsp_harness.syntax.symbols.declared_text import read_declarations
from lsp_harness.text.position import decode, encode

DATA_LIMIT_BYTES = 200_000
"""Size limit for files without declarations. Larger ones are rarely written by people."""

Row = tuple[int | str | bytes, ...]


class Extract(NamedTuple):
    """The rows of one file for the tables of the index, without the file's id. `skipped` is the reason if there are no
    rows.

    Rows are plain tuples, because they come from another process and pickling objects costs more than creating them.
    """

    file: WalkedFile
    digest: bytes
    language: str = ""
    skipped: str = ""
    symbols: Sequence[Row] = ()
    """(n, parent, kind, name, qualified, start, end, named, body, line, bases)"""
    imports: Sequence[Row] = ()
    """(n, module, name, alias, start)"""
    chunks: Sequence[Row] = ()
    """(symbol, start, end, digest of the text that a vector is made of)"""
    texts: Sequence[Row] = ()
    """(names, text, words) of each chunk: its title, its text, and the words inside of its identifiers."""


def hash_content(data: bytes) -> bytes:
    """Return the digest of a file's content."""
    return blake2b(data, digest_size=16).digest()


def extract_file(file: WalkedFile, data: bytes) -> Extract:
    """Return what the index stores of a file. Secrets are replaced by spaces."""
    result = Extract(file, hash_content(data))
    if b"\0" in data[:8192]:
        return result._replace(skipped="binary")
    language = language_for("", file.path)
    has_grammar = language is not None and tag_queries.declaration_source(language) != "lines"
    if len(data) > (MAX_TEXT_BYTES if has_grammar else DATA_LIMIT_BYTES):
        return result._replace(
            skipped=f"larger than {(MAX_TEXT_BYTES if has_grammar else DATA_LIMIT_BYTES) // 1000} kB"
        )
    data = mask_secrets(replace_invalid_utf8(data))
    try:
        declarations, imports = read_declarations(language, data) if language and has_grammar else ([], [])
    except ParseBudgetExceeded as error:
        return result._replace(skipped=f"no syntax tree: {error}")
    names = qualified_names(declarations)
    path = PurePosixPath(file.path)
    file_title = split_words(f"{path.parent.name} {path.stem}")
    chunk_rows: list[Row] = []
    texts: list[Row] = []
    compounds = [*find_compounds(data), (len(data), "")]
    compound = 0
    for symbol, start, end in split_chunks(data, declarations):
        inner_words: set[str] = set()
        while compounds[compound][0] < end:
            inner_words.add(compounds[compound][1])
            compound += 1
        title, text = split_words(names[symbol]) if symbol >= 0 else file_title, decode(data[start:end])
        has_meaning = symbol >= 0 or (
            has_grammar and language is not None and _comment_pattern(language).search(data, start, end)
        )
        chunk_rows.append(
            (symbol, start, end, hash_content(encode(make_embedding_text(title, text))) if has_meaning else b"")
        )
        texts.append((title, text, " ".join(sorted(inner_words))))
    return result._replace(
        language=language.id if language else "",
        symbols=[
            (
                n,
                declaration.parent,
                declaration.kind,
                declaration.name,
                name,
                *declaration[2:7],
                "\n".join(declaration.bases),
            )
            for n, (declaration, name) in enumerate(zip(declarations, names, strict=True))
        ],
        imports=[(n, *declaration) for n, declaration in enumerate(imports)],
        chunks=chunk_rows,
        texts=texts,
    )


@cache
def _comment_pattern(language: LanguageSpec) -> re.Pattern[bytes]:
    """Return a pattern for lines that begin with a comment, or in Python with a string that may be a docstring.

    Outside of declarations, only chunks with such a line get a vector: imports would be similar to many texts and say
    little.
    """
    documentation = language.declarations.documentation
    has_docstrings = documentation is not None and documentation.is_inside
    comment_starts = [re.escape(language.comment or "#"), r"/\*", *(["[rR]?[\"']"] if has_docstrings else [])]
    return re.compile(rf"(?m)^[ \t]*(?:{'|'.join(comment_starts)})".encode())


def replace_invalid_utf8(data: bytes) -> bytes:
    """Return the same number of bytes, with a question mark for each byte that is not valid UTF-8 and cannot be
    stored as text."""
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode("utf-8", "lsp_harness.marked").encode()
    return data


def _question_marks(error: UnicodeError) -> tuple[str, int]:
    if isinstance(error, UnicodeDecodeError):
        return "?" * (error.end - error.start), error.end
    raise error


codecs.register_error("lsp_harness.marked", _question_marks)


def mask_secrets(data: bytes) -> bytes:
    """Return the same number of bytes and lines, with spaces in place of secrets."""
    for start, end in find_secrets(data):
        mask = b"".join(b"\n" if byte == 10 else b" " for byte in data[start:end])
        data = data[:start] + mask + data[end:]
    return data
