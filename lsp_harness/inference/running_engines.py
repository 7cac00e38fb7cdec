"""Engines of ours that run: who listens at a socket, whether it gives a sign of life, and its end.

A sign of life is an answer to `GET /health`, which the engine gives from another thread than the one that evaluates, so a
long prompt on a slow machine is no silence. What the thread of the model does is told in that answer: `silent_s`.
"""

import asyncio
import json
import os
import socket
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, cast

from lsp_harness.config import paths
from lsp_harness.disk.file_reading import read_text
from lsp_harness.disk.file_writing import write_own_file
from lsp_harness.errors import EngineUnavailable, FileProblem
from lsp_harness.process.termination import KILL_WAIT_S, Ending, OpenProcess, describe_state, start_time

LOOK_S = 2.0
"""How long a command that only wants to know waits for an engine's answer."""
GRACE_S, STUCK_GRACE_S = 15.0, 3.0
"""How long an engine has after SIGTERM: it saves what it has evaluated; one that gives no sign of life is not expected to."""
MODEL_FACTOR = 3
"""The thread of the model has given no sign for so many times `engine.silence_s`: one operation of a large model may take
seconds on a slow machine."""


def listening(path: Path) -> bool:
    """Whether a process has this socket open. One that is stuck may have more callers waiting than the system lets wait."""
    return _connected(path) != "nobody"


def peer(path: Path) -> int | None:
    """The process that listens there, from the kernel and not from what it says; None where there is none."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        match _connect(probe, path):
            case "connected":
                return struct.unpack("3i", probe.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))[0]
            case "full":
                return _recorded(path)
            case _:
                return None


async def health(path: Path, limit_s: float | None = None) -> dict[str, Any] | None:
    """What the engine at this socket says to `/health`; None without an answer in time, by default `LOOK_S`. The kernel accepts connections for a
    process that is stopped, or dying."""
    try:
        async with asyncio.timeout(LOOK_S if limit_s is None else limit_s):
            reader, writer = await asyncio.open_unix_connection(path)
            try:
                writer.write(b"GET /health HTTP/1.1\r\nHost: engine\r\nConnection: close\r\n\r\n")
                answer = await reader.read()
            finally:
                writer.close()
        head, _, body = answer.partition(b"\r\n\r\n")
        said: Any = json.loads(body) if head.startswith(b"HTTP/1.1 200") else None
    except (OSError, TimeoutError, ValueError):
        return None
    return cast("dict[str, Any]", said) if isinstance(said, dict) else None


async def alive(path: Path, limit_s: float, silence_s: float) -> bool:
    """Whether the engine at this socket answers within `limit_s`, and its model is at work where there is work."""
    said = await health(path, limit_s)
    silent = said.get("silent_s") if said else None
    return said is not None and not (isinstance(silent, int | float) and silent > MODEL_FACTOR * silence_s)


@dataclass(frozen=True, slots=True)
class Ended:
    """A process that was to end, and how it did."""

    pid: int
    ending: Ending
    condition: str
    """What kept it from working before that; empty where nothing is known."""

    @property
    def words(self) -> str:
        """What became of it, as the end of a sentence."""
        if not self.ending:
            left = describe_state(self.pid)
            why = f": it is {left}" if left else ""
            return f"could not be ended, not even with SIGKILL{why} (process {self.pid})"
        return "was ended" if self.ending == "terminated" else "was killed, as it did not end when it was asked to"


async def end(path: Path, *, grace_s: float | None = None, pid: int | None = None) -> Ended | None:
    """End the engine at a socket, only that of `pid` where one is named; None where there is none. An engine that gives no
    sign of life has less than `GRACE_S`. Raises EngineUnavailable where it is another user's."""
    found = peer(path)
    if found is None or (pid is not None and found != pid):
        return None
    if grace_s is None:
        grace_s = GRACE_S if await health(path) else STUCK_GRACE_S
    try:
        process = OpenProcess(found)
    except ProcessLookupError:
        return None
    try:
        # opened first and looked at again: from here on the number cannot mean another process
        if peer(path) != found:
            return None
        before = describe_state(found)
        return Ended(found, await process.terminate(grace_s, KILL_WAIT_S), before)
    except PermissionError:
        raise EngineUnavailable(f"the engine (process {found}) is not this user's and cannot be ended") from None
    finally:
        process.close()


def record(path: Path) -> None:
    """Write down beside the socket that this process has it, for a time when nobody can connect any more."""
    file = record_file(path)
    try:
        write_own_file(file, f"{os.getpid()} {start_time(os.getpid())}\n".encode())
    except OSError as error:
        paths.unkept("which process the engine is", paths.RUNTIME, file, error)


def record_file(path: Path) -> Path:
    return path.with_suffix(".pid")


def _recorded(path: Path) -> int | None:
    """The process that wrote its number beside the socket, if it is still that one."""
    try:
        number, _, started = read_text(record_file(path)).strip().partition(" ")
        pid = int(number)
    except (FileProblem, ValueError):
        return None
    return pid if started and start_time(pid) == started else None


def _connected(path: Path) -> Literal["connected", "full", "nobody"]:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        return _connect(probe, path)


def _connect(probe: socket.socket, path: Path) -> Literal["connected", "full", "nobody"]:
    probe.setblocking(False)
    try:
        probe.connect(str(path))
    except BlockingIOError:
        return "full"
    except OSError:
        return "nobody"
    return "connected"
