"""The subject of a conversation in a few lines of bounded size. No model writes them."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, cast

from lsp_harness.kernel.projections.message_history import CODE_KINDS, text_field
from lsp_harness.wire.event import Event

MAX_REQUESTS = 6
"""Requests of the user that are remembered. The first one is kept in addition."""
MAX_FAILURES = 64
"""Failures that are remembered. The oldest one is forgotten first."""
EXPLAINED_FAILURES = 8
"""Failures that are shown with their messages. The older ones are only named."""
MAX_TASKS = 32
MAX_TOOLS = 64
MAX_PATHS = 12
MAX_REQUEST_CHARS = 240
MAX_LAST_REQUEST_CHARS = 1_000
"""The last request may be the one that the model works on."""
MAX_LINE_CHARS = 160
MAX_NAMED_CHARS = 60
MAX_KEPT_CHARS = 1_000
"""Characters of a message that are remembered."""
FAILURE_MARK = "Still failing:"
KEY_INPUTS = ("path", "command", "name", "pattern", "name_path")
"""Inputs that say what a call is about, the most telling first."""


@dataclass(slots=True)
class Activity:
    """The requests, calls and failures of a conversation.

    Attributes:
        first_request: The first request of the user.
        requests: The last requests of the user.
        calls: The number of calls of each tool.
        subjects: The id of each call that has no result → the tool and what the call is about.
        failures: The tool and the subject of a failed call → its message. A later success with them removes it.
        tasks: The id of each task that has not ended → its title.
        paths: The files that calls were about, the last one first.
        answer: The last answer of the model.
    """

    first_request: str = ""
    requests: list[str] = field(default_factory=list[str])
    calls: dict[str, int] = field(default_factory=dict[str, int])
    subjects: dict[str, tuple[str, str]] = field(default_factory=dict[str, tuple[str, str]])
    failures: dict[tuple[str, str], str] = field(default_factory=dict[tuple[str, str], str])
    tasks: dict[str, str] = field(default_factory=dict[str, str])
    paths: list[str] = field(default_factory=list[str])
    answer: str = ""

    def apply(self, event: Event) -> None:
        """Add one event of the session to the activity."""
        if handle := HANDLERS.get(event.type):
            handle(self, event)

    @property
    def lines(self) -> list[str]:
        """The summary as lines: what still fails, what was asked, and what was done."""
        last = self.requests[-1] if self.requests else ""
        requests = [self.first_request, *(text for text in self.requests[:-1] if text != self.first_request)]
        older = [text for text in requests if text and text != last]
        calls = ", ".join(f"{tool} {number}" for tool, number in self.calls.items())
        return [
            *self._failure_lines(),
            *(f"Still running: task {id} {_shorten(title, MAX_LINE_CHARS)}" for id, title in self.tasks.items()),
            *([f"Asked last: {_shorten(last, MAX_LAST_REQUEST_CHARS)}"] if last else []),
            *(f"Asked: {_shorten(text, MAX_REQUEST_CHARS)}" for text in older),
            *([f"Tools called: {calls}"] if calls else []),
            *([f"Files: {', '.join(self.paths)}"] if self.paths else []),
            *([f"Last answer: {_shorten(self.answer, MAX_REQUEST_CHARS)}"] if self.answer else []),
        ]

    def lines_within(self, max_chars: int) -> list[str]:
        """Return the lines that fit, the most important first. Those about failures are always there."""
        kept: list[str] = []
        for line in self.lines:
            max_chars -= len(line)
            if max_chars >= 0 or line.startswith(FAILURE_MARK):
                kept.append(line)
        return kept

    def _failure_lines(self) -> list[str]:
        """Return a line for each open failure, the newest first. Only the newest ones have their messages."""
        lines: list[str] = []
        for number, ((tool, subject), message) in enumerate(reversed(self.failures.items())):
            if number < EXPLAINED_FAILURES:
                what, why = _shorten(subject, MAX_LINE_CHARS), _shorten(message, MAX_LINE_CHARS)
                lines.append(f"{FAILURE_MARK} {tool} {what}: {why}")
            else:
                lines.append(f"{FAILURE_MARK} {tool} {_shorten(subject, MAX_NAMED_CHARS)}")
        return lines


Handler = Callable[[Activity, Event], None]


def _on_request(activity: Activity, event: Event) -> None:
    text = text_field(event, "text")
    if text_field(event, "kind") in CODE_KINDS or not text:
        return
    activity.first_request = activity.first_request or text
    activity.requests = [*activity.requests, text][-MAX_REQUESTS:]


def _on_call(activity: Activity, event: Event) -> None:
    tool, subject = text_field(event, "tool"), ""
    inputs = event.data.get("input")
    values = cast("dict[str, Any]", inputs) if isinstance(inputs, dict) else {}
    for key in KEY_INPUTS:
        if isinstance(value := values.get(key), str):
            subject = value
            break
    if tool in activity.calls or len(activity.calls) < MAX_TOOLS:
        activity.calls[tool] = activity.calls.get(tool, 0) + 1
    activity.subjects[text_field(event, "call_id")] = (tool, subject)
    if isinstance(path := values.get("path"), str):
        activity.paths = list(dict.fromkeys([path, *activity.paths]))[:MAX_PATHS]


def _on_success(activity: Activity, event: Event) -> None:
    if subject := activity.subjects.pop(text_field(event, "call_id"), None):
        activity.failures.pop(subject, None)


def _on_failure(activity: Activity, event: Event) -> None:
    subject = activity.subjects.pop(text_field(event, "call_id"), (text_field(event, "tool"), ""))
    _add_failure(activity, subject, text_field(event, "output") or text_field(event, "reason"))


def _add_failure(activity: Activity, subject: tuple[str, str], message: str) -> None:
    activity.failures.pop(subject, None)
    activity.failures[subject] = message[:MAX_KEPT_CHARS]
    while len(activity.failures) > MAX_FAILURES:
        del activity.failures[next(iter(activity.failures))]


def _on_task_start(activity: Activity, event: Event) -> None:
    activity.tasks[text_field(event, "task_id")] = text_field(event, "title")
    while len(activity.tasks) > MAX_TASKS:
        del activity.tasks[next(iter(activity.tasks))]


def _on_task_end(activity: Activity, event: Event) -> None:
    task_id = text_field(event, "task_id")
    subject = ("task", activity.tasks.pop(task_id, "") or task_id)
    if event.data.get("is_background") is not True:
        # the result of the call that waited for it says how it ended
        return
    if event.type == "task.failed" or event.data.get("exit_code"):
        _add_failure(activity, subject, text_field(event, "reason") or text_field(event, "summary"))
    elif event.type == "task.completed":
        activity.failures.pop(subject, None)


def _on_answer(activity: Activity, event: Event) -> None:
    activity.answer = text_field(event, "text") or activity.answer


HANDLERS: dict[str, Handler] = {
    "invocation.received": _on_request,
    "invocation.auto": _on_request,
    "queue.taken": _on_request,
    "tool.started": _on_call,
    "tool.completed": _on_success,
    "tool.failed": _on_failure,
    "task.started": _on_task_start,
    "task.completed": _on_task_end,
    "task.failed": _on_task_end,
    "task.cancelled": _on_task_end,
    "model.completed": _on_answer,
}
"""Type of an event → the function that adds it."""


def _shorten(text: str, limit: int) -> str:
    line = " ".join(text.split())
    return line if len(line) <= limit else f"{line[: limit - 1]}…"
