"""What the index keeps of one file: a pure function of its bytes, run in processes of their own as parsing holds the GIL."""

import codecs
import re
from collections.abc import Sequence
from functools import cache
from hashlib import blake2b
from pathlib import PurePosixPath
from typing import NamedTuple

from lsp_harness.files.secrets import spans
from lsp_harness.files.walk import Found
from lsp_harness.index.build.chunks import chunks
from lsp_harness.index.identifier_words import compounds, words
from lsp_harness.syntax.symbols import tag_queries
from lsp_harness.syntax.parse_budget import ParseBudgetExceeded
from lsp_harness.syntax.symbols.declarations import qualified_names
from lsp_harness.syntax.symbols.declared_text import read_declarations
from lsp_harness.syntax.languages import Language, language_for
from lsp_harness.syntax.parse_budget import MAX_TEXT_BYTES
from lsp_harness.text.position import decode, encode

DATA_LIMIT = 200_000
"""Bytes of a file that declares nothing we know; more is rarely written by people."""

Row = tuple[int | str | bytes, ...]


class Extract(NamedTuple):
    """A file as the index has it: rows of the tables without the file's id. `skipped` says why there are none.

    They are plain tuples because they come from another process, and to pickle objects costs more than to make them.
    """

    found: Found
    digest: bytes
    language: str = ""
    skipped: str = ""
    symbols: Sequence[Row] = ()
    """(n, parent, kind, name, qualified, start, end, named, body, line, bases)"""
    imports: Sequence[Row] = ()
    """(n, module, name, alias, start)"""
    chunks: Sequence[Row] = ()
    """(symbol, start, end, digest of what a vector is made of)"""
    texts: Sequence[Row] = ()
    """(names, text, words) of each chunk: what it is called, what it says, and what the names in it are made of."""


def embedded(names: str, text: str) -> str:
    """What a vector of a chunk is made of."""
    return f"{names}\n{text}"


def digest(data: bytes) -> bytes:
    return blake2b(data, digest_size=16).digest()


def extract(found: Found, data: bytes) -> Extract:
    """What there is to know of a file. Where a secret is in it there are spaces."""
    made = Extract(found, digest(data))
    if b"\0" in data[:8192]:
        return made._replace(skipped="binary")
    language = language_for("", found.path)
    known = language is not None and tag_queries.declaration_source(language) != "lines"
    if len(data) > (MAX_TEXT_BYTES if known else DATA_LIMIT):
        return made._replace(skipped=f"larger than {(MAX_TEXT_BYTES if known else DATA_LIMIT) // 1000} kB")
    data = without_secrets(sound(data))
    try:
        declarations, imports = read_declarations(language, data) if language and known else ([], [])
    except ParseBudgetExceeded as error:
        return made._replace(skipped=f"no syntax tree: {error}")
    names = qualified_names(declarations)
    path = PurePosixPath(found.path)
    rest = words(f"{path.parent.name} {path.stem}")
    cut: list[Row] = []
    texts: list[Row] = []
    joined = [*compounds(data), (len(data), "")]
    at = 0
    for symbol, start, end in chunks(data, declarations):
        inside: set[str] = set()
        while joined[at][0] < end:
            inside.add(joined[at][1])
            at += 1
        title, text = words(names[symbol]) if symbol >= 0 else rest, decode(data[start:end])
        telling = symbol >= 0 or (known and language is not None and _remarks(language).search(data, start, end))
        cut.append((symbol, start, end, digest(encode(embedded(title, text))) if telling else b""))
        texts.append((title, text, " ".join(sorted(inside))))
    return made._replace(
        language=language.id if language else "",
        symbols=[
            (n, it.parent, it.kind, it.name, name, *it[2:7], "\n".join(it.bases))
            for n, (it, name) in enumerate(zip(declarations, names, strict=True))
        ],
        imports=[(n, *it) for n, it in enumerate(imports)],
        chunks=cut,
        texts=texts,
    )


@cache
def _remarks(language: Language) -> re.Pattern[bytes]:
    """Where a line begins with a comment, or in Python with a text that stands for one: of what is in no declaration only that has a
    vector, as imports and the like would be near to much and say little."""
    begins = [re.escape(language.comment or "#"), r"/\*", *(["[rR]?[\"']"] if language.id == "python" else [])]
    return re.compile(rf"(?m)^[ \t]*(?:{'|'.join(begins)})".encode())


def sound(data: bytes) -> bytes:
    """The same number of bytes, with a question mark for each that is not UTF-8: what cannot be stored as text."""
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode("utf-8", "lsp_harness.marked").encode()
    return data


def _marked(error: UnicodeError) -> tuple[str, int]:
    if isinstance(error, UnicodeDecodeError):
        return "?" * (error.end - error.start), error.end
    raise error


codecs.register_error("lsp_harness.marked", _marked)


def without_secrets(data: bytes) -> bytes:
    """The same number of bytes and lines, with spaces where a secret is."""
    for start, end in spans(data):
        kept = b"".join(b"\n" if byte == 10 else b" " for byte in data[start:end])
        data = data[:start] + kept + data[end:]
    return data
