"""A change: the text before, the text after, and the ranges that it touches."""

from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from lsp_harness.text.document import Document
from lsp_harness.text.edit import Edit, apply
from lsp_harness.verify.change import Change

FILE = Path("/a.py")
many = settings(max_examples=150, deadline=None)


@st.composite
def draw_change(draw: st.DrawFn) -> Change:
    """Draw a change of up to four places."""
    old, edits = b"", list[Edit]()
    for _ in range(draw(st.integers(0, 4))):
        common, removed, new = (draw(st.binary(max_size=3)) for _ in range(3))
        old += common
        edits.append(Edit(len(old), len(old) + len(removed), new))
        old += removed
    return Change.from_edits(Document.from_text("file:///a.py", old + draw(st.binary(max_size=3))), edits, FILE)


@many
@given(draw_change(), st.data())
def test_a_range_is_touched_exactly_if_a_change_is_in_or_beside_it(change: Change, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(change.after.data)))
    end = data.draw(st.integers(start, len(change.after.data)))
    places = []
    for number, edit in enumerate(change.edits):
        # every edit on its own: what stands before it in the new text
        at = len(apply(change.before.data[: edit.start], change.edits[:number]))
        places.append((at, at + len(edit.new)))
    assert change.touches(start, end) is any(max(start, a) <= min(end, b) for a, b in places)


@many
@given(st.text(max_size=12), st.text(max_size=12))
def test_the_edits_of_a_change_turn_one_text_into_the_other(before: str, after: str) -> None:
    old, new = Document.from_text("file:///a.py", before), Document.from_text("file:///a.py", after)
    change = Change.from_documents(old, new, FILE)
    assert apply(old.data, change.edits) == new.data
    assert (change.before, change.after) == (old, new)


def test_adjacent_edits_of_a_change_give_the_checked_text() -> None:
    old = Document.from_text("file:///a.py", "ab", language="python", version=4)
    change = Change.from_edits(old, [Edit(1, 1, b"2"), Edit(1, 1, b"1"), Edit(0, 1, b"")], FILE)
    assert change.after == Document.from_text("file:///a.py", "21b", language="python", version=4)
    assert apply(old.data, change.edits) == change.after.data


def test_the_new_lines_are_those_that_are_added_or_changed() -> None:
    old = Document.from_text("file:///a.py", "a\nb\nc\nd\n")
    # one edit that repeats most lines, as that of a whole function
    change = Change.from_edits(old, [Edit(0, 8, b"a\nB\nc\nx\ny")], FILE)
    assert change.new_lines == {2, 4, 5}
    assert Change.from_documents(old, Document.from_text(old.uri, "a\nd\n"), FILE).new_lines == frozenset()
