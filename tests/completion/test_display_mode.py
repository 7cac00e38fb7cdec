"""The display mode at a cursor: one line, a block, or a line above."""

import pytest

from lsp_harness.completion.rules.ghost_text import choose_display_mode


def check(source: str, language: str = "python") -> str:
    prefix, suffix = source.split("<|>")
    return choose_display_mode(prefix, suffix, language)


@pytest.mark.parametrize(
    ("source", "language"),
    [
        ("foo(<|>)\n", "python"),
        ("def f(x):\n    y = 1\n    <|>\n    return y\n", "python"),
        ("def f(x):\n    if <|>:\n        return 1\n", "python"),
        ("def f(x):\n    if x:<|>\n        return 1\n", "python"),
        ("return [\n    a,\n    <|>)\n", "python"),
        ("foo\n  <|>.bar()\n", "javascript"),
        ("x = 1\n<|>", "python"),
        ("def f(x):\n    y = 1\n    <|>\n\ndef g(x):\n", "python"),
        ("f(() => {\n  g();\n  <|>\n});\n", "javascript"),
        ("func f() {\r\n\tx()\r\n\t<|>\r\n\ty()\r\n}\r\n", "go"),
        ("", "python"),
    ],
)
def test_one_line_is_displayed(source: str, language: str) -> None:
    assert check(source or "<|>", language) == "line"


@pytest.mark.parametrize(
    ("source", "language"),
    [
        ("def f(x):\n    <|>", "python"),
        ("def f(x):\n    <|>\n\ndef g(x):\n    return 1\n", "python"),
        ("def f(x):<|>\n", "python"),
        ('def f(x):\n    """Say it."""\n    <|>\n\nx = 1\n', "python"),
        ("class A:\n    def f(self): # why\n        <|>\n    def g(self):\n", "python"),
        ("function f() {\n  <|>\n}\n", "javascript"),
        ("if (x) {\r\n\t<|>\r\n}\r\n", "typescript"),
        ("// sort the users by age\n<|>\n", "rust"),
        ("<ul>\n  <|>\n</ul>\n", "html"),
        ("function f()\n  <|>\nend\n", "lua"),
    ],
)
def test_a_block_is_displayed(source: str, language: str) -> None:
    assert check(source, language) == "block"


@pytest.mark.parametrize(
    ("source", "language"),
    [
        ("def f(x):\n<|>    return x\n", "python"),
        ("def f(x):\n    <|>return x\n", "python"),
        ("x = [\n<|>    1,\n]\n", "python"),
        ("if (x) {\n<|>}\n", "java"),
        ("foo\n<|>  .bar()\n", "javascript"),
        ("a {}\n<|>.b {}\n", "css"),
        ("<div>\n<|></div>\n", "html"),
    ],
)
def test_a_line_is_displayed_above_the_cursor(source: str, language: str) -> None:
    assert check(source, language) == "line-above"


def test_a_block_that_may_grow_gets_one_line() -> None:
    assert check("def f(x):\n    y = 1\n    <|>\n\ndef g(x):\n") == "line"
    assert check("def f(x):\n    y = 1\n    <|>\n    return y\n") == "line"
