"""From the bytes of tokens to text that may be shown."""

import codecs
from collections.abc import Sequence


class Text:
    """Bytes of pieces → text to show: whole characters only, never past or within a stop string."""

    def __init__(self, stops: Sequence[str]) -> None:
        self._stops = [stop.encode("utf-8", "replace") for stop in stops if stop]
        self._pending = b""
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self.stopped = False

    def add(self, piece: bytes) -> str:
        self._pending += piece
        ends = [at for stop in self._stops if (at := self._pending.find(stop)) >= 0]
        if ends:
            self.stopped = True
            self._pending = self._pending[: min(ends)]
            return self.flush()
        hold = max(
            (size for stop in self._stops for size in range(1, len(stop)) if self._pending.endswith(stop[:size])),
            default=0,
        )
        return self._take(len(self._pending) - hold)

    def flush(self) -> str:
        """What was held back for a stop string that did not come. A character cut in two is never shown."""
        return self._take(len(self._pending))

    def _take(self, size: int) -> str:
        ready, self._pending = self._pending[:size], self._pending[size:]
        return self._decoder.decode(ready)
