"""Start a process that outlives its parent, and hear from it once: ready, or why not."""

import asyncio
import json
import os
import subprocess
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path

LOG_BYTES = 1_000_000


def rotate(log: Path) -> None:
    """Keep one older log once the current one has grown past `LOG_BYTES`."""
    if log.exists() and log.stat().st_size > LOG_BYTES:
        log.replace(log.with_suffix(log.suffix + ".1"))


async def start(argv: Sequence[str], env: Mapping[str, str], log: Path) -> dict[str, object]:
    """Run `argv --ready-fd N` in a session of its own, stderr to `log`.

    Returns the one JSON object the process writes to descriptor N; `{"error": …}` when it ends without a word.
    """
    rotate(log)
    reader, writer = os.pipe()
    try:
        with open(os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), "ab") as out:
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
    if line:
        return json.loads(line)
    code = await asyncio.to_thread(child.wait)
    return {"error": f"it ended with {'signal' if code < 0 else 'exit code'} {abs(code)} while starting"}
