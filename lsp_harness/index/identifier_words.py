"""Words of identifiers, for full-text search.

SQLite's tokenizer splits `parse_config` itself, but takes `parseConfig` and `HTTPServer` for one word each.
"""

import re
from collections.abc import Iterator
from functools import lru_cache

from lsp_harness.text.position import decode

DOTTED_NAME = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*")
"""An identifier with the identifiers before it and the dots between them."""
_WORD_BOUNDARY = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_LETTER_CLASSES = bytes(
    ord("U")
    if chr(byte).isascii() and chr(byte).isupper()
    else ord("l")
    if chr(byte).isascii() and chr(byte).isalnum()
    else 32
    for byte in range(256)
)
"""The class of each byte: `U` for upper case, `l` for lower case and digits, a space for others."""
_INNER_WORDS = re.compile(rb"U(?:(?<=lU)|(?<=UU)(?=l))[lU]*")
"""The rest of a name from the start of its second word."""


class _SplitCache(dict[bytes, str]):
    """Split names by their bytes. A workspace repeats the same names."""

    def __missing__(self, name: bytes) -> str:
        split_name = self[name] = _WORD_BOUNDARY.sub(" ", decode(name))
        return split_name


_split_cache = _SplitCache()


def split_words(name: str) -> str:
    """Return a name with spaces between its words: `HTTP Server parse All` for `HTTPServer.parseAll`."""
    return " ".join(map(_split_part, name.split(".")))


@lru_cache(maxsize=65_536)
def _split_part(name: str) -> str:
    return _WORD_BOUNDARY.sub(" ", name).replace("_", " ")


def find_compounds(data: bytes) -> Iterator[tuple[int, str]]:
    """Yield the byte offset and the words of each name that SQLite's tokenizer does not split, in order.

    The search runs over byte classes, which takes a fifth of the time that a search in the text takes.
    """
    shape = data.translate(_LETTER_CLASSES)
    for inner in _INNER_WORDS.finditer(shape):
        inner_start, end = inner.span()
        start = shape.rfind(b" ", 0, inner_start) + 1
        yield start, _split_cache[data[start:end]]
