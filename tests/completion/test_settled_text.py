"""Tests of the point at which the generation can be stopped."""

import pytest

from lsp_harness.completion.rules.ghost_text import Ghost, choose_display_mode
from lsp_harness.completion.rules.shaping import is_settled


def check(source: str, text: str, *, language: str = "python") -> bool:
    prefix, suffix = source.split("<|>")
    return is_settled(Ghost(prefix, suffix, text, choose_display_mode(prefix, suffix, language), language))


LINE = "def f(x):\n    y = <|>\n    return y\n"
BLOCK = "def f(x):\n    <|>\n\ndef g(x):\n    return 1\n"
ABOVE = "def f(x):\n<|>    return x\n"
CALL = "foo(a<|>)\n"


@pytest.mark.parametrize(
    ("source", "text"),
    [
        (LINE, "x + 1\n"),
        (LINE, "\n"),
        (LINE, "1<|endoftext|>"),
        (ABOVE, "    y = 1\n"),
        (BLOCK, "y = 1\n    return y\n\nd"),
        (BLOCK, "y = 1\n\ndef g(x):\n"),
        (BLOCK, "y()\n    y()\n    y()\n"),
        (BLOCK, "".join(f"    a{i} = {i}\n" for i in range(9)).lstrip()),
        (CALL, ", b)"),
    ],
)
def test_a_complete_text_is_enough(source: str, text: str) -> None:
    assert check(source, text)


@pytest.mark.parametrize(
    ("source", "text"),
    [
        (LINE, ""),
        (LINE, "x + 1"),
        (LINE.replace("y = ", ""), "# TODO"),
        (ABOVE, "\n\n"),
        (BLOCK, "y = 1\n"),
        (BLOCK, "y = 1\n  "),
        (BLOCK, "y = 1\n    return y"),
        (BLOCK, "```python\n"),
        (BLOCK, "Here is the completed code:\n"),
        (BLOCK, "```python\ny = 1\n``"),
        (CALL, ", b"),
        (CALL, "(b)"),
    ],
)
def test_an_incomplete_text_is_not_enough(source: str, text: str) -> None:
    assert not check(source, text)
