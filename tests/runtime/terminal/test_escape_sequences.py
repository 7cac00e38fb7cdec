"""Tests that output is never cut inside of an escape sequence or a character."""

import pytest

from lsp_harness.runtime.terminal.output_scanner import MAX_SEQUENCE_BYTES, OutputSplitter, find_cut

UNITS = [
    *(b"a", b"\xc3\xa9", b"\xe6\x97\xa5", b"\xf0\x9f\x91\xa9", b"\r\n", b"\x1b[38;5;1m", b"\x1b[?2004h", b"\x1b[>4;1m"),
    *(b"\x1b]0;a title\x07", b"\x1b]8;;https://a.b/c\x1b\\", b"\x1bP+q544e\x1b\\", b"\x1b7", b"\x1b(B", b"\x1b#8"),
    *(b"\x1b[2 q", b"\x1b[3\x08;4H", b"\x1b_Gi=1;AAAA\x1b\\", b"\x1b]0;ab\x18", b"\x1b\\", b"\x1bM", b"\x1b[4:3m"),
]
TEXT = b"".join(UNITS)


def find_whole_places() -> set[int]:
    places, end = {0}, 0
    for unit in UNITS:
        end += len(unit)
        places.add(end)
    # a line feed is a unit of its own
    return places | {TEXT.index(b"\r\n") + 1}


@pytest.mark.parametrize("place", range(len(TEXT) + 1))
def test_a_cut_is_only_between_sequences_and_characters(place: int):
    splitter = OutputSplitter()
    first = splitter.feed(TEXT[:place])

    assert len(first) in find_whole_places()
    assert len(first) > place - max(map(len, UNITS))
    assert first + splitter.feed(TEXT[place:]) == TEXT


def test_single_bytes_come_out_in_whole_units():
    splitter = OutputSplitter()
    end, ends = 0, set[int]()
    for place in range(len(TEXT)):
        end += len(splitter.feed(TEXT[place : place + 1]))
        ends.add(end)

    assert end == len(TEXT)
    assert ends <= find_whole_places()


def test_an_escape_character_begins_a_new_sequence_within_a_string():
    assert find_cut(b"\x1b]0;title\x1b[31m") == len(b"\x1b]0;title\x1b[31m")
    assert find_cut(b"ab\x1b]0;title\x1b") == 2
    assert find_cut(b"ab\x1b[31m\x1b") == 7


def test_invalid_bytes_are_passed_on_at_once():
    assert OutputSplitter().feed(b"\xff\x80\x80\x80\x80") == b"\xff\x80\x80\x80\x80"
    assert OutputSplitter().feed(b"\xf9\x80") == b"\xf9\x80"


@pytest.mark.parametrize("end", [b"\x07", b"\x1b\\", b"\x18"])
def test_a_string_without_an_end_is_dropped_in_bounded_memory(end: bytes):
    splitter = OutputSplitter()
    assert splitter.feed(b"before\x1b]52;c;") == b"before"
    for _ in range(100):
        assert splitter.feed(b"A" * 4096) == b""
        assert len(splitter._held) <= MAX_SEQUENCE_BYTES + 4096

    assert splitter.feed(b"A" + end + b"after") == b"after"


def test_a_long_string_of_another_kind_may_contain_a_bell():
    splitter = OutputSplitter()
    splitter.feed(b"\x1bP" + b"A" * (MAX_SEQUENCE_BYTES + 1))

    assert splitter.feed(b"\x07BB") == b""
    assert splitter.feed(b"B\x1b") == b""
    assert splitter.feed(b"\\after\x1b[1m") == b"after\x1b[1m"


def test_the_end_of_the_output_returns_the_held_bytes():
    splitter = OutputSplitter()
    splitter.feed(b"a\x1b[3")
    assert splitter.finish() == b"\x1b[3"
    assert splitter.finish() == b""
