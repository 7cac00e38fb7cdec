"""Runs a session in this process for a command: prompts in, frames out."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any, cast

from lsp_harness.errors import HarnessError
from lsp_harness.sessions.session_options import SessionOptions

if TYPE_CHECKING:
    from lsp_harness.sessions.session_host import FrameQueue

Frame = Mapping[str, Any]


class SessionNotOpened(HarnessError):
    """The session could not be opened. The exit status is that of the reason."""

    def __init__(self, message: str, exit_code: int) -> None:
        super().__init__(message)
        self.exit_code = exit_code


def as_object(value: Any) -> Mapping[str, Any]:
    """Return a member of a frame as an object. Anything else is an empty object."""
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}


class SessionClient:
    """The two ends of a session that a task of this process serves.

    Attributes:
        incoming: The objects for the session.
        outgoing: The objects of the session. None is the last item.
    """

    def __init__(self) -> None:
        self.incoming: FrameQueue = asyncio.Queue()
        self.outgoing: FrameQueue = asyncio.Queue()

    def send(self, frame: Frame) -> None:
        """Send an object to the session."""
        self.incoming.put_nowait(frame)

    def end(self) -> None:
        """End the input: what was asked is still answered."""
        self.incoming.put_nowait(None)

    async def frames(self) -> AsyncIterator[Frame]:
        """Yield the frames until the session ends."""
        while (frame := await self.outgoing.get()) is not None:
            yield frame


@asynccontextmanager
async def run_session(options: SessionOptions) -> AsyncGenerator[SessionClient]:
    """Serve a session while the block runs. At its end, the session is closed."""
    # imported here, because it takes long and the help of a command does not need it
    from lsp_harness.sessions.session_host import serve_session

    client = SessionClient()
    task = asyncio.ensure_future(serve_session(client.incoming, client.outgoing, options))
    try:
        yield client
        client.end()
        await task
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
