"""The question that the screen of an agent shows."""

from collections.abc import Callable

from lsp_harness.runtime.agent_state import StateClaim
from lsp_harness.runtime.connection import AgentQuestion, Observer, QuestionWithdrawn
from lsp_harness.runtime.states.screen_reader import ScreenReading

DIALOG_WAIT_S = 2.0
"""Time for a question to appear on the screen after the agent reported that it is blocked. A question without its text
tells the gate nothing."""


class ShownQuestion:
    """The question that the screen of one agent shows, from its reports and its dialogs.

    Args:
        observe: Receives the questions.
        find_login_url: Returns the address of a login on the screen, or an empty text.
    """

    def __init__(self, observe: Observer, find_login_url: Callable[[], str]) -> None:
        self._observe, self._find_login_url = observe, find_login_url
        self._count = 0
        self._blocked_since: float | None = None
        self.question: AgentQuestion | None = None
        """The present question."""

    def update(self, reported: StateClaim | None, reading: ScreenReading, now: float) -> bool:
        """Ask the question that the agent shows now, and withdraw the one that it does not show any more.

        Args:
            reported: What the agent reports about its state.
            reading: What the screen shows.
            now: The time in seconds.

        Returns:
            Whether everything is known. Otherwise the agent reported a question that the screen does not show yet.
        """
        shown = if_blocked(reading.screen) or if_blocked(reading.title)
        blocked, dialog = if_blocked(reported) or shown, reading.dialog
        if blocked is None:
            self._blocked_since = None
            self.withdraw()
            return True
        if self._blocked_since is None:
            self._blocked_since = now
        # a title tells of a question before the screen has it
        if if_blocked(reading.screen) is None and dialog is None and now - self._blocked_since < DIALOG_WAIT_S:
            return False
        kind = (shown.kind if shown and blocked.kind in ("", "dialog") else blocked.kind) or "dialog"
        text = blocked.message or (shown.message if shown else "") or (dialog.body if dialog else "")
        if self.question and (self.question.kind, self.question.text) == (kind, text):
            return True
        self.withdraw()
        self._count += 1
        self.question = AgentQuestion(
            id=f"q{self._count}",
            kind=kind,
            text=text,
            input={"text": dialog.body} if dialog else {},
            options=dialog.options if dialog else (),
            url=((shown.url if shown else "") or self._find_login_url()) if kind == "auth" else "",
            delivery="keys",
        )
        self._observe(self.question)
        return True

    def withdraw(self) -> None:
        """Forget the question."""
        if question := self.question:
            self.question = None
            self._observe(QuestionWithdrawn(question.id))


def if_blocked(claim: StateClaim | None) -> StateClaim | None:
    """Return a claim if it says that the agent waits for an answer."""
    return claim if claim and claim.activity == "blocked" else None
