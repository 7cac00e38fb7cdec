"""Repairs of blocks of Python that are indented too little or too much."""

import pytest

from tests.coding.repair.requests import make_all_repairs, make_request

MESSAGE = "expected an indented block"
CASES = [
    (
        "the whole body of a method",
        "class A:\n    def f(self):\n<|>    m<|> = 1\n    if m:\n        m = 2\n\n    def g(self):\n        m\n",
        "class A:\n    def f(self):\n        m = 1\n        if m:\n            m = 2\n\n    def g(self):\n        m\n",
    ),
    (
        "all methods of a class",
        "class A:\n<|>def<|> f(self):\n    return 1\n\ndef g(self):\n    return 2\n",
        "class A:\n    def f(self):\n        return 1\n\n    def g(self):\n        return 2\n",
    ),
    (
        "tabs, a comment and a string of several lines",
        'class A:\n\tdef f(self):\n<|>\t"""One.<|>\n\nTwo.\n"""\n\t# three\n\tif self:\n\t\treturn 4\n\treturn 5\n',
        'class A:\n\tdef f(self):\n\t\t"""One.\n\nTwo.\n"""\n\t\t# three\n\t\tif self:\n\t\t\treturn 4\n\t\treturn 5\n',
    ),
    (
        "a block that is too deep",
        "def f(a):\n    b = a\n<|>        if<|> b:\n            return 1\n        return 2\n",
        "def f(a):\n    b = a\n    if b:\n        return 1\n    return 2\n",
    ),
]


@pytest.mark.parametrize(("title", "text", "expected"), CASES, ids=[case[0] for case in CASES])
async def test_all_lines_of_a_block_are_shifted(title: str, text: str, expected: str) -> None:
    repaired_text, repair = (await make_all_repairs(make_request("a.py", text, MESSAGE, "syntax")))[0]
    assert repaired_text == expected
    assert repair.kind == "block indentation"


async def test_the_end_of_a_loop_is_open() -> None:
    head = "def f(a):\n    for b in a:\n"
    text = f"{head}<|>    if<|> b:\n        a = 1\n    else:\n        a = 2\n    b = 3\n    return b\n"
    repairs = await make_all_repairs(make_request("a.py", text, MESSAGE, "syntax"))
    found = {repaired: repair.cost for repaired, repair in repairs if repair.kind == "block indentation"}
    one = "        if b:\n            a = 1\n        else:\n            a = 2\n"
    assert set(found) == {
        f"{head}{one}    b = 3\n    return b\n",
        f"{head}{one}        b = 3\n    return b\n",
        f"{head}{one}        b = 3\n        return b\n",
    }
    assert len(set(found.values())) == 1


async def test_a_header_without_a_block_gets_no_other_lines() -> None:
    text = "def f(a):\n    for b in a:\n<|>return<|> 1\n"
    repairs = await make_all_repairs(make_request("a.py", text, MESSAGE, "syntax"))
    assert not [repair for _, repair in repairs if repair.kind == "block indentation"]
