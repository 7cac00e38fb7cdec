"""The tasks of a session, as a fold over its events."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from lsp_harness.events.event_codec import decode_event
from lsp_harness.events.event_type import SessionEvent
from lsp_harness.events.session_events import SessionResumed
from lsp_harness.events.tool_events import TaskCancelled, TaskCompleted, TaskFailed, TaskStarted
from lsp_harness.wire.event import Event

TaskState = Literal["running", "completed", "failed", "cancelled", "lost"]
"""`lost` means that the process of the task ended before the end of the task was written."""
TaskEnd = TaskCompleted | TaskFailed | TaskCancelled


@dataclass(frozen=True, slots=True)
class TaskRow:
    """The state of one task.

    Attributes:
        task_id: The id of the task.
        kind: The kind of the work, such as "shell".
        title: One line for a person.
        state: How far it is.
        execution: "inline", "background" or "auto".
        call_id: The tool call that started it.
        session_id: The session of a subagent.
        turn: The turn that started it.
        started_at: The time of its start in UTC, ISO 8601, if it is known.
        ended_at: The time of its end.
        summary: One line about the result, or the reason of a failure or cancellation.
        exit_code: The exit status of a command.
        artifact_id: The artifact with the whole output.
        is_background: Whether nobody waited for its end.
    """

    task_id: str
    kind: str = ""
    title: str = ""
    state: TaskState = "running"
    execution: str = ""
    call_id: str = ""
    session_id: str = ""
    turn: int | None = None
    started_at: str = ""
    ended_at: str = ""
    summary: str = ""
    exit_code: int | None = None
    artifact_id: str = ""
    is_background: bool = False

    @property
    def fields(self) -> dict[str, str]:
        """The fields that clients get in a list of tasks."""
        return {
            "task_id": self.task_id,
            "kind": self.kind,
            "title": self.title,
            "status": self.state,
            "summary": self.summary,
        }


@dataclass(frozen=True, slots=True)
class TaskList:
    """All tasks of a session until now, in the order of their starts."""

    rows: Mapping[str, TaskRow] = field(default_factory=dict[str, TaskRow])

    def __iter__(self) -> Iterator[TaskRow]:
        return iter(self.rows.values())

    def with_event(self, event: Event) -> "TaskList":
        """Return the list after one more event of the log."""
        if not event.type.startswith("task.") and event.type != "session.resumed":
            return self
        return self.with_content(decode_event(event.type, event.data), event.ts, event.turn)

    def with_content(self, content: SessionEvent, ts: str = "", turn: int | None = None) -> "TaskList":
        """Return the list after one more event without its envelope. `ts` and `turn` are those of the envelope."""
        match content:
            case TaskStarted():
                return self._with_start(content, ts, turn)
            case TaskCompleted() | TaskFailed() | TaskCancelled():
                return self._with_end(content, ts)
            case SessionResumed():
                return self.as_of_ended_process()
            case _:
                return self

    def as_of_ended_process(self) -> "TaskList":
        """Return the list after the process of the session has ended. What runs in it is lost."""
        return TaskList(
            {
                key: replace(row, state="lost", summary="its process ended") if row.state == "running" else row
                for key, row in self.rows.items()
            }
        )

    def with_state(self, state: TaskState) -> tuple[TaskRow, ...]:
        """Return the tasks in a state."""
        return tuple(row for row in self if row.state == state)

    def _with_start(self, event: TaskStarted, ts: str, turn: int | None) -> "TaskList":
        row = TaskRow(
            event.task_id,
            event.kind,
            event.title,
            execution=event.execution,
            call_id=event.call_id,
            session_id=event.session_id,
            turn=turn,
            started_at=ts,
        )
        return self if event.task_id in self.rows else self._with_row(row)

    def _with_end(self, event: TaskEnd, ts: str) -> "TaskList":
        row = self.rows.get(event.task_id, TaskRow(event.task_id))
        if row.state not in ("running", "lost"):
            # a task ends once
            return self
        row = replace(row, ended_at=ts, is_background=event.is_background)
        match event:
            case TaskCompleted():
                row = replace(row, state="completed", summary=event.summary)
                return self._with_row(replace(row, exit_code=event.exit_code, artifact_id=event.artifact_id))
            case TaskFailed():
                return self._with_row(replace(row, state="failed", summary=event.reason))
            case TaskCancelled():
                return self._with_row(replace(row, state="cancelled", summary=event.reason))

    def _with_row(self, row: TaskRow) -> "TaskList":
        return TaskList({**self.rows, row.task_id: row})


def project_tasks(events: Iterable[Event], *, is_live: bool = True) -> TaskList:
    """Return the tasks of a session.

    Args:
        events: The events of its log.
        is_live: Whether the process of the session still runs. If not, tasks without an end are lost.
    """
    tasks = TaskList()
    for event in events:
        tasks = tasks.with_event(event)
    return tasks if is_live else tasks.as_of_ended_process()
