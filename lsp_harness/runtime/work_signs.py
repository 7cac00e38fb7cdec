"""The signs that an agent in a terminal works on the last message."""

SIGN_WAIT_S = 15.0
"""Time for the first sign of work after Enter. After it, a screen that looks idle counts: the work may have been too
short to be seen."""


class WorkSigns:
    """The signs of work since the last message.

    Right after Enter the screen of an agent looks as idle as before, on a busy machine for seconds. It is no evidence
    of an answer before the agent was seen at work.

    Args:
        is_visible: Whether the screen of this agent shows that it works.
    """

    def __init__(self, *, is_visible: bool) -> None:
        self._is_visible = is_visible
        self._sent_at: float | None = None
        self.has_come = False
        """Whether a sign has come since the last message."""

    def expect(self, message: str, now: float) -> None:
        """Note that Enter is pressed now, which sends a message.

        Args:
            message: The message. A command of the agent, such as `/status`, is often done without any sign of work.
            now: The time in seconds.
        """
        self._sent_at, self.has_come = None if message.startswith("/") else now, False

    def note(self) -> None:
        """Take a sign: a report, or a screen of an agent that works or asks."""
        self.has_come = True

    def is_awaited(self, now: float) -> bool:
        """Return whether a screen that looks idle must still be distrusted."""
        if self._sent_at is None or self.has_come or not self._is_visible:
            return False
        return now - self._sent_at < SIGN_WAIT_S
