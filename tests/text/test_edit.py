"""Edits: applied, found between two texts, and shown as a diff."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lsp_harness.errors import UsageError
from lsp_harness.text.edit import Edit, apply, changed_size, diff, line_edits
from lsp_harness.text.position import decode, encode
from tests.text.reference import texts

many = settings(max_examples=80, deadline=None)
data = texts.map(encode)


@st.composite
def draw_edited_text(draw: st.DrawFn) -> tuple[bytes, list[Edit], bytes]:
    """Draw a text, edits of it in any order, and the expected result."""
    old, edits, result = b"", list[Edit](), b""
    for _ in range(draw(st.integers(0, 4))):
        common, removed, new = draw(data), draw(data), draw(data)
        old += common
        edits.append(Edit(len(old), len(old) + len(removed), new))
        old += removed
        result += common + new
    common = draw(data)
    return old + common, draw(st.permutations(edits)) if _are_apart(edits) else edits, result + common


def _are_apart(edits: list[Edit]) -> bool:
    return len({edit.start for edit in edits}) == len(edits)


@many
@given(draw_edited_text())
def test_edits_are_applied_all_at_once_in_any_order(case: tuple[bytes, list[Edit], bytes]) -> None:
    old, edits, expected = case
    assert apply(old, edits) == expected


@many
@given(data, data)
def test_line_edits_turn_one_text_into_the_other(old: bytes, new: bytes) -> None:
    edits = line_edits(old, new)
    assert apply(old, edits) == new
    assert edits == sorted(edits)
    assert (edits == []) is (old == new)
    edges = {0, len(old), *(m.end() for m in re.finditer(rb"\r\n|\n|\r", old))}
    assert all(edit.start in edges and edit.end in edges for edit in edits)


@many
@given(data, data)
def test_the_size_of_a_change_is_zero_only_without_a_change(old: bytes, new: bytes) -> None:
    assert (changed_size(old, new) == 0) is (old == new)
    assert changed_size(old, new) == changed_size(new, old) <= len(old) + len(new)


@pytest.mark.parametrize("edits", [[(0, 2), (1, 3)], [(2, 1)], [(3, 9)], [(-1, 0)], [(0, 3), (0, 3)]])
def test_edits_that_overlap_or_lie_outside_are_refused(edits: list[tuple[int, int]]) -> None:
    with pytest.raises(UsageError, match="overlaps another or lies outside the text"):
        apply(b"abc", [Edit(start, end, b"x") for start, end in edits])


def test_insertions_at_one_place_keep_their_order() -> None:
    assert apply(b"ab", [Edit(1, 1, b"2"), Edit(1, 1, b"1"), Edit(0, 0, b"0")]) == b"0a21b"


def apply_patch(old: str, patch: str) -> str:
    """Apply a unified diff to a text. This is a minimal implementation."""
    lines = re.findall(r"[^\n]*\n|[^\n]+", old)
    out: list[str] = []
    at = 0
    rows = re.findall(r"[^\n]*\n|[^\n]+", patch)[2:]
    for number, row in enumerate(rows):
        if header := re.match(r"@@ -(\d+)(?:,(\d+))? \+\d+(?:,\d+)? @@", row):
            start = int(header[1]) - (header[2] != "0")
            out += lines[at:start]
            at = start
        elif not row.startswith("\\"):
            text = row[1:-1] if rows[number + 1 : number + 2] == ["\\ No newline at end of file\n"] else row[1:]
            if row[0] in " -":
                assert lines[at] == text
                at += 1
            out += [text] * (row[0] in " +")
    return "".join([*out, *lines[at:]])


@many
@given(texts, texts, st.integers(0, 3))
def test_a_diff_can_be_applied_as_a_patch(old: str, new: str, context: int) -> None:
    assert apply_patch(old, diff(encode(old), encode(new), "a.py", context=context)) == new


def test_a_diff_without_changes_is_empty_and_another_diff_names_the_file() -> None:
    assert diff(b"a\n", b"a\n", "src/a.py") == ""
    assert diff(b"a\nb\n", b"a\nc", "src/a.py") == (
        "--- a/src/a.py\n+++ b/src/a.py\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n\\ No newline at end of file\n"
    )


def test_odd_separators_do_not_break_a_line_of_a_diff() -> None:
    patch = diff("a\x0cb\u2028c\n".encode(), "a\x0cb\u2028d\n".encode(), "a.py")
    assert patch == "--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-a\x0cb\u2028c\n+a\x0cb\u2028d\n"
    assert decode(b"\xed\xa0\xbd") == "\ud83d"
