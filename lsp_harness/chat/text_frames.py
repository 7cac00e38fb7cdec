"""The text of an answer as it arrives, for people who watch. Tool calls in it are not shown."""

from lsp_harness.chat.tool_grammar import CALL_START
from lsp_harness.session.log.turn import Turn


class TextFrames:
    """Sends the text of an answer in pieces, as far as it is certainly not a tool call.

    Args:
        turn: The turn of the answer.
        may_be_call: Whether an answer that begins with `{` may be a call without its marks.
    """

    def __init__(self, turn: Turn, *, may_be_call: bool) -> None:
        self._turn = turn
        self._may_be_call = may_be_call
        self._pending = ""
        self._has_text = False
        self._is_call = False

    def add(self, text: str) -> None:
        """Send a piece of the answer, or keep it until it is certainly text."""
        if self._is_call or not text:
            return
        self._pending += text
        if self._may_be_call and not self._has_text and self._pending.lstrip()[:1] in ("", "{", "["):
            return
        self._has_text = True
        mark = self._pending.find(CALL_START)
        if mark >= 0:
            self._is_call = True
            self._send(mark)
            return
        sizes = range(len(CALL_START) - 1, 0, -1)
        open_size = next((size for size in sizes if self._pending.endswith(CALL_START[:size])), 0)
        self._send(len(self._pending) - open_size)

    def end(self, *, is_call: bool) -> None:
        """Send what was kept, unless it is a call."""
        if not (is_call or self._is_call):
            self._send(len(self._pending))

    def _send(self, size: int) -> None:
        text, self._pending = self._pending[:size], self._pending[size:]
        if text:
            self._turn.send_frame("text.delta", content=text)
