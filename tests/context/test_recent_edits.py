"""The places that the user edited or looked at last."""

import pytest

from lsp_harness.context.recent_edits import (
    MAX_CLOSED_DOCUMENTS,
    MAX_PLACES,
    PROMPT_RADIUS_LINES,
    RADIUS_LINES,
    RecentEdits,
)
from lsp_harness.text.document import Document
from tests.files.test_secrets import TOKEN

CART = "def total(cart, rate):\n    amount = cart.total()\n    return convert(amount, rate)\n"
HERE = "def owed(cart, rate):\n    amount = cart.owed()\n"


class OpenTexts(dict[str, Document]):
    """The open texts by URI, and the recorded edits of them."""

    def __init__(self) -> None:
        self.recent = RecentEdits(self.get, lambda uri, path: "kept" if path == ".env" else "")

    def open(self, path: str, text: str) -> Document:
        self[f"file:///{path}"] = document = Document.from_text(f"file:///{path}", text)
        return document

    def edited(self, path: str, line: int = 0, grown: int = 0) -> None:
        self.recent.record_edit(f"file:///{path}", path, line, grown)

    def pieces(self, document: Document, line: int = 1) -> list[tuple[str, str]]:
        return [(piece.path, piece.text) for piece in self.recent.find_pieces(document, line)]


@pytest.fixture
def texts() -> OpenTexts:
    texts = OpenTexts()
    texts.open("cart.py", CART)
    texts.open("here.py", HERE)
    return texts


def test_an_edit_elsewhere_is_like_the_text_that_is_written_here(texts: OpenTexts):
    here = texts["file:///here.py"]
    assert texts.pieces(here) == []
    texts.edited("cart.py", 1)
    assert texts.pieces(here) == [("cart.py", CART.strip("\n"))]
    texts.open("cart.py", CART.replace("rate", "kind"))
    # as it is now, not as it was
    assert "kind" in texts.pieces(here)[0][1]


def test_unrelated_edits_and_copies_are_left_out(texts: OpenTexts):
    texts.open("other.py", "import logging\nlog = logging.getLogger()\n")
    texts.open("copy.py", HERE)
    for path in ("other.py", "copy.py", "gone.py"):
        texts.edited(path)
    assert texts.pieces(texts["file:///here.py"]) == []


def test_the_most_similar_and_then_the_most_recent_place_comes_first(texts: OpenTexts):
    texts.open("less.py", "def total(cart):\n    pass\n")
    texts.open("same.py", CART)
    for path in ("less.py", "same.py", "cart.py"):
        texts.edited(path)
    assert [path for path, _ in texts.pieces(texts["file:///here.py"])] == ["cart.py", "same.py", "less.py"]


def test_edits_near_the_cursor_in_the_same_file_are_left_out(texts: OpenTexts):
    here = texts.open("here.py", CART + "# more\n" * (PROMPT_RADIUS_LINES + 10) + HERE)
    last = len(here.line_starts) - 2
    texts.edited("here.py", 1)
    texts.edited("here.py", last)
    [(path, text)] = texts.pieces(here, last)
    assert (path, text.split("\n")[0]) == ("here.py", "def total(cart, rate):")


def test_a_place_moves_with_the_lines_above_it(texts: OpenTexts):
    body = "".join(f"    step_{n}(cart)\n" for n in range(40))
    texts.open("long.py", f"def run(cart):\n{body}{CART}")
    texts.edited("long.py", 42)
    texts.open("long.py", "# a\n" * 30 + f"def run(cart):\n{body}{CART}")
    texts.edited("long.py", 0, 30)
    assert "convert(amount, rate)" in dict(texts.pieces(texts["file:///here.py"]))["long.py"]


def test_viewing_an_edited_place_does_not_make_it_unedited(texts: OpenTexts):
    texts.edited("cart.py", 1)
    texts.recent.record_view("file:///cart.py", "cart.py", 2)
    [piece] = texts.recent.find_pieces(texts["file:///here.py"], 1)
    assert piece.is_edited
    texts.recent.record_view("file:///x.py", "x.py", 0)
    texts.open("x.py", CART)
    assert [piece.is_edited for piece in texts.recent.find_pieces(texts["file:///here.py"], 1)] == [False, True]


def test_a_closed_text_is_known_for_a_while(texts: OpenTexts):
    texts.edited("cart.py", 1)
    texts.recent.record_close(texts.pop("file:///cart.py"))
    assert texts.pieces(texts["file:///here.py"]) == [("cart.py", CART.strip("\n"))]
    for n in range(MAX_CLOSED_DOCUMENTS):
        texts.edited(f"{n}.py")
        texts.recent.record_close(Document.from_text(f"file:///{n}.py", "x = 1\n"))
    assert texts.pieces(texts["file:///here.py"]) == []


def test_the_number_of_remembered_places_is_limited(texts: OpenTexts):
    texts.edited("cart.py", 1)
    for n in range(MAX_PLACES):
        texts.edited(f"{n}.py", RADIUS_LINES)
    assert texts.pieces(texts["file:///here.py"]) == []


def test_secrets_and_private_files_are_not_read(texts: OpenTexts):
    texts.open(".env", CART)
    texts.open("cart.py", CART.replace("    amount", f"    key = '{TOKEN}'\n    amount"))
    for path in (".env", "cart.py"):
        texts.edited(path, 1)
    [(path, text)] = texts.pieces(texts["file:///here.py"])
    assert path == "cart.py"
    assert TOKEN not in text
    assert "convert(amount, rate)" in text
