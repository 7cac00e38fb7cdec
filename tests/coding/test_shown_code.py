"""The lines that a question about code shows, and the sentences of the model that are left."""

import pytest

from lsp_harness.coding.explain import keep_supported_sentences
from lsp_harness.coding.shown_code import MAX_LINES, show_code
from lsp_harness.text.document import Document

SHORT = "import os\n\n\ndef load(path):\n    check(path)\n    return open(path)\n"
LONG = "\n".join(
    [
        "def load(path, limit):",
        '    """Load a file."""',
        *(f"    step_{number}()" for number in range(50)),
        "    if len(path) > limit:",
        "        raise ValueError(path)",
        "    return path",
    ]
)


def show(text: str, question: str) -> str:
    document = Document.from_text("file:///a.py", text.encode())
    first = 4 if text is SHORT else 1
    return show_code(document, "a.py", first, len(text.rstrip("\n").split("\n")), question)


def test_a_short_declaration_is_shown_whole():
    assert show(SHORT, "what does load do?") == (
        "a.py:4-6\n4  def load(path):\n5      check(path)\n6      return open(path)"
    )


def test_of_a_long_one_the_lines_with_the_words_of_the_question_are_shown():
    shown = show(LONG, "when does load raise an error?").splitlines()
    assert shown == [
        "a.py:1-55",
        " 1  def load(path, limit):",
        '  2      """Load a file."""'[1:],
        " …",
        "53      if len(path) > limit:",
        "54          raise ValueError(path)",
        "55      return path",
    ]


def test_without_such_words_the_beginning_is_shown():
    shown = show(LONG, "what does load do?").splitlines()
    assert len(shown) == MAX_LINES + 2
    assert shown[-1].strip() == "…  15 more lines"


CODE = "src/geo.py\ndef area(radius):\n    return math.pi * radius ** 2"


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("It computes the area of a circle.", ["It computes the area of a circle."]),
        ("It calls `math.pi`. It calls `math.sqrt` too.", ["It calls `math.pi`."]),
        ("It uses compute_area(). The radius is squared.", ["The radius is squared."]),
        ("It returns 3.14 for 1.", []),
        ("The class ShapeFactory makes it.", []),
        ("Here is what it does:\n- It takes a radius.\n- It squares it.", ["It takes a radius.", "It squares it."]),
        ("It takes one parameter: `radius`. It squares it.", ["It takes one parameter: `radius`.", "It squares it."]),
        ("One. Two. Three. Four.", ["One.", "Two.", "Three."]),
    ],
)
def test_sentences_with_other_names_are_left_out(text: str, kept: list[str]):
    assert keep_supported_sentences(text, CODE) == kept
