"""How fast the user types, and so how long to wait before the model is asked, lest that begins in the middle of a burst.

Only gaps between single keys within a burst count: a pause is thinking and a paste is no key. Recent gaps count, by their
quantiles, so that neither one slow key nor a change of speed stays in it for long.
"""

from collections import deque

from lsp_harness.text.edit import Edit

PAUSE = 0.6
"""Seconds without a key after which a burst has ended."""
GAPS = 48
"""That are remembered: some two lines of code."""
FEWEST = 8
"""Gaps without which nothing is known of a user."""
SHORT = 3
"""Bytes that one key inserts at most, a pair of brackets or a character of any script."""
COVERED = 0.9
"""Of the gaps that can be waited out at all, the share that is."""
WORTH = 0.5
"""Share of all gaps that must be short enough to be waited out; of a slower typist every key would only be later."""


class Rhythm:
    """The keys of one user, whichever document they go to."""

    def __init__(self) -> None:
        self._gaps: deque[float] = deque(maxlen=GAPS)
        self._last: float | None = None

    def key(self, at: float, edit: Edit) -> None:
        """Something was typed or deleted at the time `at`, in seconds."""
        lines = edit.new.strip(b" \t")
        single = edit.end - edit.start <= SHORT and (len(edit.new) <= SHORT or lines in (b"\n", b"\r\n", b"\r"))
        if single and self._last is not None and 0 <= at - self._last < PAUSE:
            self._gaps.append(at - self._last)
        self._last = at if single else None

    def wait(self, most: float) -> float:
        """Seconds after a key that are worth waiting for the next one, `most` of them at most."""
        gaps = sorted(self._gaps)
        short = [gap for gap in gaps if gap <= most]
        if len(gaps) < FEWEST or len(short) < WORTH * len(gaps):
            return 0.0
        return short[min(len(short) - 1, int(COVERED * len(short)))]
