"""The subject of a conversation in a few lines of bounded size. No model writes them."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, cast

from lsp_harness.wire.event import Event

MAX_REQUESTS = 6
"""Requests of the user that are remembered. The first one is kept in addition."""
MAX_FAILURES = 8
MAX_PATHS = 12
MAX_REQUEST_CHARS = 240
MAX_LINE_CHARS = 160
KEY_INPUTS = ("path", "command", "name", "pattern", "name_path")
"""Inputs that say what a call is about, the most telling first."""


@dataclass(slots=True)
class Activity:
    """The requests, calls and failures of a conversation.

    Attributes:
        first_request: The first request of the user.
        requests: The last requests.
        calls: The number of calls of each tool.
        subjects: The id of each call that has no result → the tool and what the call is about.
        failures: The tool and the subject of a failed call → its message. A later success with them removes it.
        paths: The files that calls were about, the last one first.
        answer: The last answer of the model.
    """

    first_request: str = ""
    requests: list[str] = field(default_factory=list[str])
    calls: dict[str, int] = field(default_factory=dict[str, int])
    subjects: dict[str, tuple[str, str]] = field(default_factory=dict[str, tuple[str, str]])
    failures: dict[tuple[str, str], str] = field(default_factory=dict[tuple[str, str], str])
    paths: list[str] = field(default_factory=list[str])
    answer: str = ""

    def apply(self, event: Event) -> None:
        """Add one event."""
        if handle := HANDLERS.get(event.type):
            handle(self, event)

    @property
    def lines(self) -> list[str]:
        """The summary as lines: what was asked, what was done, and what still fails."""
        requests = [self.first_request, *(text for text in self.requests if text != self.first_request)]
        calls = ", ".join(f"{tool} {number}" for tool, number in self.calls.items())
        return [
            *(f"Asked: {_shorten(text, MAX_REQUEST_CHARS)}" for text in requests if text),
            *([f"Tools called: {calls}"] if calls else []),
            *([f"Files: {', '.join(self.paths)}"] if self.paths else []),
            *(
                f"Still failing: {tool} {_shorten(subject, MAX_LINE_CHARS)}: {_shorten(message, MAX_LINE_CHARS)}"
                for (tool, subject), message in self.failures.items()
            ),
            *([f"Last answer: {_shorten(self.answer, MAX_REQUEST_CHARS)}"] if self.answer else []),
        ]


def project_activity(events: Iterable[Event]) -> Activity:
    """Return the activity of all events, which are in the order of their numbers."""
    activity = Activity()
    for event in events:
        activity.apply(event)
    return activity


Handler = Callable[[Activity, Event], None]
CODE_KINDS = frozenset({"fix", "edit", "docstring", "tests", "explain", "check"})


def _text(event: Event, key: str) -> str:
    value = event.data.get(key)
    return value if isinstance(value, str) else ""


def _on_request(activity: Activity, event: Event) -> None:
    text = _text(event, "text")
    if _text(event, "kind") in CODE_KINDS or not text:
        return
    activity.first_request = activity.first_request or text
    activity.requests = [*activity.requests, text][-MAX_REQUESTS:]


def _on_call(activity: Activity, event: Event) -> None:
    tool, subject = _text(event, "tool"), ""
    inputs = event.data.get("input")
    values = cast("dict[str, Any]", inputs) if isinstance(inputs, dict) else {}
    for key in KEY_INPUTS:
        if isinstance(value := values.get(key), str):
            subject = value
            break
    activity.calls[tool] = activity.calls.get(tool, 0) + 1
    activity.subjects[_text(event, "call_id")] = (tool, subject)
    if isinstance(path := values.get("path"), str):
        activity.paths = list(dict.fromkeys([path, *activity.paths]))[:MAX_PATHS]


def _on_success(activity: Activity, event: Event) -> None:
    if subject := activity.subjects.pop(_text(event, "call_id"), None):
        activity.failures.pop(subject, None)


def _on_failure(activity: Activity, event: Event) -> None:
    subject = activity.subjects.pop(_text(event, "call_id"), (_text(event, "tool"), ""))
    activity.failures.pop(subject, None)
    activity.failures[subject] = _text(event, "output") or _text(event, "reason")
    while len(activity.failures) > MAX_FAILURES:
        del activity.failures[next(iter(activity.failures))]


def _on_answer(activity: Activity, event: Event) -> None:
    activity.answer = _text(event, "text") or activity.answer


HANDLERS: dict[str, Handler] = {
    "invocation.received": _on_request,
    "invocation.auto": _on_request,
    "queue.taken": _on_request,
    "tool.started": _on_call,
    "tool.completed": _on_success,
    "tool.failed": _on_failure,
    "model.completed": _on_answer,
}
"""Type of an event → the function that adds it."""


def _shorten(text: str, limit: int) -> str:
    line = " ".join(text.split())
    return line if len(line) <= limit else f"{line[: limit - 1]}…"
