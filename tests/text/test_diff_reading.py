"""The parts of unified diffs."""

from hypothesis import given
from hypothesis import strategies as st

from lsp_harness.text.diff_reading import read_diff
from lsp_harness.text.edit import diff

LINES = st.lists(st.sampled_from(["-- a", "++ b", "--- a/x", "+++ b/x", "@@ -1 +1 @@", "\\ no", "", "same", "other"]))
"""Lines of a text that look like those of a diff."""


def join_lines(lines: list[str], has_end: bool) -> bytes:
    return ("\n".join(lines) + ("\n" if has_end else "")).encode()


@given(old=LINES, new=LINES, old_has_end=st.booleans(), new_has_end=st.booleans())
def test_the_parts_have_both_texts(old: list[str], new: list[str], old_has_end: bool, new_has_end: bool):
    before, after = join_lines(old, old_has_end), join_lines(new, new_has_end)
    parts = [*read_diff(diff(before, after, "src/a.py", context=100))]
    if before != after:
        [part] = parts
        assert (part.path, part.old.encode(), part.new.encode()) == ("src/a.py", before, after)


def test_each_part_of_a_diff_has_its_file_and_its_line():
    old = "".join(f"{number}\n" for number in range(100))
    changed = old.replace("5\n", "++ b\n", 1).replace("\n90\n", "\n-- a\n")
    shown = diff(old.encode(), changed.encode(), "a.sql") + diff(b"", b"x\n", "b.py")
    assert [(part.path, part.line) for part in read_diff(shown)] == [("a.sql", 3), ("a.sql", 88), ("b.py", 0)]
