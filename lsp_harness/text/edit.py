"""Replacements of byte ranges, and the smallest set of them between two texts."""

import re
from collections import Counter
from collections.abc import Hashable, Sequence
from difflib import SequenceMatcher, unified_diff
from typing import AnyStr, NamedTuple

from lsp_harness.errors import UsageError
from lsp_harness.text.position import decode

MAX_COMPARED_PAIRS = 2_000_000
"""Pairs of equal lines or tokens of two texts that are compared one by one: ten thousand empty lines make a hundred million."""


class Edit(NamedTuple):
    """Replace the bytes from `start` up to `end` with `new`."""

    start: int
    end: int
    new: bytes


def apply(data: bytes, edits: Sequence[Edit]) -> bytes:
    """All edits at once; offsets are those of `data`, so edits must not overlap."""
    out: list[bytes] = []
    at = 0
    for edit in sorted(edits, key=lambda e: (e.start, e.end)):
        if edit.start < at or edit.end < edit.start or edit.end > len(data):
            raise UsageError(f"edit {edit.start}-{edit.end} overlaps another or lies outside the text")
        out += (data[at : edit.start], edit.new)
        at = edit.end
    out.append(data[at:])
    return b"".join(out)


def invert(data: bytes, edits: Sequence[Edit]) -> list[Edit]:
    """The edits that turn `apply(data, edits)` back into `data`."""
    shift = 0
    back: list[Edit] = []
    for edit in sorted(edits, key=lambda e: (e.start, e.end)):
        start = edit.start + shift
        back.append(Edit(start, start + len(edit.new), data[edit.start : edit.end]))
        shift += len(edit.new) - (edit.end - edit.start)
    return back


def line_edits(old: bytes, new: bytes) -> list[Edit]:
    """Line-wise edits from `old` to `new`: what a person would call the changed lines."""
    a, b = old.splitlines(keepends=True), new.splitlines(keepends=True)
    at = [0]
    for line in a:
        at.append(at[-1] + len(line))
    return [Edit(at[i1], at[i2], b"".join(b[j1:j2])) for i1, i2, j1, j2 in differences(a, b)]


def differences(a: Sequence[Hashable], b: Sequence[Hashable]) -> list[tuple[int, int, int, int]]:
    """The runs of `a` that runs of `b` took the place of: begin and end in `a`, begin and end in `b`.

    What both begin and end with is left aside first. What remains is one run where it repeats itself so often that to compare it
    would take seconds.
    """
    head = next((n for n, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))
    most = min(len(a), len(b)) - head
    tail = next((n for n in range(most) if a[-1 - n] != b[-1 - n]), most)
    a, b = a[head : len(a) - tail], b[head : len(b) - tail]
    counts = Counter(b)
    if sum(counts[one] for one in a) > MAX_COMPARED_PAIRS:
        return [(head, head + len(a), head, head + len(b))]
    return [
        (head + i1, head + i2, head + j1, head + j2)
        for tag, i1, i2, j1, j2 in SequenceMatcher(None, a, b, autojunk=False).get_opcodes()
        if tag != "equal"
    ]


def common_prefix_and_suffix(old: bytes, new: bytes) -> tuple[int, int]:
    """How many bytes two texts have in common at their beginning, and of the rest at their end."""
    start = common_prefix_length(old, new)
    return start, common_prefix_length(old[start:][::-1], new[start:][::-1])


def common_prefix_length(a: AnyStr, b: AnyStr) -> int:
    """With how many bytes or characters both begin, in a few comparisons: the texts may be whole files."""
    low, high = 0, min(len(a), len(b))
    while low < high:
        middle = (low + high + 1) // 2
        if a[low:middle] == b[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def diff(old: bytes, new: bytes, path: str, *, context: int = 3) -> str:
    """A unified diff for reading, with `a/` and `b/` names."""
    lines = unified_diff(
        _patch_lines(old),
        _patch_lines(new),
        f"a/{path}",
        f"b/{path}",
        n=context,
    )
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)


def _patch_lines(data: bytes) -> list[str]:
    """Lines as `patch` knows them: they end at `\\n` and nowhere else."""
    return re.findall(r"[^\n]*\n|[^\n]+", decode(data))


def changed_size(old: bytes, new: bytes) -> int:
    """Bytes removed plus bytes added: how `shortest diff` is measured."""
    return sum(edit.end - edit.start + len(edit.new) for edit in line_edits(old, new))
