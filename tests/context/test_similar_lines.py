"""Lines elsewhere in a file whose surroundings are similar to those of the cursor."""

import pytest

from lsp_harness.context.lookup.similar_lines import MAX_PIECES, find_similar_lines
from lsp_harness.text.document import Document

PLUGINS = """\
def load_tools():
    tools = {}
    load_plugins()
    hooks.register_tools(register=tools.update)
    return tools
"""
MODELS = """\
def load_models():
    models = {}
    load_plugins()

    return models
"""
OTHER = "".join(f"def step_{n}(width):\n    return width * {n}\n\n\n" for n in range(40))
TEXT = OTHER + PLUGINS + "\n\n" + OTHER + MODELS
CURSOR = TEXT.count("\n", 0, TEXT.index("models = {}")) + 2


def find_similar_pieces(
    text: str = TEXT, line: int = CURSOR, hidden: frozenset[int] = frozenset(), **options: object
) -> list[str]:
    """Return the texts of the pieces for a cursor whose surroundings of 10 lines are shown."""
    lines = text.split("\n")
    document = Document.from_text("file:///a.py", text)
    found = find_similar_lines(document, line, range(line - 10, line + 11), hidden, **options)  # type: ignore[arg-type]
    return ["\n".join(lines[piece.start : piece.stop]) for piece in found]


def test_the_most_similar_lines_come_first_with_the_lines_around_them() -> None:
    assert "hooks.register_tools(register=tools.update)" in find_similar_pieces()[0]
    assert "    load_plugins()\n    hooks.register_tools" in find_similar_pieces()[0]


def test_pieces_do_not_overlap_and_are_few() -> None:
    document = Document.from_text("file:///a.py", PLUGINS * 50 + MODELS)
    line = 50 * 5 + 3
    found = find_similar_lines(document, line, range(line - 10, line + 10), frozenset())
    assert len(found) == MAX_PIECES
    lines = [line for piece in found for line in piece]
    assert len(lines) == len({*lines})


def test_lines_that_the_prompt_already_shows_are_not_found() -> None:
    document = Document.from_text("file:///a.py", TEXT)
    assert find_similar_lines(document, CURSOR, range(TEXT.count("\n") + 1), frozenset()) == []


def test_a_hidden_line_ends_a_piece() -> None:
    secret = TEXT.count("\n", 0, TEXT.index("hooks.register_tools"))
    assert not any("hooks.register_tools" in piece for piece in find_similar_pieces(hidden=frozenset({secret})))


def test_unrelated_code_is_not_found() -> None:
    assert find_similar_pieces(OTHER + "\n" * 30 + "x\n", OTHER.count("\n") + 30) == []


def test_a_place_with_a_needed_name_is_preferred() -> None:
    text = "total = sum(values)\n" + "\n" * 40 + "a = first(values)\n" + "\n" * 40 + "b = first(values)\n"
    line = text.count("\n")
    assert "a = first(values)" in find_similar_pieces(text, line)[0]
    assert "total = sum(values)" in find_similar_pieces(text, line, needed_names=("total",))[0]


@pytest.mark.parametrize("text", ["", "a\n", "x" * 600_000, "\x00binary\n" * 50])
def test_empty_and_very_long_texts_have_no_similar_lines(text: str) -> None:
    assert find_similar_pieces(text, 0) == []
