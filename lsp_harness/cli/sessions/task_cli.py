"""`lsp-harness task`: the tasks of sessions, also of sessions in other processes."""

import asyncio
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import cyclopts
from cyclopts import Parameter

from lsp_harness.cli.console import JsonOption, make_encodable, print_json, say, warn
from lsp_harness.errors import UsageError
from lsp_harness.kernel.log.session_store import SessionStore
from lsp_harness.sessions.saved_tasks import (
    SavedTask,
    cancel_task,
    find_task,
    list_tasks,
    read_task,
    wait_for_task,
)
from lsp_harness.text.visible_text import escape_controls

TIMEOUT_EXIT_CODE = 3
"""Exit status of a wait after which the task still runs."""
app = cyclopts.App(name="task", help="List, read, await and end the tasks of sessions.")

TaskId = Annotated[str, Parameter(help="The id of a task, its beginning or its end.")]
SessionName = Annotated[
    str,
    Parameter(
        ("--session", "-s"),
        help="The name of a session, its beginning or its end. The default is the last one here.",
    ),
]


@app.command(name="list")
def list_(*, session: SessionName = "", json: JsonOption = False) -> int:
    """List the tasks of a session, the first one first."""
    store = SessionStore()
    tasks = list_tasks(store, store.find(session, Path.cwd()))
    if json:
        print_json([_as_json(task) for task in tasks])
        return 0
    if not tasks:
        say("this session has no tasks")
    for task in tasks:
        say(_describe(task))
    return 0


@app.command
def read(
    id: TaskId,
    /,
    *,
    since: Annotated[int, Parameter(help="The byte of the output at which to begin.")] = 0,
    json: JsonOption = False,
) -> int:
    """Print the output of a task from a byte on, also while it runs."""
    store = SessionStore()
    task = find_task(store, id)
    part = read_task(store, task, since)
    if json:
        print_json({"text": part.text, "next_cursor": part.next_cursor, "is_running": part.is_running})
        return 0
    if since and not part.text and not part.is_running:
        warn(f"the output has {part.next_cursor} bytes; nothing follows")
    while part.text:
        text = escape_controls(part.text) if sys.stdout.isatty() else part.text
        sys.stdout.write(make_encodable(text, sys.stdout))
        part = read_task(store, task, part.next_cursor)
    return 0


@app.command
def wait(
    id: TaskId,
    /,
    *,
    seconds: Annotated[float, Parameter(help="The longest wait. The task goes on after it.")] = 60.0,
    json: JsonOption = False,
) -> int:
    """Wait until a task has ended. The exit status is 0 if it succeeded, and 3 if it still runs."""
    if seconds < 0:
        raise UsageError("--seconds must be 0 or more")
    store = SessionStore()
    task = asyncio.run(wait_for_task(store, find_task(store, id), seconds))
    _show(task, json=json)
    if task.row.state == "running":
        return TIMEOUT_EXIT_CODE
    return 0 if task.row.state == "completed" and not task.row.exit_code else 1


@app.command
def cancel(id: TaskId, /, *, json: JsonOption = False) -> int:
    """End a task with all its processes. A task that has ended stays as it is."""
    store = SessionStore()
    task = asyncio.run(cancel_task(store, find_task(store, id)))
    _show(task, json=json)
    return 1 if task.row.state == "running" else 0


def _show(task: SavedTask, *, json: bool) -> None:
    if json:
        print_json(_as_json(task))
    else:
        say(_describe(task))


def _as_json(task: SavedTask) -> dict[str, object]:
    # a subagent has a session of its own
    row = asdict(task.row)
    return {"session": task.session_id, "agent_session": row.pop("session_id"), **row}


def _describe(task: SavedTask) -> str:
    row = task.row
    summary = f": {row.summary}" if row.summary and row.summary != row.state else ""
    return escape_controls(f"{row.task_id}  {row.kind:<8}  {row.state}{summary}  {row.title}")
