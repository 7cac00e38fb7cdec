"""One turn of a session, and the numbers that its events carry."""

from contextvars import ContextVar
from typing import TYPE_CHECKING

from lsp_harness.events.code_events import StateEntered
from lsp_harness.events.event_type import SessionEvent
from lsp_harness.events.session_events import StepStarted
from lsp_harness.wire.event import Event

if TYPE_CHECKING:
    from lsp_harness.kernel.log.session_log import SessionLog


current_turn: "ContextVar[Turn | None]" = ContextVar("current_turn", default=None)
"""The turn that runs in this task, and in the tasks that it started."""


class Turn:
    """One request of the user and its events.

    Attributes:
        number: The number of the turn in its session, from 0.
        step: The state or the step that the turn is in, or None before the first one.
        cause: The id of the first event, which is the cause of the others.
    """

    def __init__(self, log: "SessionLog", number: int) -> None:
        self._log = log
        self.number = number
        self.step: str | None = None
        self.cause: str | None = None

    @property
    def session_id(self) -> str:
        """The id of the session."""
        return self._log.id

    def belongs_to(self, log: "SessionLog") -> bool:
        """Return whether this is a turn of a session."""
        return self._log is log

    def append(self, event: SessionEvent) -> Event:
        """Append an event of this turn and return it in its envelope."""
        if isinstance(event, StateEntered):
            self.step = event.state
        elif isinstance(event, StepStarted):
            self.step = event.step_id
        envelope = self._log.append(event, turn=self.number, step=self.step, cause=self.cause)
        self.cause = self.cause or envelope.id
        return envelope

    def send_frame(self, type: str, **data: object) -> None:
        """Send a frame of this turn, such as a piece of text, to the listeners. It is not written."""
        self._log.send_frame(type, data, turn=self.number, step=self.step)
