"""The bytes of terminals on their way to the editor.

The editor asks for each piece. So no more than one piece of a terminal is on its way, a program that prints without end
cannot delay the other messages, and no port is opened for it. The WebSocket of `lsp-harness api` shows other agents:
those of its own process.
"""

import asyncio
import base64
import time
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lsp_harness.errors import UsageError
from lsp_harness.runtime.agent_errors import InvalidSpec
from lsp_harness.runtime.agent_state import ENDED
from lsp_harness.text.ulid import make_ulid

if TYPE_CHECKING:
    from lsp_harness.runtime.agent import Agent
    from lsp_harness.runtime.terminal.terminal_viewer import TerminalViewer

MAX_VIEWS = 64
MAX_PIECE_BYTES = 48 * 1024
FRAME_S = 0.016
"""Time between two pieces of a terminal that prints all the time. The output of this time is one piece."""
END_S = 5.0
"""Time for an agent to end after its output has ended. After it, the reason is not told."""
POLL_S = 20.0
"""Time after which a request for a piece is answered although nothing was printed."""


@dataclass(slots=True)
class _View:
    """One view of a terminal.

    Attributes:
        agent: The agent.
        viewer: Yields the output of the terminal.
        rest: The output that did not fit into the last piece.
        sent_at: The time of the last piece.
        lock: Lets one request for a piece wait at a time.
    """

    agent: "Agent"
    viewer: "TerminalViewer"
    rest: bytes
    sent_at: float
    lock: asyncio.Lock


def resize_terminal(agent: "Agent", columns: int | None, rows: int | None) -> tuple[int, int]:
    """Give the terminal of an agent another size. Return the width and the height that it has then.

    Raises:
        InvalidSpec: The agent has no terminal.
    """
    terminal = agent.terminal
    if terminal is None:
        raise InvalidSpec("the agent has no terminal", "start it with terminal: true, or read its log")
    screen = terminal.screen
    terminal.resize(columns or screen.columns, rows or screen.lines)
    return screen.columns, screen.lines


class TerminalViews:
    """The views of the terminals of one client."""

    def __init__(self) -> None:
        self._views: dict[str, _View] = {}

    def attach(self, agent: "Agent") -> str:
        """Begin a view and return its id. Its first piece is the screen as it is.

        Raises:
            InvalidSpec: The agent has no terminal.
        """
        if agent.terminal is None:
            raise InvalidSpec("the agent has no terminal", "start it with terminal: true, or read its log")
        while len(self._views) >= MAX_VIEWS:
            # an editor that forgets views keeps the newest ones
            self.detach(next(iter(self._views)))
        view_id = make_ulid()
        self._views[view_id] = _View(agent, agent.terminal.attach(), b"", 0.0, asyncio.Lock())
        return view_id

    async def read(self, view_id: str) -> dict[str, Any]:
        """Return the next piece of the output. Wait for it if nothing was printed.

        Raises:
            UsageError: There is no such view.
        """
        view = self._views.get(view_id)
        if view is None:
            raise UsageError("there is no such view of a terminal; attach again")
        async with view.lock:
            data, is_end = await self._read_piece(view)
        reason = ""
        if is_end:
            self.detach(view_id)
            # the output ends a moment before the agent
            with suppress(TimeoutError):
                async with asyncio.timeout(END_S):
                    await view.agent.wait_until(lambda state: state.status in ENDED)
            reason = view.agent.state.message
        return {"data": base64.b64encode(data).decode("ascii"), "isEnd": is_end, "reason": reason}

    def detach(self, view_id: str) -> None:
        """End a view. The agent goes on."""
        if view := self._views.pop(view_id, None):
            view.viewer.close()

    async def _read_piece(self, view: _View) -> tuple[bytes, bool]:
        from lsp_harness.runtime.terminal.terminal_viewer import SlowViewer

        if not view.rest:
            await asyncio.sleep(max(0.0, view.sent_at + FRAME_S - time.monotonic()))
            try:
                async with asyncio.timeout(POLL_S):
                    view.rest = await anext(view.viewer)
            except TimeoutError:
                return b"", False
            except StopAsyncIteration:
                return b"", True
            except SlowViewer:
                # what was missed is not sent, but the screen as it is now
                view.viewer = view.agent.terminal.attach() if view.agent.terminal else view.viewer
                return b"", view.agent.terminal is None
        piece, view.rest = view.rest[:MAX_PIECE_BYTES], view.rest[MAX_PIECE_BYTES:]
        view.sent_at = time.monotonic()
        return piece, False
