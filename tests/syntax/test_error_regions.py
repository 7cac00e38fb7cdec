"""Which errors of a text are new after an edit, in texts with many errors."""

import random

from lsp_harness.syntax.error_regions import Region, find_new_regions
from lsp_harness.syntax.parse_budget import BUDGET, Allowance
from lsp_harness.syntax.unfinished_code import adds_error
from lsp_harness.text.edit import Edit, differences, line_edits
from tests.syntax.markup import parse_tree

MANY = 20_000
"""So many that what compares each with each would not end before the test is given up."""


def do_regions_touch(data: bytes, a: Region, b: Region) -> bool:
    return not data[min(a.end, b.end) : max(a.start, b.start)].strip()


def compare_slowly(old: list[Region], new: list[Region], data: bytes) -> list[int]:
    """Compare each error with each other one, and return the guilty ones."""
    places, missing = [item for item in old if not item.token], [item for item in old if item.token]
    items: list[int] = []
    for index, region in enumerate(new):
        if any(do_regions_touch(data, region, place) for place in places):
            continue
        twin = next((item for item in missing if do_regions_touch(data, region, item)), None)
        if region.token and twin:
            missing.remove(twin)
        else:
            items.append(index)
    return items


def test_a_fast_search_finds_the_same_touching_errors():
    assert [seed for seed in range(200) if not has_equal_regions(seed)] == []


def has_equal_regions(seed: int) -> bool:
    """Return whether the fast search finds the new errors of a random text as the slow one does."""
    rng = random.Random(seed)
    data = bytes(rng.choices(b"ab \n\t", k=60))

    def regions(limit: int) -> list[Region]:
        places = [rng.randrange(55) for _ in range(rng.randint(0, limit))]
        results = [
            Region(at, at + rng.choice((0, 1, 4)), "") if rng.random() < 0.4 else Region(at, at, ")") for at in places
        ]
        return sorted(results)

    # errors that cover the whole text cannot grow
    old, new = [*regions(6)], regions(6)
    old += [Region(57, 58)] * 60
    new = [item for item in new if item.token or item.start == item.end]
    return find_new_regions(old, new, [], data) == compare_slowly(sorted(old), new, data)


def test_many_errors_are_compared_in_one_pass():
    data = b"a b\n" * MANY
    old = [Region(4 * n, 4 * n + 1, "") for n in range(MANY)] + [Region(4 * n + 2, 4 * n + 2, ")") for n in range(MANY)]
    assert find_new_regions(old, sorted(old), [], data) == []
    assert find_new_regions([], sorted(old), [], data) == list(range(2 * MANY))


def test_an_edit_between_conflict_markers_is_judged():
    part = "<<<<<<< HEAD\ndef f(a):\n    return a\n=======\ndef f(b):\n    return b\n>>>>>>> x\n"
    before = parse_tree("a.py", part * 400)
    at = len(part) * 200
    edit = Edit(at, at, b"x = 1\n")
    after = before.apply_edit(edit, Allowance(BUDGET.text_s))
    assert after is not None
    assert not adds_error(before, after, (at, at + len(edit.new)))


def test_texts_of_many_equal_lines_are_compared():
    lines = b"    0,\n" * MANY
    old, new = b"a\n" + lines + b"b\n" + lines + b"c\n", b"a\n" + lines + b"B\n" + lines + b"c\n"
    [edit] = line_edits(old, new)
    assert edit == Edit(2 + len(lines), 4 + len(lines), b"B\n")
    two = b"A\n" + lines + b"b\n" + lines + b"C\n"
    assert line_edits(old, two) == [Edit(0, len(old), two)]


def test_differences_are_listed_run_by_run():
    assert differences("abcdef", "abXdeYf") == [(2, 3, 2, 3), (5, 5, 5, 6)]
    assert differences("aaa", "aaaa") == [(3, 3, 3, 4)]
    assert differences("same", "same") == []
    assert differences("", "new") == [(0, 0, 0, 3)]
