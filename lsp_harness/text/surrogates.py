"""Halves of surrogate pairs in a text. JSON can carry one alone (`"\\ud83d"`), and so can a document; UTF-8 has no bytes for it.

Positions count it as a character. So a document keeps it, and only what leaves the process for a program that takes UTF-8 is
made `scalar`.
"""

import re
from collections import defaultdict

_ANY = re.compile("[\ud800-\udfff]")
_HALF = re.compile(rb"\xed[\xa0-\xbf][\x80-\xbf]")
"""The bytes that a document has for a half."""
_MARK = "\ufffd".encode()
_MARKED = re.compile(rb"\xed[\xa0-\xbf][\x80-\xbf]|\xef\xbf\xbd")


def has_surrogates(text: str) -> bool:
    """Whether a text has what UTF-8 cannot express."""
    return _ANY.search(text) is not None


def to_scalar_text(text: str) -> str:
    """The text with each pair of halves as the one character that they are, and each lone half as U+FFFD."""
    if not has_surrogates(text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def to_valid_utf8(data: bytes) -> bytes:
    """The bytes of a document for a program that takes UTF-8: U+FFFD for each half, which has as many bytes, so that every
    position means the same in both."""
    return _HALF.sub(_MARK, data)


def restore_surrogates(new: bytes, old: bytes) -> bytes:
    """What a program that has seen `wellformed(old)` writes in its place, with the halves that were there.

    A line that is an old one has what that has; in the others the marks stand for those of `old` in their order, unless one was
    added or left out, when nobody knows which is which.
    """
    if _MARK not in new or not _HALF.search(old):
        return new
    lines: defaultdict[bytes, list[bytes]] = defaultdict(list)
    for line in old.splitlines():
        lines[to_valid_utf8(line)].append(line)
    found = [lines[line].pop(0) + end if lines[line] else line + end for line, end in _with_ends(new)]
    taken, there = b"".join(found), _MARKED.findall(old)
    if len(_MARKED.findall(taken)) != len(there):
        return taken
    marks = iter(there)
    return _MARKED.sub(lambda _: next(marks), taken)


def _with_ends(data: bytes) -> list[tuple[bytes, bytes]]:
    """Lines, each with what ends it."""
    return [(bare, line[len(bare) :]) for line in data.splitlines(keepends=True) for bare in line.splitlines()]
