"""Replacements of byte ranges, and the smallest set of them between two texts."""

import re
from collections import Counter
from collections.abc import Hashable, Sequence
from difflib import SequenceMatcher, unified_diff
from typing import AnyStr, NamedTuple

from lsp_harness.errors import UsageError
from lsp_harness.text.position import decode

MAX_COMPARED_PAIRS = 2_000_000
"""Maximum number of pairs of equal lines of two texts. 10,000 empty lines in each text make 100 million pairs."""


class Edit(NamedTuple):
    """A replacement of the bytes from `start` up to `end` with `new`."""

    start: int
    end: int
    new: bytes


def apply(data: bytes, edits: Sequence[Edit]) -> bytes:
    """Return `data` with all edits applied. All offsets are offsets in `data`. Raises UsageError if edits overlap."""
    parts: list[bytes] = []
    position = 0
    for edit in sorted(edits, key=lambda e: (e.start, e.end)):
        if edit.start < position or edit.end < edit.start or edit.end > len(data):
            raise UsageError(f"edit {edit.start}-{edit.end} overlaps another or lies outside the text")
        parts += (data[position : edit.start], edit.new)
        position = edit.end
    parts.append(data[position:])
    return b"".join(parts)


def line_edits(old: bytes, new: bytes) -> list[Edit]:
    """Return edits of whole lines that turn `old` into `new`."""
    a, b = old.splitlines(keepends=True), new.splitlines(keepends=True)
    offsets = [0]
    for line in a:
        offsets.append(offsets[-1] + len(line))
    return [Edit(offsets[i1], offsets[i2], b"".join(b[j1:j2])) for i1, i2, j1, j2 in differences(a, b)]


def differences(a: Sequence[Hashable], b: Sequence[Hashable]) -> list[tuple[int, int, int, int]]:
    """Return the runs of `a` that runs of `b` replace.

    The common beginning and end are removed first. If the rest has more than `MAX_COMPARED_PAIRS` equal pairs, it is
    returned as one run, because a comparison would take seconds.

    Returns:
        For each run its begin and end in `a`, and its begin and end in `b`.
    """
    head = next((n for n, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))
    max_tail = min(len(a), len(b)) - head
    tail = next((n for n in range(max_tail) if a[-1 - n] != b[-1 - n]), max_tail)
    a, b = a[head : len(a) - tail], b[head : len(b) - tail]
    counts = Counter(b)
    if sum(counts[item] for item in a) > MAX_COMPARED_PAIRS:
        return [(head, head + len(a), head, head + len(b))]
    return [
        (head + i1, head + i2, head + j1, head + j2)
        for tag, i1, i2, j1, j2 in SequenceMatcher(None, a, b, autojunk=False).get_opcodes()
        if tag != "equal"
    ]


def common_prefix_and_suffix(old: bytes, new: bytes) -> tuple[int, int]:
    """Return the length in bytes of the common beginning of two texts, and of the common end of the rest."""
    start = common_prefix_length(old, new)
    return start, common_prefix_length(old[start:][::-1], new[start:][::-1])


def common_prefix_length(a: AnyStr, b: AnyStr) -> int:
    """Return the length of the common beginning. It is found by bisection, because the texts may be whole files."""
    low, high = 0, min(len(a), len(b))
    while low < high:
        middle = (low + high + 1) // 2
        if a[low:middle] == b[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def diff(old: bytes, new: bytes, path: str, *, context: int = 3, is_new: bool = False) -> str:
    """Return a unified diff with `a/` and `b/` names. A new file has no old name."""
    lines = unified_diff(
        _patch_lines(old),
        _patch_lines(new),
        "/dev/null" if is_new else f"a/{path}",
        f"b/{path}",
        n=context,
    )
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)


def _patch_lines(data: bytes) -> list[str]:
    """Split a text into lines as `patch` does: only `\\n` ends a line."""
    return re.findall(r"[^\n]*\n|[^\n]+", decode(data))


def changed_size(old: bytes, new: bytes) -> int:
    """Return the number of removed bytes plus the number of added bytes."""
    return sum(edit.end - edit.start + len(edit.new) for edit in line_edits(old, new))
