"""The lines around a cursor: they fit their budget, are whole, and stay the same while the user types."""

from collections.abc import Sequence
from itertools import groupby

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lsp_harness.context import window
from lsp_harness.text.document import Document
from lsp_harness.text.edit import Edit
from lsp_harness.text.position import decode, encode
from tests.context.counting import Counter, count_characters, count_words
from tests.text.reference import texts

many = settings(max_examples=120, deadline=None)
budgets = st.integers(0, 40)
code = st.lists(texts | st.sampled_from(["x = 1\n", "    return foo(1, 2)\r\n", "\n"]), max_size=12).map("".join)


@st.composite
def draw_place(draw: st.DrawFn) -> tuple[Document, int]:
    """Draw a document and the start of one of its characters, never inside of a line end."""
    text = draw(code)
    at = draw(st.integers(0, len(text)))
    if text[at - 1 : at + 1] == "\r\n" and at:
        at -= 1
    return Document.from_text("file:///a.py", text), len(encode(text[:at]))


@many
@given(draw_place(), budgets, st.sampled_from([count_words, count_characters]))
async def test_text_before_a_place_has_whole_lines_within_its_budget(
    place: tuple[Document, int], budget: int, count: Counter
) -> None:
    document, offset = place
    start, text, tokens = await window.read_prefix(document, offset, budget, count)
    assert text == decode(document.data[start:offset])
    # the joined text costs what its lines do, with these counters
    assert (await count([text]))[0] <= tokens <= budget
    own = document.line_starts[document.line_of(offset)]
    assert start in document.line_starts or start > own
    assert document.line_of(offset) - document.line_of(start) <= window.MAX_LINES_ABOVE


@many
@given(draw_place(), budgets, st.sampled_from([count_words, count_characters]))
async def test_text_after_a_place_has_whole_lines_within_its_budget(
    place: tuple[Document, int], budget: int, count: Counter
) -> None:
    document, offset = place
    end, text, tokens = await window.read_suffix(document, offset, budget, count)
    assert text == decode(document.data[offset:end])
    assert (await count([text]))[0] <= tokens <= budget
    edges = {*document.line_starts, len(document.data)}
    assert end in edges or document.line_of(end) == document.line_of(offset)
    assert document.line_of(end) - document.line_of(offset) <= window.MAX_LINES_BELOW + 1


async def test_lines_are_cut_only_at_the_limit_of_the_budget() -> None:
    document = Document.from_text("file:///a.py", "a b\nc d\ne f\ng h\ni j\n")
    assert await window.read_prefix(document, 10, 5, count_words) == (0, "a b\nc d\ne ", 5)
    assert await window.read_prefix(document, 10, 4, count_words) == (4, "c d\ne ", 3)
    assert await window.read_suffix(document, 10, 3, count_words) == (16, "f\ng h\n", 3)
    assert await window.read_suffix(document, 10, 2, count_words) == (12, "f\n", 1)


@pytest.mark.parametrize("width", [1, 3, 8, 12])
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
async def test_the_start_of_a_prefix_moves_in_blocks_while_lines_are_typed(width: int, newline: str) -> None:
    line = " ".join(["word"] * width) + newline
    document = Document.from_text("file:///a.py", line * 200)
    offset = len(document.data)
    starts: list[int] = []
    for _ in range(100):
        document = document.apply_edit(Edit(offset, offset, encode(line)), document.version + 1)
        offset += len(encode(line))
        start, _, tokens = await window.read_prefix(document, offset, 384, count_words)
        assert tokens <= 384
        starts.append(start)
    assert starts == sorted(starts)
    runs = [len(list(same)) for _, same in groupby(starts)]
    assert min(runs[1:-1]) >= 10
    assert all(document.line_of(start) % window.BLOCK_LINES == 0 for start in starts)


async def test_within_a_line_the_start_stays() -> None:
    document = Document.from_text("file:///a.py", "a b c d e f\n" * 100)
    offset = len(document.data)
    starts: set[int] = set()
    for char in "x = call(one, two)":
        document = document.apply_edit(Edit(offset, offset, encode(char)), document.version + 1)
        offset += 1
        starts.add((await window.read_prefix(document, offset, 384, count_words))[0])
    assert len(starts) == 1


async def test_a_line_without_end_is_cut_around_the_cursor() -> None:
    text = "é" * 500_000
    document = Document.from_text("file:///a.py", text)
    offset = 300_000
    start, prefix, tokens = await window.read_prefix(document, offset, 384, count_characters)
    assert (offset - start, prefix, tokens) == (768, "é" * 384, 384)
    end, suffix, tokens = await window.read_suffix(document, offset, 96, count_characters)
    assert (end - offset, suffix, tokens) == (192, "é" * 96, 96)
    # one word however long: only the width counts
    start, prefix, _ = await window.read_prefix(document, offset, 384, count_words)
    assert len(encode(prefix)) == window.MAX_LINE_BYTES


async def test_a_line_without_end_nearby_is_left_out() -> None:
    huge = "x" * 10_000 + "\n"
    document = Document.from_text("file:///a.py", f"before\n{huge}a\nb\n{huge}after\n")
    offset = document.data.index(b"b\n")
    assert (await window.read_prefix(document, offset, 384, count_words))[1] == "a\n"
    assert (await window.read_suffix(document, offset, 96, count_words))[1] == "b\n"


async def test_an_empty_document_has_no_text_around_a_place() -> None:
    document = Document.from_text("file:///a.py", "")
    assert await window.read_prefix(document, 0, 10, count_words) == (0, "", 0)
    assert await window.read_suffix(document, 0, 10, count_words) == (0, "", 0)


async def test_a_keystroke_costs_the_count_of_few_lines() -> None:
    document = Document.from_text("file:///a.py", "x = 1\n" * 10_000)
    counted: list[str] = []

    async def counting(lines: Sequence[str]) -> list[int]:
        counted.extend(lines)
        return await count_words(lines)

    await window.read_prefix(document, 30_000, 384, counting)
    await window.read_suffix(document, 30_000, 96, counting)
    assert len(counted) <= window.MAX_LINES + 2
