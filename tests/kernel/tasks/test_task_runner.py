"""Tasks run, go on in the background, and end exactly once."""

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from lsp_harness.errors import FileError, UsageError
from lsp_harness.events.tool_events import (
    ArtifactCreated,
    TaskCancelled,
    TaskCompleted,
    TaskFailed,
    TaskStarted,
)
from lsp_harness.kernel.artifacts import ArtifactStore
from lsp_harness.kernel.projections.task_list import TaskRow
from lsp_harness.kernel.tasks import task_runner
from lsp_harness.kernel.tasks.task_output import TaskOutput
from lsp_harness.kernel.tasks.task_request import ShellWork, TaskRequest, TaskResult, TaskWork
from lsp_harness.kernel.tasks.task_runner import TaskCallbacks, TaskRunner
from lsp_harness.process.process_table import environment_value, list_processes
from lsp_harness.process.process_tree import MARK_VARIABLE

TOKEN = "ghp_" + "a1B2" * 9
END_TYPES = (TaskCompleted, TaskFailed, TaskCancelled)


class Recorder:
    """The events, the live output and the ends in the background of one runner."""

    def __init__(self, folder: Path) -> None:
        self.events: list[Any] = []
        self.live: list[str] = []
        self.background: asyncio.Queue[str] = asyncio.Queue()
        self.text = asyncio.Event()
        callbacks = TaskCallbacks(self.report, self.background.put_nowait)
        artifacts = ArtifactStore(folder, self.events.append)
        self.runner = TaskRunner(self.events.append, folder, artifacts=artifacts, callbacks=callbacks, grace_s=0.2)

    def report(self, task_id: str, text: str) -> None:
        self.live.append(text)
        self.text.set()

    async def wait_for_text(self, text: str) -> None:
        while text not in "".join(self.live):
            self.text.clear()
            await self.text.wait()

    @property
    def end_events(self) -> list[Any]:
        return [event for event in self.events if isinstance(event, END_TYPES)]


@pytest.fixture
async def recorder(tmp_path: Path) -> AsyncIterator[Recorder]:
    recorder = Recorder(tmp_path)
    yield recorder
    await recorder.runner.aclose()
    started = [event.task_id for event in recorder.events if isinstance(event, TaskStarted)]
    assert sorted(event.task_id for event in recorder.end_events) == sorted(started)
    assert [row for task_id in started for row in find_surviving_processes(task_id)] == []


def find_surviving_processes(task_id: str) -> list[int]:
    return [row.pid for row in list_processes() if task_id in environment_value(row.pid, MARK_VARIABLE).split(":")]


@pytest.fixture
def request_for(tmp_path: Path) -> Callable[..., TaskRequest]:
    def request_for(work: TaskWork | str, **options: Any) -> TaskRequest:
        shell = ShellWork(work, tmp_path) if isinstance(work, str) else work
        return TaskRequest("shell", "a title", shell, **options)

    return request_for


Requests = Callable[..., TaskRequest]
SLEEP = "echo ready; exec sleep 1000"


async def test_an_inline_task_waits_for_the_end(recorder: Recorder, request_for: Requests, tmp_path: Path):
    result = await recorder.runner.run(request_for("echo out; echo err >&2; exit 3", call_id="c1", session_id="s"))

    log = tmp_path / "tasks" / f"{result.task_id}.log"
    assert result == TaskResult(
        "completed", result.task_id, output="out\nerr\n", exit_code=3, summary="exit code 3", log=log
    )
    assert recorder.events == [
        TaskStarted(result.task_id, "shell", "a title", "inline", "c1", "s"),
        TaskCompleted(result.task_id, "exit code 3", 3),
    ]
    assert "".join(recorder.live) == log.read_text() == "out\nerr\n"
    assert log.stat().st_mode & 0o777 == 0o600
    assert recorder.background.empty()


async def test_a_background_task_returns_at_once(recorder: Recorder, request_for: Requests):
    result = await recorder.runner.run(request_for("echo out", execution="background"))

    assert result.status == "started"
    assert await recorder.background.get() == result.task_id
    assert recorder.end_events == [TaskCompleted(result.task_id, "exit code 0", 0, is_background=True)]
    assert recorder.runner.result(result.task_id).output == "out\n"


@pytest.mark.parametrize("inline_ms", [-5, 0, 20])
async def test_an_automatic_task_continues_in_the_background(recorder: Recorder, request_for: Requests, inline_ms: int):
    result = await recorder.runner.run(request_for(SLEEP, execution="auto", inline_ms=inline_ms))

    assert result.status == "started"
    assert recorder.runner.result(result.task_id).status == "started"
    assert (await recorder.runner.cancel(result.task_id)).status == "cancelled"
    assert recorder.end_events == [TaskCancelled(result.task_id)]


async def test_an_automatic_task_that_is_quick_is_like_an_inline_one(recorder: Recorder, request_for: Requests):
    result = await recorder.runner.run(request_for("echo out", execution="auto", inline_ms=10**9))

    assert (result.status, result.output) == ("completed", "out\n")
    assert recorder.end_events == [TaskCompleted(result.task_id, "exit code 0", 0)]


async def test_the_wait_of_an_automatic_task_is_limited(
    monkeypatch: pytest.MonkeyPatch, recorder: Recorder, request_for: Requests
):
    monkeypatch.setattr(task_runner, "MAX_INLINE_MS", 10)

    result = await recorder.runner.run(request_for(SLEEP, execution="auto", inline_ms=10**9))
    assert result.status == "started"


async def test_a_wait_does_not_end_the_task(recorder: Recorder, request_for: Requests, monkeypatch: pytest.MonkeyPatch):
    task_id = (await recorder.runner.run(request_for(SLEEP, execution="background"))).task_id

    assert (await recorder.runner.wait(task_id, 0.01)).status == "started"
    assert (await recorder.runner.wait(task_id, -1)).status == "started"
    monkeypatch.setattr(task_runner, "MAX_WAIT_S", 0.01)
    assert (await recorder.runner.wait(task_id, 10**9)).status == "started"
    assert recorder.end_events == []


async def test_a_task_with_a_waiting_caller_is_not_in_the_background(
    recorder: Recorder, request_for: Requests, tmp_path: Path
):
    os.mkfifo(tmp_path / "go")
    task_id = (await recorder.runner.run(request_for("read x < go", execution="background"))).task_id
    waiting = asyncio.ensure_future(recorder.runner.wait(task_id))
    await asyncio.to_thread((tmp_path / "go").write_text, "\n")

    assert (await waiting).status == "completed"
    assert recorder.end_events == [TaskCompleted(task_id, "exit code 0", 0)]
    assert recorder.background.empty()
    assert (await recorder.runner.wait(task_id)) == recorder.runner.result(task_id)


async def test_cancel_ends_the_whole_tree(recorder: Recorder, request_for: Requests):
    script = "(setsid sleep 1000 &); sh -c 'trap \"\" TERM; echo ready; while :; do sleep 1000; done'"
    task_id = (await recorder.runner.run(request_for(script, execution="background"))).task_id
    await recorder.wait_for_text("ready")
    assert len(find_surviving_processes(task_id)) >= 2

    first, second = await asyncio.gather(recorder.runner.cancel(task_id), recorder.runner.cancel(task_id))
    assert first == second == await recorder.runner.cancel(task_id)
    assert (first.status, first.output) == ("cancelled", "ready\n")
    assert find_surviving_processes(task_id) == []
    assert recorder.end_events == [TaskCancelled(task_id)]


async def test_processes_that_a_command_leaves_are_ended(recorder: Recorder, request_for: Requests):
    result = await recorder.runner.run(request_for("setsid sleep 1000 & nohup sleep 1000 >/dev/null & echo done"))

    assert (result.status, result.output) == ("completed", "done\n")
    assert find_surviving_processes(result.task_id) == []


async def test_a_cancelled_caller_cancels_the_task(recorder: Recorder, request_for: Requests):
    running = asyncio.ensure_future(recorder.runner.run(request_for(SLEEP)))
    await recorder.wait_for_text("ready")
    running.cancel()
    await asyncio.wait({running})

    assert running.cancelled()
    [end] = recorder.end_events
    assert isinstance(end, TaskCancelled)


async def test_a_command_that_takes_too_long_is_ended(recorder: Recorder, tmp_path: Path):
    work = ShellWork(SLEEP, tmp_path, timeout_s=0.05)
    result = await recorder.runner.run(TaskRequest("shell", "", work))

    assert (result.status, result.summary) == ("cancelled", "timeout")
    assert recorder.end_events == [TaskCancelled(result.task_id, "timeout")]


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        (["/no/such/program"], "/no/such/program cannot be started: no such file or directory"),
        ([], "an empty command cannot be started"),
        (["a\0b"], "cannot be started: embedded null byte"),
        ("a\0b", "cannot be started: embedded null byte"),
    ],
)
async def test_a_command_that_cannot_start_fails(recorder: Recorder, tmp_path: Path, command: Any, reason: str):
    result = await recorder.runner.run(TaskRequest("shell", "", ShellWork(command, tmp_path)))

    assert result.status == "failed"
    assert reason in result.summary
    assert recorder.end_events == [TaskFailed(result.task_id, result.summary)]


async def test_a_missing_working_folder_fails_the_task(recorder: Recorder, tmp_path: Path):
    result = await recorder.runner.run(TaskRequest("shell", "", ShellWork("true", tmp_path / "none")))

    assert "run the command in a folder that exists" in result.summary


async def test_a_program_has_the_given_environment_and_a_list_needs_no_shell(recorder: Recorder, tmp_path: Path):
    script = "import json, os, sys; print(json.dumps([os.environ.get('A'), os.environ.get('HOME'), sys.argv[1:]]))"
    work = ShellWork([sys.executable, "-c", script, "$A; x"], tmp_path, env={"A": "1"})

    result = await recorder.runner.run(TaskRequest("shell", "", work))
    assert json.loads(result.output) == ["1", None, ["$A; x"]]


async def test_a_function_is_a_task(recorder: Recorder, request_for: Requests):
    async def answer(output: TaskOutput) -> str:
        output.write("half\n")
        await asyncio.to_thread(output.write, b"from a thread\n")
        return f"\nthe answer {TOKEN}\nand more"

    result = await recorder.runner.run(request_for(answer))
    assert (result.status, result.answer) == ("completed", "\nthe answer …\nand more")
    assert result.output == "half\nfrom a thread\n\nthe answer …\nand more"
    assert recorder.end_events == [TaskCompleted(result.task_id, "the answer …")]
    assert "".join(recorder.live) == result.output


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (UsageError(f"do {TOKEN} instead"), "do … instead"),
        (ValueError("odd"), "ValueError: odd"),
        (TimeoutError(), "TimeoutError: "),
    ],
)
async def test_a_function_that_raises_fails_its_task(
    recorder: Recorder, request_for: Requests, error: BaseException, reason: str
):
    async def answer(output: TaskOutput) -> str:
        raise error

    result = await recorder.runner.run(request_for(answer))
    assert (result.status, result.summary) == ("failed", reason)
    assert recorder.end_events == [TaskFailed(result.task_id, reason)]


async def test_a_function_that_cancels_itself_cancels_its_task(recorder: Recorder, request_for: Requests):
    async def answer(output: TaskOutput) -> str:
        raise asyncio.CancelledError

    assert (await recorder.runner.run(request_for(answer))).status == "cancelled"


async def test_a_function_that_ignores_cancellation_is_left_behind(
    recorder: Recorder, request_for: Requests, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(task_runner, "STOP_S", 0.0)
    go = asyncio.Event()

    async def answer(output: TaskOutput) -> str:
        while not go.is_set():
            try:
                await go.wait()
            except asyncio.CancelledError:
                output.write("no\n")
        return "late"

    task_id = (await recorder.runner.run(request_for(answer, execution="background"))).task_id
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    result = await recorder.runner.cancel(task_id)
    go.set()

    assert result.status == "cancelled"
    assert recorder.end_events == [TaskCancelled(task_id)]


async def test_the_tasks_of_a_subagent_end_before_the_subagent(
    recorder: Recorder, request_for: Requests, tmp_path: Path
):
    child = Recorder(tmp_path / "child")

    async def subagent(output: TaskOutput) -> str:
        output.adopt(child.runner)
        return (await child.runner.run(request_for(SLEEP))).output

    task_id = (await recorder.runner.run(request_for(subagent, execution="background"))).task_id
    await child.wait_for_text("ready")
    [started] = child.events
    assert find_surviving_processes(started.task_id)

    await recorder.runner.cancel(task_id)
    assert child.end_events == [TaskCancelled(started.task_id)]
    assert find_surviving_processes(started.task_id) == []
    with pytest.raises(UsageError, match="closed"):
        await child.runner.run(request_for("true"))


async def test_closing_ends_all_tasks(recorder: Recorder, request_for: Requests):
    ids = [(await recorder.runner.run(request_for(SLEEP, execution="background"))).task_id for _ in range(3)]
    await recorder.wait_for_text("ready")

    await recorder.runner.aclose()
    await recorder.runner.aclose()
    assert sorted(end.task_id for end in recorder.end_events) == ids
    assert all(isinstance(end, TaskCancelled) for end in recorder.end_events)
    assert [find_surviving_processes(task_id) for task_id in ids] == [[], [], []]


async def test_only_some_tasks_run_at_once(recorder: Recorder, request_for: Requests, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(task_runner, "MAX_RUNNING", 1)
    await recorder.runner.run(request_for(SLEEP, execution="background"))

    with pytest.raises(UsageError, match="cancel one"):
        await recorder.runner.run(request_for("true"))


async def test_output_is_read_in_parts(recorder: Recorder, request_for: Requests, tmp_path: Path):
    os.mkfifo(tmp_path / "go")
    task_id = (
        await recorder.runner.run(request_for("echo äöü; read x < go; echo end", execution="background"))
    ).task_id
    await recorder.wait_for_text("äöü")

    first = recorder.runner.read(task_id, 0, 3)
    assert (first.text, first.next_cursor, first.is_running) == ("äö", 4, True)
    second = recorder.runner.read(task_id, first.next_cursor)
    assert (second.text, second.next_cursor) == ("ü\n", 7)
    await asyncio.to_thread((tmp_path / "go").write_text, "\n")
    await recorder.runner.wait(task_id)
    third = recorder.runner.read(task_id, second.next_cursor)
    assert (third.text, third.next_cursor, third.is_running) == ("end\n", 11, False)


@pytest.mark.parametrize(
    "task_id", ["", "../../etc/passwd", "01ARZ3NDEKTSV4RRFFQ69G5FAV", "x" * 26, "01arz3ndektsv4rrffq69g5fav"]
)
async def test_an_unknown_task_is_refused(recorder: Recorder, task_id: str):
    for call in (recorder.runner.read, recorder.runner.result):
        with pytest.raises(UsageError):
            call(task_id)
    for call in (recorder.runner.wait, recorder.runner.cancel):
        with pytest.raises(UsageError):
            await call(task_id)


async def test_an_invalid_part_of_an_output_is_refused(recorder: Recorder, request_for: Requests):
    task_id = (await recorder.runner.run(request_for("echo out"))).task_id

    for since, limit in ((-1, 10), (0, 0), (0, -1)):
        with pytest.raises(UsageError):
            recorder.runner.read(task_id, since, limit)
    assert recorder.runner.read(task_id, 10**9).text == ""


async def test_the_output_of_an_earlier_process_can_be_read(recorder: Recorder, request_for: Requests, tmp_path: Path):
    task_id = (await recorder.runner.run(request_for("echo out"))).task_id

    assert Recorder(tmp_path).runner.read(task_id).text == "out\n"
    (tmp_path / "tasks" / f"{task_id}.log").unlink()
    (tmp_path / "tasks" / f"{task_id}.log").symlink_to("/etc/passwd")
    with pytest.raises(FileError):
        recorder.runner.read(task_id)


async def test_large_output_becomes_an_artifact(recorder: Recorder, request_for: Requests):
    result = await recorder.runner.run(
        request_for("i=0; while [ $i -lt 3000 ]; do echo line $i; i=$((i+1)); done", call_id="c")
    )

    [artifact] = [event for event in recorder.events if isinstance(event, ArtifactCreated)]
    assert artifact.bytes == result.log.stat().st_size > 8192
    assert (artifact.kind, artifact.call_id) == ("task_output", "c")
    assert recorder.end_events == [TaskCompleted(result.task_id, "exit code 0", 0, artifact.artifact_id)]
    assert len(result.output) < 1000
    assert artifact.artifact_id in result.output


async def test_without_artifacts_large_output_is_cut(request_for: Requests, tmp_path: Path):
    runner = TaskRunner(lambda event: None, tmp_path)
    result = await runner.run(request_for("head -c 10000 /dev/zero | tr '\\0' a"))

    assert result.output.startswith("a" * 8192)
    assert result.output.endswith("[1,808 more bytes are in the output of the task]")


async def test_secrets_are_not_written(recorder: Recorder, request_for: Requests):
    half = len(TOKEN) // 2
    result = await recorder.runner.run(request_for(f"printf {TOKEN[:half]}; printf '{TOKEN[half:]}\\n'; echo done"))

    assert result.output == result.log.read_text() == "…\ndone\n"
    assert TOKEN[:half] not in "".join(recorder.live)


async def test_a_log_that_cannot_be_written_does_not_fail_the_task(request_for: Requests, tmp_path: Path):
    def refuse(event: Any) -> None:
        if isinstance(event, refused):
            raise FileError("the disk is full")

    refused: Any = TaskStarted
    runner = TaskRunner(refuse, tmp_path)
    with pytest.raises(FileError):
        await runner.run(request_for("true"))
    refused = TaskCompleted
    result = await runner.run(request_for("true"))
    assert (result.status, result.summary) == ("failed", "its end was not recorded: the disk is full")
    assert runner.result(result.task_id) == result
    (tmp_path / "file").write_text("")
    with pytest.raises(FileError, match="no task can be started"):
        await TaskRunner(lambda event: None, tmp_path / "file").run(request_for("true"))


async def test_an_output_without_an_end_does_not_fill_the_disk(tmp_path: Path):
    live: list[str] = []
    output = TaskOutput("x", tmp_path / "log", live.append, max_bytes=20)
    for _ in range(10):
        output.write("abc ä\n")
    output.close()
    output.write("ignored")
    output.close()

    text = (tmp_path / "log").read_text()
    assert text == "abc ä\nabc ä\nabc ä\n[the output is longer than 20 bytes; the rest was dropped]\n"
    assert "".join(live) == text


async def test_tasks_are_listed(recorder: Recorder, request_for: Requests):
    first = (await recorder.runner.run(request_for("true"))).task_id
    second = (await recorder.runner.run(request_for(SLEEP, execution="background"))).task_id

    done = TaskRow(first, "shell", "a title", "completed", "inline", summary="exit code 0", exit_code=0)
    assert recorder.runner.list() == (done, TaskRow(second, "shell", "a title", "running", "background"))


def test_a_loop_that_ends_leaves_no_process(tmp_path: Path):
    recorders: list[Recorder] = []

    async def run() -> None:
        recorder = Recorder(tmp_path)
        recorders.append(recorder)
        work = ShellWork(SLEEP, tmp_path)
        await recorder.runner.run(TaskRequest("shell", "", work, execution="background"))
        await recorder.wait_for_text("ready")

    asyncio.run(run())
    [started, end] = recorders[0].events
    assert end == TaskCancelled(started.task_id, "process_exited", is_background=True)
    assert find_surviving_processes(started.task_id) == []
