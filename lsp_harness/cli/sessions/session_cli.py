"""`lsp-harness session`: a session for another program, with one JSON object in each line of both directions."""

import asyncio
import signal
import sys
from collections.abc import Mapping
from typing import Any

from lsp_harness.cli.sessions.ending_signals import Termination
from lsp_harness.cli.sessions.line_reader import open_standard_input
from lsp_harness.cli.sessions.session_client import SessionClient, run_session
from lsp_harness.cli.sessions.session_flags import SessionFlags
from lsp_harness.errors import HarnessError
from lsp_harness.process.signals import ENDING_SIGNALS
from lsp_harness.sessions.session_options import SessionOptions
from lsp_harness.wire.frame_lines import MAX_LINE_BYTES, encode_line
from lsp_harness.wire.frame_reading import read_frames


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
    return asyncio.run(Termination((*ENDING_SIGNALS, signal.SIGINT)).guard(_serve_frames(options)))


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
    reader = await open_standard_input(MAX_LINE_BYTES)
    async for frame in read_frames(reader):
        client.send(frame)
    client.end()


def _write(output: Any, frame: Mapping[str, Any]) -> None:
    output.write(encode_line(frame))
    output.flush()
