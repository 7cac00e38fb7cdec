"""`lsp-harness session`: a session for another program, with one JSON object in each line of both directions."""

import asyncio
import os
import signal
import stat
import sys
import threading
from collections.abc import Mapping
from typing import Any

from lsp_harness.cli.sessions.session_client import SessionClient, run_session
from lsp_harness.cli.sessions.session_flags import SessionFlags
from lsp_harness.errors import HarnessError
from lsp_harness.harness.sessions.session_options import SessionOptions
from lsp_harness.wire.frame_lines import MAX_LINE_BYTES, encode_line
from lsp_harness.wire.frame_reading import read_frames

END_WAIT_S = 4.5
"""Time for the tools and the log to end after SIGTERM. Then the process ends in any case."""
EXIT_TERMINATED = 128 + signal.SIGTERM


def session(*, flags: SessionFlags | None = None) -> int:
    """Serve a session to another program over standard input and output.

    Each line is one JSON object. Send {"id": "1", "prompt": "…"} for a prompt, {"command": "interrupt"} and other
    commands, and {"command": "exit"} at the end. docs/sessions.md lists the objects.
    """
    try:
        options = (flags or SessionFlags()).options("sdk")
    except HarnessError as error:
        fields = {"message": error.message, "code": type(error).__name__, "exit_code": error.exit_code}
        _write(sys.stdout.buffer, {"type": "error", **fields, "recoverable": False})
        return error.exit_code
    return asyncio.run(_serve(options))


async def _serve(options: SessionOptions) -> int:
    serving = asyncio.ensure_future(_serve_frames(options))
    was_terminated = False

    def terminate() -> None:
        nonlocal was_terminated
        if not was_terminated:
            was_terminated = True
            # a client that does not read its frames, or a tool that does not end, must not keep the process
            guard = threading.Timer(END_WAIT_S, os._exit, (EXIT_TERMINATED,))
            guard.daemon = True
            guard.start()
            serving.cancel()

    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, terminate)
    try:
        return await serving
    except asyncio.CancelledError:
        if not was_terminated:
            raise
        return EXIT_TERMINATED


async def _serve_frames(options: SessionOptions) -> int:
    # nothing else may write to standard output while it carries frames
    output = sys.stdout.buffer
    exit_code = 0
    async with run_session(options) as client:
        reading = asyncio.ensure_future(_read_lines(client))
        try:
            async for frame in client.frames():
                if frame.get("type") == "error" and frame.get("session_id") is None:
                    exit_code = int(frame.get("exit_code") or 1)
                await asyncio.to_thread(_write, output, frame)
        finally:
            reading.cancel()
    return exit_code


async def _read_lines(client: SessionClient) -> None:
    reader = asyncio.StreamReader(limit=MAX_LINE_BYTES)
    loop = asyncio.get_running_loop()
    if _is_stream(sys.stdin.fileno()):
        await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin.buffer)
    else:
        reader.feed_data(await asyncio.to_thread(sys.stdin.buffer.read))
        reader.feed_eof()
    async for frame in read_frames(reader):
        client.send(frame)
    client.end()


def _is_stream(descriptor: int) -> bool:
    """Return whether the event loop can wait for input. It cannot for a file and for /dev/null, which have an end."""
    mode = os.fstat(descriptor).st_mode
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or os.isatty(descriptor)


def _write(output: Any, frame: Mapping[str, Any]) -> None:
    output.write(encode_line(frame))
    output.flush()
