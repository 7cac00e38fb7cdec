"""Tests of a list whose end is moved, compared with an ordinary list."""

from bisect import bisect_right

from hypothesis import given
from hypothesis import strategies as st

from lsp_harness.text.shifted_offsets import ShiftedOffsets

moves = st.lists(st.tuples(st.integers(0, 12), st.integers(-3, 9)), max_size=8)


@given(st.lists(st.integers(0, 9), max_size=12), moves)
def test_moved_as_a_plain_list_is(steps: list[int], shifts: list[tuple[int, int]]):
    plain = [sum(steps[: n + 1]) * 4 for n in range(len(steps))]
    result = ShiftedOffsets(list(plain))
    for start, by in shifts:
        start = min(start, len(plain))
        before, was = result, list(plain)
        if start < len(plain) and start and plain[start] + by < plain[start - 1]:
            continue
        plain[start:] = [value + by for value in plain[start:]]
        result = result.shift_from(start, by)
        assert list(before) == was
    assert list(result) == plain
    assert [result[n] for n in range(-len(plain), len(plain))] == plain * 2
    assert [result[a:b] for a in range(len(plain) + 1) for b in range(a, len(plain) + 2)] == [
        plain[a:b] for a in range(len(plain) + 1) for b in range(a, len(plain) + 2)
    ]
    assert result[::-2] == plain[::-2]
    assert [result.count_up_to(value) for value in range(-2, 200)] == [
        bisect_right(plain, value) for value in range(-2, 200)
    ]


@given(st.lists(st.integers(), max_size=9), st.lists(st.integers(), max_size=4), st.data())
def test_a_part_that_is_replaced(plain: list[int], new: list[int], data: st.DataObject):
    moved, start = data.draw(st.integers(0, len(plain))), data.draw(st.integers(0, len(plain)))
    end = data.draw(st.integers(start, len(plain)))
    before = ShiftedOffsets(list(plain)).shift_from(moved, 7)
    plain[moved:] = [value + 7 for value in plain[moved:]]
    assert list(before.replace_range(start, end, new, -3)) == [
        *plain[:start],
        *new,
        *(value - 3 for value in plain[end:]),
    ]
    assert list(before) == plain
