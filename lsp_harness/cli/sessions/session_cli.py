"""`lsp-harness session`: a session for another program, with one JSON object in each line of both directions."""

import asyncio
import sys
from collections.abc import Mapping
from typing import Any

from lsp_harness.cli.sessions.session_client import SessionClient, run_session
from lsp_harness.cli.sessions.session_flags import SessionFlags
from lsp_harness.wire.frame_lines import MAX_LINE_BYTES, decode_line, encode_line


def session(*, flags: SessionFlags | None = None) -> int:
    """Serve a session to another program over standard input and output.

    Each line is one JSON object. Send {"id": "1", "prompt": "…"} for a prompt, {"command": "interrupt"} and other
    commands, and {"command": "exit"} at the end. docs/sessions.md lists the objects.
    """
    return asyncio.run(_serve(flags or SessionFlags()))


async def _serve(flags: SessionFlags) -> int:
    options = flags.options("sdk")
    # nothing else may write to standard output while it carries frames
    output = sys.stdout.buffer
    has_error = False
    async with run_session(options) as client:
        reading = asyncio.ensure_future(_read_lines(client))
        try:
            async for frame in client.frames():
                has_error = has_error or (frame.get("type") == "error" and frame.get("session_id") is None)
                await asyncio.to_thread(_write, output, frame)
        finally:
            reading.cancel()
    return 1 if has_error else 0


async def _read_lines(client: SessionClient) -> None:
    reader = asyncio.StreamReader(limit=MAX_LINE_BYTES)
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin.buffer)
    while True:
        try:
            line = await reader.readline()
        except ValueError:
            client.send({"command": "a line that is too long"})
            continue
        if not line:
            client.end()
            return
        if not line.strip():
            continue
        try:
            client.send(decode_line(line))
        except ValueError as error:
            client.send({"command": f"a line that is no JSON object ({error})"})


def _write(output: Any, frame: Mapping[str, Any]) -> None:
    output.write(encode_line(frame))
    output.flush()
