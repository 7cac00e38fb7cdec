"""Tests of comments that ask for an edit or an answer: how they are found, and which code they mean."""

import pytest

from lsp_harness.coding.comment_request import find_comment_requests, find_target, remove_comments
from lsp_harness.syntax.tree import SyntaxTree, parse
from lsp_harness.text.document import Document
from lsp_harness.text.position import decode


def parse_text(text: str, name: str = "a.py") -> SyntaxTree:
    parsed = parse(Document.from_text(f"file:///{name}", text, version=1))
    assert parsed
    return parsed


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("a.py", "# ai! add a type\nx = 1\n", [("add a type", False)]),
        ("a.py", "x = 1  # use a float, AI!\n", [("use a float", False)]),
        (
            "a.py",
            "# check the path,\n# and raise ValueError. ai!\nx = 1\n",
            [("check the path, and raise ValueError.", False)],
        ),
        ("a.py", "# why is this 1? ai?\nx = 1\n", [("why is this 1?", True)]),
        ("a.ts", "/* ai! rename n\n * to count */\nlet n = 1;\n", [("rename n\nto count", False)]),
        ("a.go", "package a\n\n// return an error ai!\nfunc f() {}\n", [("return an error", False)]),
        ("a.html", "<!-- make this a list ai! -->\n<p>a</p>\n", [("make this a list", False)]),
        ("a.sql", "-- ai! only the newest\nSELECT 1;\n", [("only the newest", False)]),
        ("a.lua", "-- ai? why 1\nlocal x = 1\n", [("why 1", True)]),
        ("a.py", "# ai!\nx = 1\n", []),  # asks for nothing
        ("a.py", "x = 'ai! do it'\n", []),  # a string
        ("a.py", "# the email! is here, and Thai! food\nx = 1\n", []),
        ("a.py", "# about ai! in the middle\nx = 1\n", []),
        ("a.py", "# ai! one\nx = 1\n# two ai!\ny = 2\n", [("one", False), ("two", False)]),
    ],
)
def test_a_request_has_the_mark_at_its_beginning_or_end(name: str, text: str, expected: list[tuple[str, bool]]) -> None:
    parsed = parse(Document.from_text(f"file:///{name}", text, version=1))
    if parsed is None:
        pytest.skip(f"no grammar for {name}")
    assert [(request.text, request.is_question) for request in find_comment_requests(parsed)] == expected


@pytest.mark.parametrize(
    ("text", "target"),
    [
        (
            "a = 0\n\ndef f(x):\n    # ai! check x\n    return x\n\nb = 1\n",
            "def f(x):\n    # ai! check x\n    return x",
        ),
        ("a = 0\n\n# ai! add types\ndef f(x):\n    return x\n\nb = 1\n", "# ai! add types\ndef f(x):\n    return x"),
        ("a = 0\n# ai! a float\nb = 1\nc = 2\n", "# ai! a float\nb = 1"),
        ("a = 0\nb = 1  # ai! a float\nc = 2\n", "b = 1  # ai! a float"),
        ("a = 0\n\n# ai! write f\n\nc = 2\n", "# ai! write f"),
    ],
)
def test_a_request_is_about_the_code_around_or_behind_it(text: str, target: str) -> None:
    parsed = parse_text(text)
    [request] = find_comment_requests(parsed)
    span = find_target(parsed, request)
    assert decode(parsed.data[slice(*span)]) == target


def test_the_comment_is_removed_with_its_line() -> None:
    assert remove_comments("# a ai!\nx = 1\n", ("# a ai!",)) == "x = 1\n"
    assert remove_comments("x = 1  # a ai!\n", ("# a ai!",)) == "x = 1\n"
    assert remove_comments("# a\n# b ai!\nx = 1\n", ("# a", "# b ai!")) == "x = 1\n"
