"""The typing speed of the user, and how long to wait for their next key before the model is asked.

Only the gaps between single keys within a burst count: a pause is for thinking, and a paste is not a key. The quantiles
of the recent gaps are used, so that one slow key, or a change of speed, has no lasting effect.
"""

from collections import deque
from collections.abc import Callable
from time import monotonic

from lsp_harness.text.edit import Edit

BURST_END_S = 0.6
"""Seconds without a key after which a burst has ended."""
MAX_GAPS = 48
"""Number of gaps that are remembered: about two lines of code."""
MIN_GAPS = 8
"""With fewer gaps, nothing is known of the user's speed."""
MAX_KEY_BYTES = 3
"""Maximum number of bytes that one key inserts: a pair of brackets, or a character of any script."""
COVERED_SHARE = 0.9
"""Share of the short gaps that the wait covers."""
MIN_SHORT_SHARE = 0.5
"""Share of all gaps that must be short enough to wait for. For a slower typist a wait would only delay every answer."""


class TypingRhythm:
    """The speed at which one user types, measured over all documents.

    Args:
        clock: Returns the present time in seconds.
    """

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self.clock = clock
        self._gaps_s: deque[float] = deque(maxlen=MAX_GAPS)
        self._last_s: float | None = None

    def add(self, time_s: float, edit: Edit) -> None:
        """Record that the user typed or deleted something at a time of the clock."""
        inserted_text = edit.new.strip(b" \t")
        is_key = edit.end - edit.start <= MAX_KEY_BYTES and (
            len(edit.new) <= MAX_KEY_BYTES or inserted_text in (b"\n", b"\r\n", b"\r")
        )
        if is_key and self._last_s is not None and 0 <= time_s - self._last_s < BURST_END_S:
            self._gaps_s.append(time_s - self._last_s)
        self._last_s = time_s if is_key else None

    def wait_s(self, max_wait_s: float) -> float:
        """Return the seconds to wait for the next key after a key, at most `max_wait_s`."""
        gaps = sorted(self._gaps_s)
        short_gaps = [gap for gap in gaps if gap <= max_wait_s]
        if len(gaps) < MIN_GAPS or len(short_gaps) < MIN_SHORT_SHARE * len(gaps):
            return 0.0
        return short_gaps[min(len(short_gaps) - 1, int(COVERED_SHARE * len(short_gaps)))]
