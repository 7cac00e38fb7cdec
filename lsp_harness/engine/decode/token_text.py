"""From the bytes of tokens to text that can be shown."""

import codecs
from collections.abc import Sequence


class TextDecoder:
    """A decoder from the bytes of tokens to text.

    The text has whole characters only, and nothing of a stop string or after it.

    Args:
        stops: The stop strings.
    """

    def __init__(self, stops: Sequence[str]) -> None:
        self._stops = [stop.encode("utf-8", "replace") for stop in stops if stop]
        self._pending = b""
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self.is_stopped = False
        """Whether a stop string has occurred."""

    def add(self, piece: bytes) -> str:
        """Add the bytes of a token. Return the text that can be shown now."""
        self._pending += piece
        positions = [position for stop in self._stops if (position := self._pending.find(stop)) >= 0]
        if positions:
            self.is_stopped = True
            self._pending = self._pending[: min(positions)]
            return self.flush()
        withheld = max(
            (size for stop in self._stops for size in range(1, len(stop)) if self._pending.endswith(stop[:size])),
            default=0,
        )
        return self._take(len(self._pending) - withheld)

    def flush(self) -> str:
        """Return the text that was withheld for an incomplete stop string. Incomplete characters are dropped."""
        return self._take(len(self._pending))

    def _take(self, size: int) -> str:
        ready, self._pending = self._pending[:size], self._pending[size:]
        return self._decoder.decode(ready)
