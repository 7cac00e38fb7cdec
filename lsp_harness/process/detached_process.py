"""Start of a process that outlives its parent, which waits until the process is ready or has failed.

While it starts, the process writes empty lines (`Heartbeat`). They distinguish a process that loads a large file from
one that is stuck.
"""

import asyncio
import json
import os
import subprocess
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, cast

from lsp_harness.config import paths
from lsp_harness.disk.file_writing import open_for_append
from lsp_harness.process.inherited_descriptors import inheriting_options, name_inherited
from lsp_harness.process.pipe_reading import read_pipe
from lsp_harness.process.process_group import detached_options, kill_leader_group
from lsp_harness.process.termination import KILL_WAIT_S

MAX_LOG_BYTES = 1_000_000
HEARTBEAT_INTERVAL_S = 0.5
"""Time between two signs of life of a starting process."""
READ_CHUNK_BYTES = 65536


def open_log(log: Path) -> BinaryIO:
    """Open the log of a process for appending.

    A log larger than `MAX_LOG_BYTES` is renamed first, and one older log is kept. If the log cannot be written, the
    output of the process is discarded.
    """
    try:
        if log.exists() and log.stat().st_size > MAX_LOG_BYTES:
            log.replace(log.with_suffix(log.suffix + ".1"))
        return os.fdopen(open_for_append(log), "ab")
    except OSError as error:
        paths.warn_not_saved("the log of a process", paths.STATE, log, error)
        return open(os.devnull, "ab")


class Heartbeat:
    """A thread that writes empty lines to a descriptor until `stop` is called. A negative descriptor means none."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._send_beats, name="beats", daemon=True)
        if descriptor >= 0:
            self._thread.start()

    def stop(self) -> None:
        self._stopped.set()
        if self._descriptor >= 0:
            self._thread.join()

    def _send_beats(self) -> None:
        # the parent may have ended
        with suppress(OSError):
            while not self._stopped.wait(HEARTBEAT_INTERVAL_S):
                os.write(self._descriptor, b"\n")


async def start_detached(
    argv: Sequence[str], env: Mapping[str, str], log: Path, silence_s: float | None = None
) -> dict[str, object]:
    """Run `argv --ready-fd N` in a new session and wait until it is ready.

    Args:
        argv: The command.
        env: The whole environment of the process.
        log: The file for its standard output and standard error.
        silence_s: Time without output to descriptor N after which the process is killed. None means no limit.

    Returns:
        The JSON object that the process writes to descriptor N, or `{"error": …}` if it ends without one.
    """
    reader, writer = os.pipe()
    try:
        with open_log(log) as log_file:
            child = subprocess.Popen(  # noqa: ASYNC220 - it must not be tied to this event loop
                [*argv, "--ready-fd", name_inherited(writer)],
                stdin=subprocess.DEVNULL,
                stdout=log_file,
                stderr=log_file,
                env=dict(env),
                **inheriting_options((writer,)),
                **detached_options(),
            )
    except BaseException:
        os.close(reader)
        raise
    finally:
        os.close(writer)
    # if it ends before this process, it must be reaped
    threading.Thread(target=child.wait, name="reaper", daemon=True).start()
    stream = asyncio.StreamReader()
    pipe = await read_pipe(os.fdopen(reader, "rb"), stream)
    try:
        output = await _read_all(stream, silence_s)
    except TimeoutError:
        kill_leader_group(child.pid)
        with suppress(subprocess.TimeoutExpired):
            await asyncio.to_thread(child.wait, KILL_WAIT_S)
        return {"error": f"it gave no sign of life for {silence_s:g} s while starting and was ended"}
    finally:
        pipe.close()
    with suppress(ValueError):
        # a process that is killed while it writes leaves incomplete JSON
        if isinstance(answer := json.loads(output), dict):
            return cast("dict[str, object]", answer)
    try:
        code = await asyncio.to_thread(child.wait, KILL_WAIT_S)
    except subprocess.TimeoutExpired:
        return {"error": "it closed its connection without an answer while starting"}
    return {"error": f"it ended with {'signal' if code < 0 else 'exit code'} {abs(code)} while starting"}


async def _read_all(stream: asyncio.StreamReader, silence_s: float | None) -> bytes:
    """Read to the end. Raises TimeoutError if nothing arrives for `silence_s`."""
    output, halves = b"", 0
    while True:
        try:
            # wait twice for half of the time: if this process itself was stopped, the first wait ends before the output
            # is read
            async with asyncio.timeout(silence_s and silence_s / 2):
                part = await stream.read(READ_CHUNK_BYTES)
        except TimeoutError:
            halves += 1
            if halves == 2:
                raise
            continue
        if not part:
            return output
        output, halves = output + part, 0
