"""Tests of text from bytes: whole characters only, and nothing after a stop string."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from lsp_harness.engine.decode.branch import TextDecoder


def cut_pieces(data: bytes, cuts: list[int]) -> list[bytes]:
    edges = sorted({0, len(data), *(cut % (len(data) + 1) for cut in cuts)})
    return [data[start:end] for start, end in pairwise(edges)]


CUTS = st.lists(st.integers(0, 1000), max_size=40)
LETTERS = st.text("ab`\né日😀", max_size=40)


@given(text=st.text(max_size=40), cuts=CUTS)
def test_characters_are_shown_whole(text: str, cuts: list[int]):
    result = TextDecoder(())
    parts = [result.add(piece) for piece in cut_pieces(text.encode(), cuts)]

    assert "".join(parts) == text
    assert result.flush() == ""


@given(text=LETTERS, cut=st.integers(0, 200))
def test_an_incomplete_character_at_the_end_is_not_shown(text: str, cut: int):
    data = text.encode()[:cut]
    result = TextDecoder(())

    assert result.add(data) + result.flush() == data.decode("utf-8", "ignore")


@given(data=st.binary(max_size=40), cuts=CUTS)
def test_invalid_bytes_are_replaced_wherever_they_are_cut(data: bytes, cuts: list[int]):
    outcome = TextDecoder(())
    result = "".join(outcome.add(piece) for piece in cut_pieces(data, cuts)) + outcome.flush()

    assert data.decode("utf-8", "replace").rstrip("�") == result.rstrip("�")


@given(text=LETTERS, stop=st.text("ab`\né日", min_size=1, max_size=4), cuts=CUTS)
def test_a_stop_string_is_never_shown_however_it_is_split(text: str, stop: str, cuts: list[int]):
    result, parts = TextDecoder((stop, "")), list[str]()
    for piece in cut_pieces(text.encode(), cuts):
        parts.append(result.add(piece))
        if result.is_stopped:
            break
    else:
        parts.append(result.flush())

    assert "".join(parts) == text.split(stop, 1)[0]
    assert result.is_stopped == (stop in text)


@given(text=LETTERS, stops=st.lists(st.text("ab`é", min_size=1, max_size=4), max_size=4), cuts=CUTS)
def test_no_stop_string_is_part_of_the_text(text: str, stops: list[str], cuts: list[int]):
    outcome, result = TextDecoder(stops), ""
    for piece in cut_pieces(text.encode(), cuts):
        result += outcome.add(piece)
        if outcome.is_stopped:
            break
    else:
        result += outcome.flush()

    assert text.startswith(result)
    assert not any(stop in result for stop in stops)
    assert outcome.is_stopped == any(stop in text for stop in stops)
