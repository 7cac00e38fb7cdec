"""Tests of the text that the user typed between two versions, with the brackets that an editor closes by itself."""

import pytest

from lsp_harness.workspace.typed_text import TypedText, find_closers, find_typed_text
from tests.support import markup


@pytest.mark.parametrize(
    ("before", "after", "found"),
    [
        ("x = <|>\n", "x = <|>\n", TypedText("", "")),
        ("x = <|>\n", "x = ab<|>\n", TypedText("ab", "")),
        ("x = <|>\n", "x = é<|>\n", TypedText("é", "")),
        ("f<|>\n", "f(<|>)\n", TypedText("(", ")")),
        ("f<|>)\n", "f([<|>]))\n", TypedText("([", "])")),
        ("f<|>)\n", "f([<|>])\n)\n", None),
        ("f<|>\n", "f([<|>])\n", TypedText("([", "])")),
        ("f<|>\n", "f()<|>\n", TypedText("()", "")),
        ("f<|>\n", "f(<|>\n", TypedText("(", "")),
        ('f<|>"\n', 'f("<|>")"\n', TypedText('("', '")')),
        ("f<|>\n", "<|>f\n", None),
        ("f<|>\n", "f<|>;\n", None),
        ("f<|>\n", "g(<|>)\n", None),
        ("a\nf<|>\n", "f<|>\n", None),
    ],
)
def test_the_typed_text_between_two_versions_is_found(before: str, after: str, found: TypedText | None) -> None:
    old, new = markup.parse(before), markup.parse(after)
    assert find_typed_text(old.document, old.cursor, new.document, new.cursor) == found


@pytest.mark.parametrize(
    ("typed", "behind"), [("", ""), ("f(x", ")"), ("f(x)", ""), ("{[(", ")]}"), ('"a"', ""), ('"(', ')"'), ("a)", "")]
)
def test_the_closing_signs_of_typed_text_are_found(typed: str, behind: str) -> None:
    assert find_closers(typed) == behind
