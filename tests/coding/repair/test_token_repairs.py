"""Tests of the repairs of syntax errors for a finding."""

import pytest

from lsp_harness.coding.repair.repair_sources import MAX_REPAIRS, repair_tokens
from tests.coding.repair.requests import make_all_repairs, make_request

CASES = [
    # the finding may be of ruff, of a compiler, or of the product itself, and before or behind the fault
    (
        "a.py",
        "def f(a)<|><|>\n    return a\n",
        "SyntaxError: Expected `:`, found newline",
        "invalid-syntax",
        "missing token",
        "def f(a):\n    return a\n",
    ),
    ("a.py", "x = f(1))<|><|>\n", "unmatched ')'", "syntax", "extra token", "x = f(1)\n"),
    ("a.py", "if x <|>=<|> 1:\n    y = 2\n", "invalid syntax", "syntax", "wrong token", "if x == 1:\n    y = 2\n"),
    (
        "a.py",
        "def f():\n<|>return 1<|>\n",
        "expected an indented block",
        "syntax",
        "indentation",
        "def f():\n    return 1\n",
    ),
    (
        "a.go",
        "package a\n\nfunc f() {\n\tg(1<|><|>\n}\n",
        "missing `)`",
        "syntax",
        "missing token",
        "package a\n\nfunc f() {\n\tg(1)\n}\n",
    ),
    (
        "a.ts",
        "interface P {\n  name <|>string<|>;\n  age: number;\n}\n",
        "';' expected.",
        "syntax",
        "missing token",
        "interface P {\n  name: string;\n  age: number;\n}\n",
    ),
    (
        "a.rb",
        "def f(x)\n  puts x<|><|>\n",
        "unexpected end-of-input",
        "syntax",
        "missing token",
        "def f(x)\n  puts x\nend\n",
    ),
]


@pytest.mark.parametrize(("path", "text", "message", "code", "kind", "expected"), CASES)
async def test_the_most_likely_token_is_the_first_repair(
    path: str, text: str, message: str, code: str, kind: str, expected: str
) -> None:
    repaired_text, repair = (await make_all_repairs(make_request(path, text, message, code)))[0]
    assert repaired_text == expected
    assert repair.kind == kind


async def test_only_a_syntax_error_is_repaired_by_a_token() -> None:
    assert await repair_tokens(make_request("a.py", "x = <|>vlaue<|>\n", "Undefined name `vlaue`", "F821")) == []


async def test_a_syntax_error_that_no_longer_exists_has_no_repair() -> None:
    assert await repair_tokens(make_request("a.py", "x = <|>1<|>\n", "invalid syntax", "syntax")) == []


async def test_only_a_few_repairs_are_proposed() -> None:
    request = make_request("a.js", "let x = f(g(h(a, b, c, d, e));<|><|>\n", "missing `)`", "syntax")
    assert 1 < len(await repair_tokens(request)) <= MAX_REPAIRS
