"""The running engines of this user, with the properties that each reports of itself."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from lsp_harness.config import paths
from lsp_harness.inference.running_engines import HEALTH_TIMEOUT_S, peer_pid
from lsp_harness.process.process_table import resident_bytes
from lsp_harness.process.termination import describe_state


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
    with httpx2.Client(
        transport=httpx2.HTTPTransport(uds=str(socket)),
        base_url="http://engine",
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
