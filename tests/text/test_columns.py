"""Tests that the column index of a long line gives the same columns as counting."""

import random
from typing import get_args

import pytest

from lsp_harness.text import document as document_module
from lsp_harness.text.document import LONG_LINE_BYTES, ColumnIndex, Document
from lsp_harness.text.edit import Edit
from lsp_harness.text.position import Encoding, Position, byte_column, column

ENCODINGS: tuple[Encoding, ...] = get_args(Encoding)
LETTERS = ["a", "é", "€", "😀", "\ud83d", "\udc00", "\t", "\u0301", "𝒳"]


def make_line(rng: random.Random, count: int) -> bytes:
    return "".join(rng.choices(LETTERS, k=count)).encode("utf-8", "surrogatepass")


def find_character_borders(line: bytes) -> list[int]:
    """Return the offsets at which a character begins, and the end of the text."""
    return [n for n in range(len(line) + 1) if n == len(line) or line[n] & 0xC0 != 0x80]


def check(index: ColumnIndex | None, line: bytes, encoding: Encoding, rng: random.Random) -> None:
    assert index is not None
    assert index.size == len(line)
    places = find_character_borders(line)
    for byte in [0, len(line), *rng.choices(places, k=60)]:
        character = column(line, byte, encoding)
        assert index.column(line, byte) == character
        assert index.byte_column(line, character) == byte_column(line, character, encoding)
    last = column(line, len(line), encoding)
    for character in [-1, 0, last, last + 1, last + 5_000, *(rng.randrange(last + 1) for _ in range(60))]:
        # also within a character, which is one of several units
        assert index.byte_column(line, character) == byte_column(line, character, encoding)


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("seed", range(4))
def test_a_column_index_gives_the_same_columns_as_counting(encoding: Encoding, seed: int):
    rng = random.Random(seed)
    for count in (1, 700, 2_100):
        line = make_line(rng, count)
        check(ColumnIndex.from_line(line, encoding), line, encoding, rng)


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("seed", range(4))
def test_an_edited_index_is_that_of_the_edited_line(encoding: Encoding, seed: int):
    rng = random.Random(seed)
    line = make_line(rng, 2_000)
    index = ColumnIndex.from_line(line, encoding)
    for _ in range(20):
        start, end = sorted(rng.choices(find_character_borders(line), k=2))
        end = rng.choice((start, end))
        new = make_line(rng, rng.choice((0, 1, 3, 900)))
        after = line[:start] + new + line[end:]
        assert index is not None
        index = index.apply_edit(Edit(start, end, new), after)
        line = after
        check(index, line, encoding, rng)


def test_bytes_that_are_no_utf8_have_no_index():
    assert ColumnIndex.from_line(b"\xff" * 10, "utf-16") is None
    index = ColumnIndex.from_line(b"a" * 5_000, "utf-16")
    assert index is not None
    assert index.apply_edit(Edit(3, 3, b"\xff"), b"aaa\xff" + b"a" * 4_997) is None


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32"])
def test_a_document_counts_a_long_line_once(encoding: Encoding, monkeypatch: pytest.MonkeyPatch):
    line = ("ab😀é" * LONG_LINE_BYTES).encode()
    document = Document.from_text("file:///a.txt", b"first\n" + line + b"\nlast\n")
    counted: list[int] = []
    units = document_module.count_units

    def counting(text: str, encoding: Encoding) -> int:
        counted.append(len(text.encode("utf-8", "surrogatepass")))
        return units(text, encoding)

    monkeypatch.setattr(document_module, "count_units", counting)
    last = column(line, len(line), encoding)
    offset = document.offset(Position(1, last), encoding)
    assert offset == document.offset(Position(1, last), encoding) == len(b"first\n") + len(line)
    assert sum(counted) == len(line)
    counted.clear()
    for _ in range(5):
        document = document.apply_edit(Edit(offset - 8, offset - 8, "é".encode()), document.version + 1)
        line = document.line(1)
        at = document.offset(Position(1, last), encoding)
        assert at == len(b"first\n") + byte_column(line, last, encoding)
        assert document.position(at, encoding) == Position(1, column(line, at - len(b"first\n"), encoding))
    # each edit counts the blocks that it touches, not the line
    assert sum(counted) < 5 * 4 * document_module.BLOCK_BYTES + 100 < len(line) * 5
