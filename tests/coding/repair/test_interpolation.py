"""Tests of repairs that mark a string as a template, and that declare a name at its first assignment."""

import pytest

from tests.coding.repair.requests import make_all_repairs, make_request

MENDED = [
    ("a.py", 'x = <|>"{a} items"<|>\n', "Possible f-string without an `f` prefix", "RUF027", 'x = f"{a} items"\n'),
    (
        "a.py",
        "x = <|>'{a.b}'<|>\n",
        "Formatting a regular string which could be an f-string",
        "W1311",
        "x = f'{a.b}'\n",
    ),
    (
        "a.js",
        'f(<|>"a ${b}"<|>);\n',
        "Unexpected template string expression.",
        "no-template-curly-in-string",
        "f(`a ${b}`);\n",
    ),
    (
        "a.go",
        "package a\n\nfunc f(n int) int {\n\t<|>x<|> = n\n\treturn x\n}\n",
        "undefined: x",
        "UndeclaredName",
        "package a\n\nfunc f(n int) int {\n\tx := n\n\treturn x\n}\n",
    ),
    (
        "a.go",
        "package a\n\nfunc f() error {\n\tif <|>err<|> = g(); err != nil {\n\t\treturn err\n\t}\n\treturn nil\n}\n",
        "undefined: err",
        "UndeclaredName",
        "package a\n\nfunc f() error {\n\tif err := g(); err != nil {\n\t\treturn err\n\t}\n\treturn nil\n}\n",
    ),
]


@pytest.mark.parametrize(("path", "text", "message", "code", "truth"), MENDED)
async def test_the_sign_that_was_left_out(path: str, text: str, message: str, code: str, truth: str) -> None:
    assert (await make_all_repairs(make_request(path, text, message, code)))[0][0] == truth


@pytest.mark.parametrize(
    ("path", "text", "message", "code"),
    [
        # braces that are text, quotes that would end the string, another rule, a name that nothing uses
        ("a.py", 'x = <|>"{{a}}"<|>\n', "f-string", "RUF027"),
        ("a.py", 'x = <|>"{a}"<|>\n', "Line too long", "E501"),
        ("a.js", 'f(<|>"`${b}`"<|>);\n', "Unexpected template string expression.", "no-template-curly-in-string"),
        ("a.go", "package a\n\nfunc f() {\n\t<|>x<|> = 1\n}\n", "undefined: x", "UndeclaredName"),
        ("a.go", "package a\n\nfunc f() int {\n\ty = <|>x<|>\n\treturn x\n}\n", "undefined: x", "UndeclaredName"),
    ],
)
async def test_other_strings_and_findings_get_no_repair(path: str, text: str, message: str, code: str) -> None:
    assert await make_all_repairs(make_request(path, text, message, code)) == []
