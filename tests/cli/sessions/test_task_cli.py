"""`lsp-harness task`: tasks of sessions that ended, that run in another process, and whose process was killed."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from lsp_harness.config import paths
from lsp_harness.events.session_events import SessionStarted
from lsp_harness.kernel.log.log_reader import read_log
from lsp_harness.kernel.log.session_store import SessionStore
from lsp_harness.kernel.tasks.task_request import ShellWork, TaskRequest
from lsp_harness.kernel.tasks.task_runner import TaskRunner
from lsp_harness.process.process_table import list_processes
from lsp_harness.process.termination import OpenProcess
from tests.cli.conftest import Shell

OWNER = """
import asyncio, sys
from pathlib import Path
from lsp_harness.events.session_events import SessionStarted
from lsp_harness.kernel.log.session_store import SessionStore
from lsp_harness.kernel.tasks.task_request import ShellWork, TaskRequest
from lsp_harness.kernel.tasks.task_runner import TaskRunner

async def main():
    log = SessionStore().create()
    log.append(SessionStarted())
    runner = TaskRunner(log.append, log.folder)
    work = ShellWork("echo begun; sleep 300 & echo $! > pid; wait", Path.cwd())
    result = await runner.run(TaskRequest("shell", "sleep", work, "background"))
    print(result.task_id, log.id, flush=True)
    await runner.wait(result.task_id, 300)
    log.close()

asyncio.run(main())
"""


class Owner:
    """Another process with a session and a running task."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.process = subprocess.Popen([sys.executable, "-c", OWNER], cwd=folder, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout
        self.task_id, self.session_id = self.process.stdout.readline().split()

    def wait_for_pid(self) -> int:
        file = self.folder / "pid"
        while not (file.exists() and file.read_text().strip()):
            os.sched_yield()
        return int(file.read_text())

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()


@pytest.fixture
def task_owner(shell: Shell) -> Iterator[Owner]:
    owner = Owner(shell.folder)
    yield owner
    owner.kill()
    owner.process.stdout.close()  # pyright: ignore[reportOptionalMemberAccess]
    asyncio.run(_end_processes(owner.task_id))


async def _end_processes(mark: str) -> None:
    from lsp_harness.process.process_tree import end_marked

    await end_marked(mark)


def is_running(pid: int) -> bool:
    return any(row.pid == pid for row in list_processes())


def end_types(session_id: str) -> list[str]:
    events = read_log(SessionStore().path(session_id))
    return [event.type for event in events if event.type.startswith("task.") and event.type != "task.started"]


async def run_task(command: str, folder: Path) -> str:
    log = SessionStore().create()
    log.append(SessionStarted())
    runner = TaskRunner(log.append, log.folder)
    result = await runner.run(TaskRequest("shell", command, ShellWork(command, folder)))
    log.close()
    return result.task_id


def test_a_task_that_ended_is_listed_read_and_awaited(shell: Shell):
    task_id = asyncio.run(run_task("seq 1 60; exit 2", shell.folder))
    assert task_id in shell.run("task", "list").out
    assert "exit code 2" in shell.run("task", "list").out
    [row] = shell.run("task", "list", "--json").json
    assert (row["task_id"], row["state"], row["exit_code"]) == (task_id, "completed", 2)
    whole = shell.run("task", "read", task_id).out
    assert whole.splitlines() == [str(number) for number in range(1, 61)]
    assert shell.run("task", "read", task_id, "--since", "100").out == whole[100:]
    part = shell.run("task", "read", task_id[:20], "--since", "10", "--json").json
    assert part == {"text": whole[10:], "next_cursor": len(whole), "is_running": False}
    assert shell.run("task", "read", task_id[-6:].lower()).out == whole
    assert "nothing follows" in shell.run("task", "read", task_id, "--since", "5000").err
    # a command that failed is a task that failed for scripts
    assert shell.run("task", "wait", task_id).code == 1
    assert shell.run("task", "cancel", task_id, "--json").json["state"] == "completed"


def test_a_task_of_a_living_process_is_read_and_ended_from_outside(shell: Shell, task_owner: Owner):
    pid = task_owner.wait_for_pid()
    [row] = shell.run("task", "list", "--json").json
    assert (row["state"], row["session"]) == ("running", task_owner.session_id)
    read = shell.run("task", "read", task_owner.task_id, "--json").json
    while not read["text"]:
        # its process may not have read the output yet
        read = shell.run("task", "read", task_owner.task_id, "--json").json
    assert read == {"text": "begun\n", "next_cursor": 6, "is_running": True}
    waited = shell.run("task", "wait", task_owner.task_id, "--seconds", "0")
    assert (waited.code, "running" in waited.out) == (3, True)
    ended = shell.run("task", "cancel", task_owner.task_id)
    assert (ended.code, is_running(pid)) == (0, False)
    # the process of the session has ended it, and recorded that itself
    assert end_types(task_owner.session_id) == ["task.cancelled"]
    assert "cancelled by another process" in ended.out
    assert task_owner.process.wait(20) == 0


def test_a_task_of_a_killed_process_is_lost_and_its_end_can_be_recorded(shell: Shell, task_owner: Owner):
    process = OpenProcess(task_owner.wait_for_pid())
    task_owner.process.send_signal(signal.SIGKILL)
    task_owner.process.wait()
    assert [row["state"] for row in shell.run("task", "list", "--json").json] == ["lost"]
    # its supervisor has seen that nobody wants it any more
    assert asyncio.run(process.wait_for_end(20))
    process.close()
    result = shell.run("task", "cancel", task_owner.task_id)
    assert (result.code, "cancelled" in result.out) == (0, True)
    assert end_types(task_owner.session_id) == ["task.cancelled"]
    assert list((paths.runtime_folder() / "tasks").iterdir()) == []


def test_wrong_ids_say_what_to_do(shell: Shell):
    assert "there is no session yet" in shell.run("task", "list").err
    first = asyncio.run(run_task("true", shell.folder))
    asyncio.run(run_task("true", shell.folder))
    result = shell.run("task", "read", "nope")
    assert (result.code, "there is no task 'nope'" in result.err) == (2, True)
    assert "2 tasks begin or end with" in shell.run("task", "read", first[:4]).err
    assert shell.run("task", "read", first, "--since", "-1").code == 2
    assert "must be 0 or more" in shell.run("task", "wait", first, "--seconds", "-1").err


AGENT = """
import asyncio, sys
from lsp_harness.chat.chat_model import Model
from lsp_harness.sessions.session_opening import open_session
from lsp_harness.sessions.session_options import SessionOptions
from lsp_harness.inference.scripted_engine import ScriptedEngine
from lsp_harness.kernel.session import Ingress

CALL = '<tool_call>{"name": "agent", "arguments": {"prompt": "x"}}</tool_call>'
started = []

class Engine(ScriptedEngine):
    async def _play(self, request, index):
        if len(self.foreground_requests) == 2:
            # the subagent asks, so the next reply is not meant for the parent
            print(*started, opened.session.id, flush=True)
        async for chunk in super()._play(request, index):
            yield chunk

async def main():
    global opened
    engine = Engine([{"text": CALL}, {"hang": True}, {"text": "it was ended"}])
    opened = await open_session(SessionOptions(), models=[Model("scripted", engine)])
    def show(event):
        if event.type == "task.started":
            started.append(event.data["task_id"])
    opened.session.log.listeners.append(show)
    stopped = await opened.submit(Ingress("message", "go"), opened.create_driver())
    print(stopped.text, flush=True)
    await opened.aclose()

asyncio.run(main())
"""


@contextmanager
def run_agent(folder: Path) -> Iterator[subprocess.Popen[str]]:
    """Run a session with a subagent in another process, which is killed if the test fails."""
    with subprocess.Popen([sys.executable, "-c", AGENT], cwd=folder, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process
        except BaseException:
            process.kill()
            raise


def test_a_subagent_of_another_process_is_ended(shell: Shell):
    with run_agent(shell.folder) as owner:
        assert owner.stdout
        task_id, session_id = owner.stdout.readline().split()
        ended = shell.run("task", "cancel", task_id, "--json")
        assert (ended.code, ended.json["state"]) == (0, "cancelled")
        # the parent goes on, and knows
        assert owner.stdout.readline() == "it was ended\n"
    assert end_types(session_id) == ["task.cancelled"]
    assert list((paths.runtime_folder() / "tasks").iterdir()) == []


def test_a_session_that_is_continued_removes_the_pipes_of_its_lost_tasks(shell: Shell, task_owner: Owner):
    pipes = paths.runtime_folder() / "tasks"
    (pipes / "other").write_text("no pipe")
    task_owner.process.kill()
    task_owner.process.wait()
    assert {file.name for file in pipes.iterdir()} == {task_owner.task_id, "other"}
    assert shell.run("tools", "call", "read", "{}", "--session", task_owner.session_id).code == 1
    assert {file.name for file in pipes.iterdir()} == {"other"}


def test_a_subagent_whose_process_does_not_answer_is_reported(shell: Shell, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("lsp_harness.sessions.saved_tasks.request_stop", lambda task_id: False)
    with run_agent(shell.folder) as owner:
        assert owner.stdout
        task_id, _ = owner.stdout.readline().split()
        result = shell.run("task", "cancel", task_id)
        assert (result.code, str(owner.pid) in result.err, "does not answer" in result.err) == (2, True, True)
        owner.kill()
