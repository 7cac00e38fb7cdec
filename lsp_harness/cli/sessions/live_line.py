"""One line of a terminal that says what a running turn does: its state, its time, its candidates and its tokens."""

import asyncio
import re
import shutil
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from itertools import count
from time import monotonic
from typing import Any, TextIO, TypeVar

from lsp_harness.text.visible_text import escape_controls

INTERVAL_S = 0.25
ERASE = "\r\x1b[K"
SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
PLANNED = re.compile(r"Producing (?:candidates? )?(?:\d+–)?(\d+)")
"""Matches the number of candidates in the reason of a state."""
T = TypeVar("T")


class LiveLine:
    """The line about a running turn. Nothing is written to a stream that is no terminal.

    Args:
        stream: The terminal.
        now_s: Returns the time in seconds.
    """

    def __init__(self, stream: TextIO, now_s: Callable[[], float] = monotonic) -> None:
        self._stream, self._now_s = stream, now_s
        self._is_terminal = stream.isatty()
        self._is_drawn = self._is_paused = False
        self._frames = count()
        self.begin()

    def begin(self) -> None:
        """Forget the turn before."""
        self._start_s = self._now_s()
        self._state, self._reason, self._planned, self._tokens = "", "", 0, 0
        self._generated, self._rejected = set[int](), set[int]()

    def follow(self, frame: Mapping[str, Any]) -> None:
        """Take over what a frame says about the turn."""
        candidate = frame.get("candidate")
        match frame.get("type"), frame.get("status"):
            case "state", "entered":
                self._state = str(frame.get("state", ""))
                if planned := PLANNED.match(str(frame.get("reason") or "")):
                    self._planned = int(planned[1])
            case "candidate", "rejected":
                self._reason = str(frame.get("reason") or "")
                self._rejected.add(int(candidate or 0))
            case "candidate", _:
                self._generated.add(int(candidate or 0))
            case "cost_update", _:
                self._tokens += int(frame.get("output_tokens") or 0)
            case "tool_start", _:
                self._state = str(frame.get("tool", ""))
            case _:
                pass

    @property
    def text(self) -> str:
        """The line without its spinner."""
        parts = [self._state.lower() or "waiting", f"{self._now_s() - self._start_s:.0f} s"]
        if tried := len(self._generated | self._rejected):
            parts.append(f"candidate {tried} of {max(self._planned, tried)}")
        if self._tokens:
            parts.append(f"{self._tokens:,} tokens")
        if self._reason:
            parts.append(f"last rejected: {self._reason}")
        return escape_controls(" · ".join(parts)).replace("\n", " ")

    def draw(self) -> None:
        """Write the line over itself."""
        if self._is_terminal and not self._is_paused:
            width = shutil.get_terminal_size().columns - 3
            mark = SPINNER[next(self._frames) % len(SPINNER)]
            self._stream.write(f"{ERASE}{mark} {self.text[:width]}")
            self._stream.flush()
            self._is_drawn = True

    def erase(self) -> None:
        """Remove the line, so that another text can be written in its place."""
        if self._is_drawn:
            self._stream.write(ERASE)
            self._stream.flush()
            self._is_drawn = False

    def pause(self, *, is_paused: bool) -> None:
        """Remove the line while a person is asked, or let it be drawn again."""
        self.erase()
        self._is_paused = is_paused

    async def run_beside(self, work: Awaitable[T]) -> T:
        """Draw the line again and again while other work runs, and return its result."""
        if not self._is_terminal:
            return await work

        async def draw_often() -> None:
            while True:
                await asyncio.sleep(INTERVAL_S)
                self.draw()

        drawing = asyncio.ensure_future(draw_often())
        try:
            return await work
        finally:
            drawing.cancel()
            with suppress(asyncio.CancelledError):
                await drawing
            self.erase()
