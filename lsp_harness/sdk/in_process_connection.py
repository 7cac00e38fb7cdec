"""A session in this process. This is the only module of the SDK that reaches the session itself."""

import asyncio
from collections.abc import Awaitable
from importlib import import_module
from typing import Any, Protocol, cast

from lsp_harness.sdk.sdk_errors import HarnessError
from lsp_harness.sdk.session_connection import Frame

SESSION_HOST = "lsp_harness.sessions.session_host"
EXIT_WAIT_S = 5.0

FrameQueue = asyncio.Queue[Frame | None]


class ServeSession(Protocol):
    """The function that serves one session until None comes from `incoming` or the command `exit`.

    The first frame is the command `open` with the options. It ends the frames of `outgoing` with None.
    """

    def __call__(self, incoming: FrameQueue, outgoing: FrameQueue) -> Awaitable[None]: ...


def load_host() -> ServeSession:
    """Return the function that serves a session. It is imported here, because the SDK alone must be quick to import."""
    try:
        return cast("ServeSession", import_module(SESSION_HOST).serve_session)
    except (ImportError, AttributeError) as error:
        raise HarnessError(
            f"this installation cannot run a session in this process: {error}", code="start_failed"
        ) from error


class InProcessConnection:
    """The connection to a session that a task of this process serves.

    Args:
        options: The options of the session.
        serve: The function that serves it.
    """

    pid: int | None = None

    def __init__(self, options: dict[str, Any], serve: ServeSession | None = None) -> None:
        self._options = options
        self._serve = serve
        self._incoming: FrameQueue = asyncio.Queue()
        self._outgoing: FrameQueue = asyncio.Queue()
        self._task: asyncio.Future[None] | None = None

    async def open(self) -> None:
        serve = self._serve or load_host()
        await self.write({"command": "open", "options": self._options})
        self._task = asyncio.ensure_future(serve(self._incoming, self._outgoing))
        self._task.add_done_callback(self._end_output)

    def _end_output(self, task: "asyncio.Future[None]") -> None:
        if not task.cancelled():
            # `end_error` reports it; here it counts as read
            task.exception()
        self._outgoing.put_nowait(None)

    async def read(self) -> dict[str, Any] | None:
        frame = await self._outgoing.get()
        return None if frame is None else dict(frame)

    async def write(self, frame: Frame) -> None:
        if self._task and self._task.done():
            raise await self.end_error()
        await self._incoming.put(frame)

    async def end_error(self) -> HarnessError:
        cause = self._task.exception() if self._task and self._task.done() and not self._task.cancelled() else None
        error = HarnessError(f"the session ended{f': {cause}' if cause else ''}", code="exited")
        error.__cause__ = cause
        return error

    async def close(self, at_once: bool) -> None:
        if not self._task:
            return
        try:
            if not at_once:
                await self._incoming.put({"command": "exit"})
                await self._incoming.put(None)
                await asyncio.wait({self._task}, timeout=EXIT_WAIT_S)
        finally:
            self._task.cancel()
        await asyncio.wait({self._task}, timeout=EXIT_WAIT_S)

    def kill(self) -> None:
        if self._task:
            self._task.cancel()
