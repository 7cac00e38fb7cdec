"""The one reader of messages with `Content-Length` headers, and what each kind of peer gets for a bad one."""

import asyncio

import pytest

from lsp_harness.wire.message_stream import MessageReader, UnreadableStream, frame


def make_stream(data: bytes) -> asyncio.StreamReader:
    reader = asyncio.StreamReader()
    reader.feed_data(data)
    reader.feed_eof()
    return reader


async def test_messages_are_read_one_after_the_other():
    reader = MessageReader(make_stream(frame(b"{}") + b"content-length : 3\nX-Other: 1\n\nabc" + frame("é".encode())))
    assert [await reader.read() for _ in range(4)] == [b"{}", b"abc", "é".encode(), None]


async def test_lines_of_a_chatty_peer_before_a_header_are_passed_over():
    reader = MessageReader(make_stream(b"a warning\n" + frame(b"1") + b"\n" + frame(b"2")))
    assert [await reader.read(), await reader.read()] == [b"1", b"2"]


async def test_a_strict_reader_ends_at_a_line_that_is_no_header():
    for data in (b"a warning\n", b"{}" + frame(b"1")):
        with pytest.raises(UnreadableStream, match="not a message header"):
            await MessageReader(make_stream(data), strict=True).read()


@pytest.mark.parametrize("header", [b"Content-Length: -1\r\n\r\n", b"Other: 1\r\n\r\n"])
async def test_a_bad_header_ends_the_reading_or_is_reported(header: bytes):
    with pytest.raises(UnreadableStream):
        await MessageReader(make_stream(header)).read()
    faults = list[str]()
    assert await MessageReader(make_stream(header + frame(b"1")), faults.append).read() == b"1"
    assert len(faults) == 1


async def test_a_message_that_is_too_long_or_too_short_is_not_read():
    with pytest.raises(UnreadableStream, match="12 bytes"):
        await MessageReader(make_stream(frame(b"x" * 12)), max_bytes=11).read()
    with pytest.raises(asyncio.IncompleteReadError):
        await MessageReader(make_stream(frame(b"x" * 12)[:-1])).read()
