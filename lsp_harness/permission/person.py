"""Questions to a person about actions, and the answers."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Literal, Protocol

from lsp_harness.permission.action import Action

Choice = Literal["once", "session", "always", "reject"]
"""An answer: this time, until the session ends, from now on, or no."""
CHOICES: tuple[Choice, ...] = ("once", "session", "always", "reject")
TITLES: Mapping[Choice, str] = {
    "once": "Allow once",
    "session": "Allow for this session",
    "always": "Always allow",
    "reject": "Reject",
}
"""Answer → its name on a button."""


@dataclass(frozen=True, slots=True)
class PermissionQuestion:
    """A question about an action.

    Attributes:
        request_id: The id in the event `permission.requested`.
        action: The action.
        reason: Why it is asked.
        suggestions: Rules that together would answer this question from now on. Empty if no rule can.
        text: The whole question for a person (see `question_text.py`).
    """

    request_id: str
    action: Action
    reason: str
    suggestions: tuple[str, ...] = ()
    text: str = ""


@dataclass(frozen=True, slots=True)
class PersonAnswer:
    """The answer of a person. `reason` says to the model why not, or what to do instead."""

    choice: Choice
    reason: str = ""


class AskPerson(Protocol):
    """A surface that shows questions to a person."""

    async def ask(self, question: PermissionQuestion) -> PersonAnswer | None:
        """Return the answer, or None if nobody is there."""
        ...


@dataclass(frozen=True, slots=True)
class RequestingUser:
    """The user who asked for an action: the request is the answer to the question whether it may happen.

    The request does not say that code of a folder may run which the user does not trust. A person is asked about that.

    Attributes:
        reason: What the user asked for, in words.
        person: The surface that can ask the user, or None.
    """

    reason: str
    person: AskPerson | None = None

    async def ask(self, question: PermissionQuestion) -> PersonAnswer | None:
        """Answer a question."""
        if question.action.untrusted:
            return await self.person.ask(question) if self.person else None
        return PersonAnswer("once", self.reason)


def offered_choices(suggestions: Collection[str]) -> tuple[Choice, ...]:
    """Return the answers to a question. Without a rule, no answer can count for more than this time."""
    return CHOICES if suggestions else ("once", "reject")
