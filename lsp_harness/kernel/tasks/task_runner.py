"""The tasks of a session: long pieces of work, such as programs, that can be awaited, read and cancelled."""

import asyncio
import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from lsp_harness.disk.file_reading import describe_system_error
from lsp_harness.errors import FileError, HarnessError, UsageError
from lsp_harness.events.event_type import SessionEvent
from lsp_harness.events.tool_events import TaskCancelled, TaskCompleted, TaskFailed, TaskStarted
from lsp_harness.files.secrets import redact
from lsp_harness.kernel.artifacts import READ_LIMIT_BYTES, THRESHOLD_BYTES, ArtifactStore
from lsp_harness.kernel.projections.task_list import TaskList, TaskRow
from lsp_harness.kernel.tasks.stop_pipe import StopPipe
from lsp_harness.kernel.tasks.task_output import TaskOutput, TaskRead, log_path, read_output
from lsp_harness.kernel.tasks.task_request import MAX_INLINE_MS, ShellWork, TaskRequest, TaskResult
from lsp_harness.process.command_shell import clean_environment
from lsp_harness.process.process_tree import GRACE_S, ProcessTree
from lsp_harness.text.ulid import make_ulid

READ_CHUNK_BYTES = 65_536
DRAIN_S = 1.0
"""Wait for the rest of the output after the end. A process that could not be ended may hold the output open."""


async def run_program(work: ShellWork, output: TaskOutput, grace_s: float = GRACE_S) -> int:
    """Run a program, and end all processes that it leaves. Return its exit status.

    Args:
        work: The program, its folder and its limits.
        output: Receives the output of the program.
        grace_s: Time to end after SIGTERM.

    Raises:
        UsageError: The program cannot be started.
        TimeoutError: It did not end in time.
    """
    if not work.cwd.is_dir():
        raise UsageError(f"there is no folder {work.cwd}; run the command in a folder that exists")
    if not work.argv:
        raise UsageError("an empty command cannot be started; name a program")
    try:
        # what a shell reads from its environment is no part of the command that was judged
        environment = clean_environment(os.environ if work.env is None else work.env)
        tree = await ProcessTree.start_supervised(work.argv, mark=output.task_id, cwd=work.cwd, env=environment)
    except (OSError, ValueError) as error:
        raise UsageError(f"{work.argv[0]} cannot be started: {describe_system_error(error).lower()}") from error
    copying = asyncio.ensure_future(_copy(tree, output))
    try:
        async with asyncio.timeout(work.timeout_s):
            return await tree.wait()
    finally:
        try:
            await tree.end(grace_s)
            await asyncio.wait({copying}, timeout=DRAIN_S)
        finally:
            copying.cancel()
            tree.close()
            with suppress(asyncio.CancelledError):
                await copying


async def _copy(tree: ProcessTree, output: TaskOutput) -> None:
    while piece := await tree.output.read(READ_CHUNK_BYTES):
        output.write(piece)


WAIT_S = 60.0
"""Default wait for a task."""
MAX_WAIT_S = 300.0
MAX_RUNNING = 16
"""Maximum number of tasks of a session that run at once."""
STOP_S = 10.0
"""Time for a function to end after it was cancelled. After it the task counts as cancelled in any case."""
SUMMARY_CHARS = 200
MORE = "\n[{:,} more bytes are in the output of the task]"


@dataclass(slots=True)
class _Entry:
    request: TaskRequest
    output: TaskOutput
    stop: "asyncio.Future[str]"
    pipe: StopPipe
    supervisor: "asyncio.Task[TaskResult]" = field(init=False)
    waiters: int = 0


@dataclass(frozen=True, slots=True)
class TaskCallbacks:
    """The functions that a runner calls in the event loop.

    Attributes:
        report: Receives the id of a task and a piece of its output as it comes. It is for display only.
        on_background_end: Receives the id of a task that ended while nobody waited for it.
    """

    report: Callable[[str, str], None] = lambda task_id, text: None
    on_background_end: Callable[[str], None] = lambda task_id: None


class TaskRunner:
    """The tasks of one session in this process. All methods must be called in one event loop."""

    def __init__(
        self,
        record: Callable[[SessionEvent], object],
        folder: Path,
        *,
        artifacts: ArtifactStore | None = None,
        callbacks: TaskCallbacks | None = None,
        grace_s: float = GRACE_S,
    ) -> None:
        """Run tasks for a session.

        Args:
            record: Appends an event to the log of the session.
            folder: The folder of the session. Outputs are in its folder `tasks`.
            artifacts: Stores large outputs.
            callbacks: The functions to call.
            grace_s: Time for processes to end after SIGTERM.
        """
        self._record_event = record
        self._folder = folder
        self._artifacts = artifacts
        self._callbacks = callbacks or TaskCallbacks()
        self._grace_s = grace_s
        self._tasks = TaskList()
        self._running: dict[str, _Entry] = {}
        self._results: dict[str, TaskResult] = {}
        self._is_closed = False

    async def run(self, request: TaskRequest) -> TaskResult:
        """Start a task, and wait for its end as long as the request says. A cancelled wait cancels the task.

        Raises:
            UsageError: Too many tasks run, or the session is closed.
            FileError: The output cannot be written.
        """
        task_id = self._start(request)
        entry = self._running[task_id]
        limit_s = {"inline": None, "background": 0.0, "auto": min(max(request.inline_ms, 0), MAX_INLINE_MS) / 1000}
        try:
            return await self._wait_for(task_id, entry, limit_s[request.execution])
        except asyncio.CancelledError:
            await self.cancel(task_id)
            raise

    def list(self) -> tuple[TaskRow, ...]:
        """Return the tasks of this process in the order of their starts."""
        return tuple(self._tasks)

    def result(self, task_id: str) -> TaskResult:
        """Return the result of a task until now. Raises UsageError."""
        if task_id in self._running:
            return TaskResult("started", task_id, log=self._running[task_id].output.path)
        if task_id not in self._results:
            raise UsageError(f"no task {task_id} was started by this process; list the tasks to see their ids")
        return self._results[task_id]

    def read(self, task_id: str, since: int = 0, limit: int = READ_LIMIT_BYTES) -> TaskRead:
        """Read a part of the output of a task, also of a task of an earlier process.

        Args:
            task_id: The id of the task.
            since: The cursor of the part before, or 0.
            limit: Maximum number of bytes.

        Raises:
            UsageError: There is no such task, or an argument is not valid.
            FileError: The output cannot be read.
        """
        return read_output(self._folder, task_id, since, limit, is_running=task_id in self._running)

    async def wait(self, task_id: str, timeout_s: float = WAIT_S) -> TaskResult:
        """Wait until a task has ended, or for `timeout_s` (at most `MAX_WAIT_S`). The task goes on after a timeout.

        Raises UsageError.
        """
        if entry := self._running.get(task_id):
            return await self._wait_for(task_id, entry, min(max(timeout_s, 0.0), MAX_WAIT_S))
        return self.result(task_id)

    async def cancel(self, task_id: str, reason: str = "cancelled") -> TaskResult:
        """End a task and all its processes, and wait for the end. A task that has ended stays as it is.

        Raises UsageError.
        """
        if not (entry := self._running.get(task_id)):
            return self.result(task_id)
        _stop(entry.stop, reason)
        return await self._wait_for(task_id, entry, None)

    async def aclose(self) -> None:
        """End all tasks, and wait for their ends. No task can be started afterwards."""
        self._is_closed = True
        await asyncio.gather(*(self.cancel(task_id) for task_id in tuple(self._running)))

    def _start(self, request: TaskRequest) -> str:
        if self._is_closed:
            raise UsageError("the session is closed; resume it to start a task")
        if len(self._running) >= MAX_RUNNING:
            raise UsageError(f"{MAX_RUNNING} tasks run already; wait for one or cancel one")
        task_id = make_ulid()
        path = log_path(self._folder, task_id)
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            output = TaskOutput(task_id, path, lambda text: self._callbacks.report(task_id, text))
        except OSError as error:
            message = describe_system_error(error).lower()
            raise FileError(f"no task can be started, because {path} cannot be written: {message}") from error
        started = TaskStarted(
            task_id, request.kind, request.title, request.execution, request.call_id, request.session_id
        )
        # who reads of the task in the log may end it at once
        stop: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        pipe = StopPipe(task_id, lambda: _stop(stop, "cancelled by another process"))
        try:
            self._record(started)
        except BaseException:
            pipe.close()
            output.close()
            raise
        entry = self._running[task_id] = _Entry(request, output, stop, pipe)
        entry.supervisor = asyncio.ensure_future(self._supervise(task_id, entry))
        return task_id

    async def _wait_for(self, task_id: str, entry: _Entry, limit_s: float | None) -> TaskResult:
        if limit_s == 0.0:
            return self.result(task_id)
        entry.waiters += 1
        try:
            await asyncio.wait({entry.supervisor}, timeout=limit_s)
            return entry.supervisor.result() if entry.supervisor.done() else self.result(task_id)
        finally:
            entry.waiters -= 1

    async def _supervise(self, task_id: str, entry: _Entry) -> TaskResult:
        """Do the work of a task, and record its end exactly once."""
        work = asyncio.ensure_future(self._do_work(entry))
        is_cancelled = False
        try:
            await asyncio.wait({work, entry.stop}, return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            # the event loop ends, and has cancelled the work too
            is_cancelled = True
            _stop(entry.stop, "process_exited")
        if work.done():
            result = _result_of(entry, work)
        else:
            if not is_cancelled:
                work.cancel()
            await asyncio.wait({work}, timeout=STOP_S + self._grace_s)
            result = TaskResult("cancelled", task_id, summary=entry.stop.result())
        await _close_parts(entry.output)
        result = await self._with_output(entry, result)
        entry.pipe.close()
        del self._running[task_id]
        is_background = entry.waiters == 0
        try:
            self._record(_end_event(result, is_background=is_background))
        except HarnessError as error:
            result = replace(result, status="failed", summary=f"its end was not recorded: {error.message}")
        self._results[task_id] = result
        if is_background:
            self._callbacks.on_background_end(task_id)
        return result

    async def _do_work(self, entry: _Entry) -> tuple[int | None, str]:
        """Do the work. Return the exit status of a program, and the text that a function returns."""
        work = entry.request.work
        if isinstance(work, ShellWork):
            return await run_program(work, entry.output, self._grace_s), ""
        text = await work(entry.output)
        entry.output.write(text)
        return None, text

    async def _with_output(self, entry: _Entry, result: TaskResult) -> TaskResult:
        output = entry.output
        try:
            output.close()
            if output.path.stat().st_size > THRESHOLD_BYTES and self._artifacts:
                artifact = await self._artifacts.store_file(output.path, "task_output", entry.request.call_id)
                text = self._artifacts.stub(artifact, self.read(output.task_id).text)
                return replace(result, output=text, artifact_id=artifact.artifact_id, log=output.path)
            part = self.read(output.task_id, limit=THRESHOLD_BYTES)
        except (HarnessError, OSError) as error:
            return replace(
                result, output=f"[the output was lost: {describe_system_error(error).lower()}]", log=output.path
            )
        rest = output.path.stat().st_size - part.next_cursor
        return replace(result, output=part.text + (MORE.format(rest) if rest > 0 else ""), log=output.path)

    def _record(self, event: SessionEvent) -> None:
        self._record_event(event)
        self._tasks = self._tasks.with_content(event)


def _stop(stop: "asyncio.Future[str]", reason: str) -> None:
    if not stop.done():
        stop.set_result(reason)


async def _close_parts(output: TaskOutput) -> None:
    for part in reversed(output.parts):
        with suppress(HarnessError):
            await part.aclose()


def _result_of(entry: _Entry, work: "asyncio.Future[tuple[int | None, str]]") -> TaskResult:
    task_id = entry.output.task_id
    if work.cancelled():
        return TaskResult("cancelled", task_id, summary="cancelled")
    match work.exception():
        case None:
            exit_code, text = work.result()
            answer = redact(text)[:THRESHOLD_BYTES]
            return TaskResult("completed", task_id, answer, exit_code=exit_code, summary=_summarize(exit_code, answer))
        case TimeoutError() if isinstance(entry.request.work, ShellWork):
            return TaskResult("cancelled", task_id, summary="timeout")
        case HarnessError() as error:
            return TaskResult("failed", task_id, summary=redact(error.message))
        case error:
            return TaskResult(
                "failed", task_id, summary=redact(f"{type(error).__name__}: {describe_system_error(error)}")
            )


def _summarize(exit_code: int | None, text: str) -> str:
    if exit_code is None:
        return next((line.strip() for line in text.splitlines() if line.strip()), "")[:SUMMARY_CHARS]
    return f"signal {-exit_code}" if exit_code < 0 else f"exit code {exit_code}"


def _end_event(result: TaskResult, *, is_background: bool) -> TaskCompleted | TaskFailed | TaskCancelled:
    match result.status:
        case "completed":
            return TaskCompleted(
                result.task_id, result.summary, result.exit_code, result.artifact_id, is_background=is_background
            )
        case "failed":
            return TaskFailed(result.task_id, result.summary, is_background=is_background)
        case _:
            return TaskCancelled(result.task_id, result.summary, is_background=is_background)
