"""Identifiers as the words they are made of, for full text search.

SQLite's tokenizer takes `parse_config` apart itself; `parseConfig` and `HTTPServer` it takes for one word each.
"""

import re
from collections.abc import Iterator
from functools import lru_cache

from lsp_harness.text.position import decode

DOTTED_NAME = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*")
"""A name, with those before it and the dots between."""
_WORD_BOUNDARY = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_LETTER_CLASSES = bytes(
    ord("U")
    if chr(byte).isascii() and chr(byte).isupper()
    else ord("l")
    if chr(byte).isascii() and chr(byte).isalnum()
    else 32
    for byte in range(256)
)
"""Every byte as what it is in a name: upper case, lower case or a digit, or no part of a word."""
_INNER_WORDS = re.compile(rb"U(?:(?<=lU)|(?<=UU)(?=l))[lU]*")
"""What is left of a name from the first word on that begins within it."""


class _SplitCache(dict[bytes, str]):
    """Remembers what it has split: a workspace says the same names over and over."""

    def __missing__(self, name: bytes) -> str:
        split_name = self[name] = _WORD_BOUNDARY.sub(" ", decode(name))
        return split_name


_split_cache = _SplitCache()


def split_words(name: str) -> str:
    """A name with spaces where its words meet: `HTTPServer.parseAll` is `HTTP Server parse All`."""
    return " ".join(map(_split_part, name.split(".")))


@lru_cache(maxsize=65_536)
def _split_part(name: str) -> str:
    return _WORD_BOUNDARY.sub(" ", name).replace("_", " ")


def find_compounds(data: bytes) -> Iterator[tuple[int, str]]:
    """Where in a text names are that are not taken apart otherwise, in order, and their words.

    To look for them in the text itself takes a quarter of the time of parsing, this a twentieth.
    """
    shape = data.translate(_LETTER_CLASSES)
    for inner in _INNER_WORDS.finditer(shape):
        inner_start, end = inner.span()
        start = shape.rfind(b" ", 0, inner_start) + 1
        yield start, _split_cache[data[start:end]]
