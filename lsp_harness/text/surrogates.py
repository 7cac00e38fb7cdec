"""Halves of surrogate pairs in a text. JSON can carry a half alone (`"\\ud83d"`), and so can a document, but UTF-8
cannot express it.

Client positions count a half as a character, so a document keeps it. Only a text that leaves the process for a program
that reads UTF-8 is converted.
"""

import re
from collections import defaultdict
from collections.abc import Mapping
from typing import Any, cast

_SURROGATE = re.compile("[\ud800-\udfff]")
_ENCODED_HALF = re.compile(rb"\xed[\xa0-\xbf][\x80-\xbf]")
"""The bytes that a document has for a half."""
_REPLACEMENT = "\ufffd".encode()
_ESCAPE = re.compile(
    rb"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[dD][89a-fA-F][0-9a-fA-F]{2}|\\.", re.DOTALL
)
"""An escape in a JSON text: a pair of halves, a lone half, or another one."""
_LONE_HALF_CHARS = 6
_HALF_OR_REPLACEMENT = re.compile(rb"\xed[\xa0-\xbf][\x80-\xbf]|\xef\xbf\xbd")


def has_surrogates(text: str) -> bool:
    """Return whether a text has surrogates, which UTF-8 cannot express."""
    return _SURROGATE.search(text) is not None


def to_scalar_text(text: str) -> str:
    """Replace each pair of halves with its character, and each lone half with U+FFFD."""
    if not has_surrogates(text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def to_scalar_value(value: Any) -> Any:
    """Return a JSON value whose texts are all converted by `to_scalar_text`."""
    if isinstance(value, str):
        return to_scalar_text(value)
    if isinstance(value, Mapping):
        members = cast("Mapping[Any, Any]", value)
        return {to_scalar_value(name): to_scalar_value(member) for name, member in members.items()}
    if isinstance(value, list | tuple):
        return [to_scalar_value(item) for item in cast("list[Any]", value)]
    return value


def to_scalar_json(data: bytes) -> bytes:
    """Return a JSON text in valid UTF-8 in which each lone half, as bytes or as an escape, is U+FFFD."""
    try:
        data.decode()
    except UnicodeDecodeError:
        data = data.decode(errors="replace").encode()
    # a JSON text has hardly ever a half, and looking for one is quick
    if b"\\ud" not in data and b"\\uD" not in data:
        return data
    return _ESCAPE.sub(lambda found: _mend_escape(found[0]), data)


def _mend_escape(escape: bytes) -> bytes:
    return _REPLACEMENT if len(escape) == _LONE_HALF_CHARS else escape


def to_valid_utf8(data: bytes) -> bytes:
    """Replace each lone half of a surrogate pair in the bytes of a document with U+FFFD.

    A half and U+FFFD have three bytes each, so that all offsets stay the same.
    """
    return _ENCODED_HALF.sub(_REPLACEMENT, data)


def restore_surrogates(new: bytes, old: bytes) -> bytes:
    """Put the halves of `old` back into a text that another program made from `to_valid_utf8(old)`.

    A line that equals a line of `old` gets the halves of that line. In the other lines each U+FFFD becomes the next
    character of `old` that is a half or U+FFFD. If their numbers differ, the other lines stay as they are, because
    their order is not known.

    Args:
        new: The text that the program wrote.
        old: The bytes of the document that `new` replaces.
    """
    if _REPLACEMENT not in new or not _ENCODED_HALF.search(old):
        return new
    old_lines: defaultdict[bytes, list[bytes]] = defaultdict(list)
    for line in old.splitlines():
        old_lines[to_valid_utf8(line)].append(line)
    lines = [old_lines[line].pop(0) + end if old_lines[line] else line + end for line, end in _split_line_ends(new)]
    restored, old_marks = b"".join(lines), _HALF_OR_REPLACEMENT.findall(old)
    if len(_HALF_OR_REPLACEMENT.findall(restored)) != len(old_marks):
        return restored
    marks = iter(old_marks)
    return _HALF_OR_REPLACEMENT.sub(lambda _: next(marks), restored)


def _split_line_ends(data: bytes) -> list[tuple[bytes, bytes]]:
    """Return each line and its line end."""
    return [(bare, line[len(bare) :]) for line in data.splitlines(keepends=True) for bare in line.splitlines()]
