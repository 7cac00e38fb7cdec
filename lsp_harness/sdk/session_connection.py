"""A connection to a session: frames in both directions. Its forms are a child process, a socket, and this process."""

import asyncio
from collections.abc import Mapping
from typing import Any, Protocol

from lsp_harness.sdk.sdk_errors import HarnessError
from lsp_harness.wire.frame_lines import MAX_LINE_BYTES, decode_line, encode_line

Frame = Mapping[str, Any]


class SessionConnection(Protocol):
    """A connection. `read` and `close` are called by one task each."""

    async def open(self) -> None:
        """Connect. Raise HarnessError."""
        ...

    async def read(self) -> dict[str, Any] | None:
        """Return the next frame, or None at the end. Raise HarnessError."""
        ...

    async def write(self, frame: Frame) -> None:
        """Send a frame. Raise HarnessError if the session has ended."""
        ...

    async def end_error(self) -> HarnessError:
        """Return the error that the session ended, with its exit status and standard error."""
        ...

    async def close(self, at_once: bool) -> None:
        """End the session. It may end by itself, unless `at_once`. Nothing of it is left afterwards."""
        ...

    def kill(self) -> None:
        """End the session without waiting for anything."""
        ...

    @property
    def pid(self) -> int | None:
        """Return the number of the process of the session, if it has one of its own."""
        ...


async def read_frame(stream: asyncio.StreamReader) -> dict[str, Any] | None:
    """Return the next frame of a stream, or None at its end. Raise HarnessError.

    A line that is no frame becomes one with the key `line`, because a library of the session may print something.
    """
    while True:
        try:
            line = await stream.readline()
        except ValueError as error:
            limit = MAX_LINE_BYTES // 2**20
            raise HarnessError(f"the session sent a line of more than {limit} MiB", code="line_too_long") from error
        except ConnectionError:
            return None
        if not line:
            return None
        if line.isspace():
            continue
        try:
            return decode_line(line)
        except ValueError:
            if line.endswith(b"\n"):
                return {"line": line.decode("utf-8", "replace").rstrip("\n")}
            # the session ended in the middle of a line


async def write_frame(stream: asyncio.StreamWriter, frame: Frame) -> None:
    """Send a frame. Raise HarnessError if it is no JSON, and OSError if the connection is lost."""
    try:
        line = encode_line(frame)
    except (TypeError, ValueError, RecursionError) as error:
        raise HarnessError(f"this cannot be sent as JSON: {error}", code="usage") from error
    if len(line) > MAX_LINE_BYTES:
        raise HarnessError(f"a message is longer than {MAX_LINE_BYTES // 2**20} MiB", code="usage")
    stream.write(line)
    await stream.drain()
