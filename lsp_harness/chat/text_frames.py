"""The text of an answer as it arrives, for people who watch. Tool calls in it are not shown."""

from lsp_harness.chat.tool_calls import THINKING_END, THINKING_START
from lsp_harness.chat.tool_grammar import CALL_START
from lsp_harness.session.log.turn import Turn


class TextFrames:
    """Sends the reasoning and the text of an answer in pieces, as far as it is certainly not a tool call.

    Args:
        turn: The turn of the answer.
        may_be_call: Whether an answer that begins with `{` may be a call without its marks.
        has_marks: Whether the mark of a call begins one.
    """

    def __init__(self, turn: Turn, *, may_be_call: bool, has_marks: bool = True) -> None:
        self._turn = turn
        self._may_be_call = may_be_call
        self._has_marks = has_marks
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
        if self._may_be_call and not self._has_text and self._pending.lstrip()[:1] in ("", "{", "["):
            return
        self._has_text = True
        if self._has_marks:
            self._is_call = self._send_until(CALL_START)
        else:
            self._send(len(self._pending))

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
