"""The text of an answer as it arrives, for people who watch. Tool calls in it are not shown."""

import re

from lsp_harness.chat.tool_calls import THINKING_END, THINKING_START, TOOLS_START
from lsp_harness.chat.tool_grammar import CALL_START
from lsp_harness.kernel.log.turn import Turn

OPENING = re.compile(rf"\A(?:```[\w-]*[ \t]*\n|{TOOLS_START})\s*")


class TextFrames:
    """Sends the reasoning and the text of an answer in pieces, as far as it is certainly not a tool call.

    Args:
        turn: The turn of the answer.
        may_be_call: Whether an answer that begins with JSON may be a call without its marks.
    """

    def __init__(self, turn: Turn, *, may_be_call: bool) -> None:
        self._turn = turn
        self._may_be_call = may_be_call
        self._pending = ""
        self._has_text = False
        self._is_call = False
        self._is_thinking = False
        self._may_think = True

    def add(self, text: str) -> None:
        """Send a piece of the answer, or keep it until it is certainly text."""
        if self._is_call or not text:
            return
        self._pending += text
        if not self._pass_thinking():
            return
        if self._may_be_call and not self._has_text and _may_begin_call(self._pending):
            return
        self._has_text = True
        self._is_call = self._send_until(CALL_START)

    def add_thinking(self, text: str) -> None:
        """Send a piece of the reasoning of a service that sends it apart."""
        if text:
            self._turn.send_frame("thinking.delta", content=text)

    def end(self, *, is_call: bool) -> None:
        """Send what was kept, unless it is a call."""
        if not (is_call or self._is_call):
            self._send(len(self._pending))

    def _pass_thinking(self) -> bool:
        """Send the reasoning at the beginning of an answer. Return whether the answer goes on after it."""
        if self._may_think:
            begun = self._pending.lstrip()
            if THINKING_START.startswith(begun):
                return False
            self._may_think, self._is_thinking = False, begun.startswith(THINKING_START)
            if self._is_thinking:
                self._pending = begun.removeprefix(THINKING_START)
        if self._is_thinking:
            if not self._send_until(THINKING_END):
                return False
            self._is_thinking = False
            self._pending = self._pending.removeprefix(THINKING_END).lstrip()
        return True

    def _send_until(self, mark: str) -> bool:
        """Send what stands before a mark, and return whether the mark is there."""
        place = self._pending.find(mark)
        if place < 0:
            sizes = range(len(mark) - 1, 0, -1)
            place = len(self._pending) - next((size for size in sizes if self._pending.endswith(mark[:size])), 0)
        self._send(place)
        return self._pending.startswith(mark)

    def _send(self, size: int) -> None:
        text, self._pending = self._pending[:size], self._pending[size:]
        if text:
            self._turn.send_frame("thinking.delta" if self._is_thinking else "text.delta", content=text)


def _may_begin_call(text: str) -> bool:
    """Return whether a text may be the beginning of JSON that is a call, also within a fence."""
    begun = text.lstrip()
    if TOOLS_START.startswith(begun) or "```".startswith(begun):
        return True
    if begun.startswith("```") and "\n" not in begun:
        return True
    rest = OPENING.sub("", begun, count=1)
    return rest[:1] in ("", "{", "[")
