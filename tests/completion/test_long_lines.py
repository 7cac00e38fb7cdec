"""Rules that look at the end of a line take one pass over it, however long it is: twice as long must not take four
times as long.

Nothing is timed: where a rule begins anew at each byte, a test here does not end before it is given up.
"""

from lsp_harness.completion.rules.cut_rules import IGNORED_CHARS
from lsp_harness.context.lookup.import_list import TYPED_NAME
from lsp_harness.inference.infill_text import split_trailing_blanks
from lsp_harness.text.code_lines import PLAIN_LINES, strip_comment

LONG = 2_000_000


def test_blanks_within_a_line_are_passed_once():
    blanks = " " * LONG
    assert split_trailing_blanks(f"{blanks}x") == (f"{blanks}x", "")
    assert split_trailing_blanks("x \t") == ("x", " \t")
    assert split_trailing_blanks(f"x{blanks}") == ("x", blanks)


def test_words_within_a_line_are_passed_once():
    word = "a" * LONG
    assert TYPED_NAME.findall(f"{word} ")[0] == ""
    hits = TYPED_NAME.search(f"import {word}")
    assert hits
    assert hits[0] == word


def test_comments_that_are_not_closed_are_passed_once():
    line = "x = 1;" + " /* a" * (LONG // 5)
    assert strip_comment(line, PLAIN_LINES) == line
    assert strip_comment("x = 1; /* a */ ", PLAIN_LINES) == "x = 1;"
    assert strip_comment("x = 1; // a", PLAIN_LINES) == "x = 1;"
    assert strip_comment("x /* a */ + /* b */", PLAIN_LINES) == "x /* a */ +"


def test_signs_within_a_line_are_passed_once():
    line = ";" * LONG + "x"
    assert IGNORED_CHARS.sub("", line) == line
    assert IGNORED_CHARS.sub("", "a, b;; ") == "a,b"
