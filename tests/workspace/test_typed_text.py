"""What was typed since, with what an editor closes by itself."""

import pytest

from lsp_harness.workspace.typed_text import Since, closers, since
from tests.support import markup


@pytest.mark.parametrize(
    ("before", "after", "found"),
    [
        ("x = <|>\n", "x = <|>\n", Since("", "")),
        ("x = <|>\n", "x = ab<|>\n", Since("ab", "")),
        ("x = <|>\n", "x = é<|>\n", Since("é", "")),
        ("f<|>\n", "f(<|>)\n", Since("(", ")")),
        ("f<|>)\n", "f([<|>]))\n", Since("([", "])")),
        ("f<|>)\n", "f([<|>])\n)\n", None),
        ("f<|>\n", "f([<|>])\n", Since("([", "])")),
        ("f<|>\n", "f()<|>\n", Since("()", "")),
        ("f<|>\n", "f(<|>\n", Since("(", "")),
        ('f<|>"\n', 'f("<|>")"\n', Since('("', '")')),
        ("f<|>\n", "<|>f\n", None),
        ("f<|>\n", "f<|>;\n", None),
        ("f<|>\n", "g(<|>)\n", None),
        ("a\nf<|>\n", "f<|>\n", None),
    ],
)
def test_since(before: str, after: str, found: Since | None) -> None:
    old, new = markup.parse(before), markup.parse(after)
    assert since(old.document, old.cursor, new.document, new.cursor) == found


@pytest.mark.parametrize(
    ("typed", "behind"), [("", ""), ("f(x", ")"), ("f(x)", ""), ("{[(", ")]}"), ('"a"', ""), ('"(', ')"'), ("a)", "")]
)
def test_closers(typed: str, behind: str) -> None:
    assert closers(typed) == behind
