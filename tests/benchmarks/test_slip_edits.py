"""Planted bugs are one slip each, are programs, and include lost statements."""

import ast

from benchmarks.slip_edits import find_slips
from benchmarks.source_edits import Source

TEXT = b'''def pick(items, low, high):
    """Say what is picked."""
    total = 0
    for item in items[low:high]:
        if item <= low and not item.empty:
            total += weigh(item, len(items))
    total = total - 1
    return abs(total)
'''


def list_bugs() -> dict[str, list[str]]:
    """Return kind → the texts with a bug of this kind."""
    found: dict[str, list[str]] = {}
    for edit in find_slips(Source("code.py", TEXT)):
        found.setdefault(edit.kind, []).append(edit.apply(TEXT).decode())
    return found


def test_each_bug_is_another_program() -> None:
    for texts in list_bugs().values():
        for text in texts:
            assert ast.dump(ast.parse(text)) != ast.dump(ast.parse(TEXT))


def test_a_bug_is_a_slip_of_one_kind() -> None:
    bugs = list_bugs()
    right = TEXT.decode()
    assert right.replace("item <= low", "item < low") in bugs["boundary"]
    assert right.replace("(item, len(items))", "(len(items), item)") in bugs["argument order"]
    assert right.replace("return abs", "abs") in bugs["lost return"]
    assert right.replace("total = total - 1\n", "pass\n") in bugs["lost statement"]
    assert right.replace("len(items))", "items)") in bugs["lost call"]
    assert right.replace("not item.empty", "item.empty") in bugs["sign or not"]
