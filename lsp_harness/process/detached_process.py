"""Start a process that outlives its parent, and hear from it until it is ready, or why it is not.

While it starts it writes an empty line now and then (`Beats`), so that one that loads a large file is told from one that is
stuck.
"""

import asyncio
import json
import os
import signal
import subprocess
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, cast

from lsp_harness.config import paths
from lsp_harness.disk.file_writing import open_for_append
from lsp_harness.process.termination import KILL_WAIT_S

MAX_LOG_BYTES = 1_000_000
HEARTBEAT_INTERVAL_S = 0.5
"""Between two signs of life of a process that starts."""
READ_CHUNK_BYTES = 65536


def open_log(log: Path) -> BinaryIO:
    """Open the log of a process for appending; one older log is kept once the current one has grown past `LOG_BYTES`. Where it
    cannot be written, what the process says is thrown away."""
    try:
        if log.exists() and log.stat().st_size > MAX_LOG_BYTES:
            log.replace(log.with_suffix(log.suffix + ".1"))
        return os.fdopen(open_for_append(log), "ab")
    except OSError as error:
        paths.unkept("the log of a process", paths.STATE, log, error)
        return open(os.devnull, "ab")


class Heartbeat:
    """Empty lines to a descriptor, from a thread of their own, until they are stopped."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._beat, name="beats", daemon=True)
        if descriptor >= 0:
            self._thread.start()

    def stop(self) -> None:
        self._stopped.set()
        if self._descriptor >= 0:
            self._thread.join()

    def _beat(self) -> None:
        # a parent that has left needs no sign
        with suppress(OSError):
            while not self._stopped.wait(HEARTBEAT_INTERVAL_S):
                os.write(self._descriptor, b"\n")


async def start_detached(
    argv: Sequence[str], env: Mapping[str, str], log: Path, silence_s: float | None = None
) -> dict[str, object]:
    """Run `argv --ready-fd N` in a session of its own, stderr to `log`.

    Returns the one JSON object the process writes to descriptor N; `{"error": …}` when it ends without a word. A process that
    writes nothing for `silence_s` is killed.
    """
    reader, writer = os.pipe()
    try:
        with open_log(log) as out:
            child = subprocess.Popen(  # noqa: ASYNC220 - it must not be tied to this event loop
                [*argv, "--ready-fd", str(writer)],
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
                env=dict(env),
                pass_fds=(writer,),
                start_new_session=True,
            )
    except BaseException:
        os.close(reader)
        raise
    finally:
        os.close(writer)
    # it outlives us or not; if not, somebody must reap it
    threading.Thread(target=child.wait, name="reaper", daemon=True).start()
    stream = asyncio.StreamReader()
    transport, _ = await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(stream), os.fdopen(reader, "rb")
    )
    try:
        said = await _heard(stream, silence_s)
    except TimeoutError:
        with suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)
        with suppress(subprocess.TimeoutExpired):
            await asyncio.to_thread(child.wait, KILL_WAIT_S)
        return {"error": f"it gave no sign of life for {silence_s:g} s while starting and was ended"}
    finally:
        transport.close()
    with suppress(ValueError):
        # a process that was killed while it wrote did not start
        if isinstance(answer := json.loads(said), dict):
            return cast("dict[str, object]", answer)
    try:
        code = await asyncio.to_thread(child.wait, KILL_WAIT_S)
    except subprocess.TimeoutExpired:
        return {"error": "it closed its connection to us without a word"}
    return {"error": f"it ended with {'signal' if code < 0 else 'exit code'} {abs(code)} while starting"}


async def _heard(stream: asyncio.StreamReader, silence_s: float | None) -> bytes:
    """All that comes. Raises TimeoutError after `silence_s` without any."""
    said, halves = b"", 0
    while True:
        try:
            # in two halves: where this process was stopped itself, the first is over before what came is read
            async with asyncio.timeout(silence_s and silence_s / 2):
                part = await stream.read(READ_CHUNK_BYTES)
        except TimeoutError:
            halves += 1
            if halves == 2:
                raise
            continue
        if not part:
            return said
        said, halves = said + part, 0
