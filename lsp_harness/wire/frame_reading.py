"""Reads the frames that another process sends, line by line."""

from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any

from lsp_harness.wire.frame_lines import decode_line

if TYPE_CHECKING:
    from asyncio import StreamReader


async def read_frames(reader: "StreamReader") -> AsyncIterator[dict[str, Any]]:
    """Yield the frames of a stream until it ends.

    A line that is no frame becomes a command that does not exist. The session refuses it, and its name says why.

    Args:
        reader: The stream. A line that is longer than its limit is no frame.
    """
    while True:
        try:
            line = await reader.readline()
            if not line:
                return
        except ValueError:
            frame: dict[str, Any] = {"command": "a line that is too long"}
        else:
            if not line.strip():
                continue
            frame = _decode(line)
        yield frame


def _decode(line: bytes) -> dict[str, Any]:
    try:
        return decode_line(line)
    except ValueError as error:
        return {"command": f"a line that is no JSON object ({error})"}
