"""The tasks of a session, from its log alone."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from lsp_harness.events.event_codec import encode_event
from lsp_harness.events.session_events import SessionResumed
from lsp_harness.events.tool_events import TaskCancelled, TaskCompleted, TaskFailed, TaskStarted, ToolStarted
from lsp_harness.kernel.projections.task_list import TaskList, TaskRow, project_tasks
from lsp_harness.wire.event import Event


def log(*contents: Any) -> list[Event]:
    events: list[Event] = []
    for seq, content in enumerate(contents):
        type, data = encode_event(content)
        events.append(Event(f"e{seq}", seq, f"t{seq}", "s", 7, None, None, type, data))
    return events


START = TaskStarted("a", "tests", "run the tests", "auto", "c1", "s2")
ROW = TaskRow("a", "tests", "run the tests", "running", "auto", "c1", "s2", 7, "t0")


def test_a_task_begins_and_ends():
    events = log(START, TaskCompleted("a", "exit code 0", 0, "art", is_background=True))
    completed = TaskRow(
        "a", "tests", "run the tests", "completed", "auto", "c1", "s2", 7, "t0", "t1", "exit code 0", 0, "art", True
    )

    assert list(project_tasks(events[:1])) == [ROW]
    assert list(project_tasks(events)) == [completed]


def test_the_end_of_a_task_decides_its_state():
    tasks = project_tasks(
        log(
            *(TaskStarted(name, "shell") for name in "abc"),
            TaskFailed("a", "no"),
            TaskCancelled("b", "timeout"),
            ToolStarted("c", "bash"),
        )
    )

    assert [(row.state, row.summary) for row in tasks] == [("failed", "no"), ("cancelled", "timeout"), ("running", "")]
    assert [row.task_id for row in tasks.with_state("running")] == ["c"]


def test_a_task_without_an_end_is_lost_when_its_process_ends():
    assert [row.state for row in project_tasks(log(START), is_live=False)] == ["lost"]
    resumed = log(START, SessionResumed(1))
    assert [row.state for row in project_tasks(resumed)] == ["lost"]
    closed = log(START, SessionResumed(1), TaskCancelled("a", "process_exited"))
    assert [(row.state, row.summary) for row in project_tasks(closed)] == [("cancelled", "process_exited")]


def test_a_task_begins_and_ends_once():
    events = log(START, TaskStarted("a", "other"), TaskFailed("a", "first"), TaskCompleted("a", "second"))

    assert [(row.kind, row.state, row.summary) for row in project_tasks(events)] == [("tests", "failed", "first")]


def test_an_end_without_a_start_is_shown():
    assert [(row.task_id, row.state) for row in project_tasks(log(TaskFailed("a", "no")))] == [("a", "failed")]


CONTENTS = st.lists(
    st.builds(TaskStarted, st.sampled_from("ab"), st.just("shell"))
    | st.builds(TaskCompleted, st.sampled_from("ab"))
    | st.builds(TaskFailed, st.sampled_from("ab"))
    | st.just(SessionResumed(1))
)


@given(CONTENTS, st.integers(0, 10))
def test_a_fold_can_be_continued(contents: Any, cut: int):
    events = log(*contents)
    tasks: TaskList = project_tasks(events[:cut])
    for event in events[cut:]:
        tasks = tasks.with_event(event)

    assert tasks == project_tasks(events)
