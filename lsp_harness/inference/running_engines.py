"""Running engines of this user: the process at each socket, whether it is alive, what it reports, and how to end it.

A sign of life is an answer to `GET /health`. Another thread than that of the model gives it, so the engine answers
while it evaluates a long prompt. `silent_s` in the answer says how long the thread of the model has been silent.
"""

import asyncio
import json
import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from lsp_harness.config import paths
from lsp_harness.disk.file_reading import read_text
from lsp_harness.disk.file_writing import write_own_file
from lsp_harness.disk.local_channel import open_channel
from lsp_harness.errors import EngineUnavailable, FileError
from lsp_harness.process.process_table import resident_bytes
from lsp_harness.process.termination import KILL_WAIT_S, Ending, OpenProcess, describe_state, start_time

ANSWER_LINE_BYTES = 65_536
HEALTH_TIMEOUT_S = 2.0
"""How long a command waits for an engine's answer to `/health`."""
GRACE_S, STUCK_GRACE_S = 15.0, 3.0
"""How long an engine has after SIGTERM.

It saves its evaluated prompts; an engine that gives no sign of life is not expected to.
"""
MODEL_SILENCE_FACTOR = 3
"""Factor of `engine.silence_s` for the thread of the model: one operation of a large model may take seconds."""


def is_listening(path: Path) -> bool:
    """Return whether a process listens at this socket. The connection queue of a stuck process may be full."""
    return open_channel(path).probe() != "nobody"


def peer_pid(path: Path) -> int | None:
    """Return the id of the process that listens at this socket, as the kernel knows it; None if there is none."""
    channel = open_channel(path)
    if pid := channel.find_peer():
        return pid
    return _read_pid_file(path) if channel.probe() == "full" else None


async def query_health(path: Path, limit_s: float | None = None) -> dict[str, Any] | None:
    """Return the answer of the engine at this socket to `/health`.

    Returns:
        None if there is no answer within `limit_s` (by default `HEALTH_TIMEOUT_S`). The connection alone proves
        nothing, because the kernel accepts connections for a process that is stopped or dying.
    """
    try:
        async with asyncio.timeout(HEALTH_TIMEOUT_S if limit_s is None else limit_s):
            reader, writer = await open_channel(path).connect(ANSWER_LINE_BYTES)
            try:
                writer.write(b"GET /health HTTP/1.1\r\nHost: engine\r\nConnection: close\r\n\r\n")
                answer = await reader.read()
            finally:
                writer.close()
        head, _, body = answer.partition(b"\r\n\r\n")
        body_json: Any = json.loads(body) if head.startswith(b"HTTP/1.1 200") else None
    except (OSError, TimeoutError, ValueError):
        return None
    return cast("dict[str, Any]", body_json) if isinstance(body_json, dict) else None


async def is_alive(path: Path, limit_s: float, silence_s: float) -> bool:
    """Return whether the engine at this socket answers within `limit_s` and the thread of its model is not stuck."""
    answer = await query_health(path, limit_s)
    silent_s = answer.get("silent_s") if answer else None
    is_stuck = isinstance(silent_s, int | float) and silent_s > MODEL_SILENCE_FACTOR * silence_s
    return answer is not None and not is_stuck


@dataclass(frozen=True, slots=True)
class EngineEnd:
    """How the process of an engine ended."""

    pid: int
    ending: Ending
    condition: str
    """Why the process did not work before it ended (for example: it is stopped). Empty if nothing is known."""

    @property
    def description(self) -> str:
        """Return the result as the end of a sentence."""
        if not self.ending:
            state = describe_state(self.pid)
            cause = f": it is {state}" if state else ""
            return f"could not be ended, not even with SIGKILL{cause} (process {self.pid})"
        return "was ended" if self.ending == "terminated" else "was killed, as it did not end when it was asked to"


async def end_engine_at(path: Path, *, grace_s: float | None = None, pid: int | None = None) -> EngineEnd | None:
    """End the engine at a socket.

    Args:
        path: The path of the socket.
        grace_s: Seconds after SIGTERM; by default `GRACE_S`, or `STUCK_GRACE_S` if the engine gives no sign of life.
        pid: End only this process.

    Returns:
        How the process ended; None if there is no such process.

    Raises:
        EngineUnavailable: The process belongs to another user.
    """
    listener = peer_pid(path)
    if listener is None or (pid is not None and listener != pid):
        return None
    if grace_s is None:
        grace_s = GRACE_S if await query_health(path) else STUCK_GRACE_S
    try:
        process = OpenProcess(listener)
    except ProcessLookupError:
        return None
    try:
        # the process is open now, so from here on the id cannot mean another process: check once more
        if peer_pid(path) != listener:
            return None
        before = describe_state(listener)
        return EngineEnd(listener, await process.terminate(grace_s, KILL_WAIT_S), before)
    except PermissionError:
        raise EngineUnavailable(f"the engine (process {listener}) is not this user's and cannot be ended") from None
    finally:
        process.close()


async def end_engines() -> list[EngineEnd]:
    """End all engines of this user, and return how each process ended. Raise EngineUnavailable as `end_engine_at`."""
    ends = await asyncio.gather(*(end_engine_at(socket) for socket in engine_sockets()))
    return [end for end in ends if end]


def write_pid_file(path: Path) -> None:
    """Write the id of this process beside the socket, for commands that cannot connect to it later."""
    file = pid_file(path)
    try:
        write_own_file(file, f"{os.getpid()} {start_time(os.getpid())}\n".encode())
    except OSError as error:
        paths.warn_not_saved("which process the engine is", paths.RUNTIME, file, error)


def pid_file(path: Path) -> Path:
    """Return the file with the process id of the engine at a socket."""
    return path.with_suffix(".pid")


def _read_pid_file(path: Path) -> int | None:
    """Return the process id from the file beside the socket, if that process still runs."""
    try:
        number, _, started = read_text(pid_file(path)).strip().partition(" ")
        pid = int(number)
    except (FileError, ValueError):
        return None
    return pid if started and start_time(pid) == started else None


@dataclass(frozen=True, slots=True)
class RunningEngine:
    """An engine process.

    Attributes:
        pid: The id of the process.
        socket: The socket at which it listens.
        rss_bytes: The memory that it uses; 0 if the system does not say.
        props: The answer to `GET /props`; empty if the engine does not answer.
        silence: Why the engine does not answer; empty if it answers.
    """

    pid: int
    socket: Path
    rss_bytes: int
    props: dict[str, Any]
    silence: str = ""


def list_engines() -> list[RunningEngine]:
    """Ask each engine of this user for its properties."""
    sockets = engine_sockets()
    # in parallel, because each engine that is stuck takes the whole time limit
    with ThreadPoolExecutor(max(1, len(sockets))) as threads:
        return [engine for engine in threads.map(_query_engine, sockets) if engine]


def engine_sockets() -> list[Path]:
    """Return the sockets of all engines. An engine that was killed leaves its socket."""
    return sorted(paths.runtime_folder().glob("engine-*.sock"))


def _query_engine(socket: Path) -> RunningEngine | None:
    # the import takes a tenth of a second, which a command without an engine need not wait for
    import httpx2

    pid = peer_pid(socket)
    if pid is None:
        return None
    try:
        access = open_channel(socket).http_access()
    except OSError:
        return None
    with httpx2.Client(
        transport=httpx2.HTTPTransport(uds=access.socket),
        base_url=access.base,
        headers=dict(access.headers),
        timeout=HEALTH_TIMEOUT_S,
        trust_env=False,
    ) as http:
        try:
            answer: Any = http.get("/props").json()
        except (httpx2.HTTPError, ValueError):
            answer = None
    props = cast("dict[str, Any]", answer) if isinstance(answer, dict) else {}
    return RunningEngine(pid, socket, resident_bytes(pid), props, "" if props else _describe_silence(pid))


def _describe_silence(pid: int) -> str:
    cause = describe_state(pid)
    return f"it does not answer within {HEALTH_TIMEOUT_S:g} s" + (f": it is {cause}" if cause else "")
