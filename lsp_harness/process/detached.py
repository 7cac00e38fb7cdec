"""Start a process that outlives its parent, and hear from it once: ready, or why not."""

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
from lsp_harness.disk.writing import append_open

LOG_BYTES = 1_000_000


def open_log(log: Path) -> BinaryIO:
    """Open the log of a process for appending; one older log is kept once the current one has grown past `LOG_BYTES`. Where it
    cannot be written, what the process says is thrown away."""
    try:
        if log.exists() and log.stat().st_size > LOG_BYTES:
            log.replace(log.with_suffix(log.suffix + ".1"))
        return os.fdopen(append_open(log), "ab")
    except OSError as error:
        paths.unkept("the log of a process", paths.STATE, log, error)
        return open(os.devnull, "ab")


async def start(argv: Sequence[str], env: Mapping[str, str], log: Path) -> dict[str, object]:
    """Run `argv --ready-fd N` in a session of its own, stderr to `log`.

    Returns the one JSON object the process writes to descriptor N; `{"error": …}` when it ends without a word.
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
        line = await stream.read()
    finally:
        transport.close()
    with suppress(ValueError):
        # a process that was killed in the middle of it did not start
        if isinstance(said := json.loads(line), dict):
            return cast("dict[str, object]", said)
    code = await asyncio.to_thread(child.wait)
    return {"error": f"it ended with {'signal' if code < 0 else 'exit code'} {abs(code)} while starting"}
