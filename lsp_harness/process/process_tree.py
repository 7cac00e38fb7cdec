"""A program with all processes that it starts. At the end none of them is left.

A process can leave the group and the session of its parent, and its parent can end before it. So the processes of a
program are found in four ways: by the session and the group of the program, by the chain of parents (the program is
told to adopt orphans among its descendants), and by a mark in the environment, which descendants inherit.
"""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Protocol

from lsp_harness.process.kernel_orders import adopt_orphans, end_with_parent
from lsp_harness.process.pipe_reading import OpenPipe, read_pipe
from lsp_harness.process.priority import lower_priority
from lsp_harness.process.process_group import group_options
from lsp_harness.process.process_table import ProcessRow, environment_value, list_processes, start_ticks
from lsp_harness.process.signals import KILL, list_terminating
from lsp_harness.process.supervised_child import SupervisedChild, start_child
from lsp_harness.process.termination import KILL_WAIT_S, OpenProcess

MARK_VARIABLE = "LSP_HARNESS_TASK"
"""The variable of the environment with the marks of a process, separated by colons. Marks of nested programs add up."""
GRACE_S = 2.0
"""Time for the processes to end after SIGTERM."""
KILLED_WAIT_S = 0.5
"""Maximum time for which a killed program stops this process. Nearly always it is a millisecond."""
MAX_KILL_ROUNDS = 20
"""Maximum number of rounds of SIGKILL. Each round finds the processes that were started during the one before."""
WAIT_STEP_S = 3600.0


class LeadingChild(Protocol):
    """A child of this process that leads its own session.

    Attributes:
        pid: The id of the process.
    """

    pid: int

    def poll(self) -> int | None:
        """Return the exit status, or None if it runs."""
        ...

    def wait(self, timeout: float) -> int:
        """Wait for the end and return the exit status. Raises `subprocess.TimeoutExpired`."""
        ...


class ProcessTree:
    """A running program with all its descendants.

    Attributes:
        pid: The number of the program. It is also the number of its session and its process group.
        output: The standard output and standard error of all processes, as one stream.
    """

    def __init__(self, child: LeadingChild, mark: str) -> None:
        """Take charge of a child that leads its own session. Use `start` to start a program."""
        self.pid = child.pid
        self.output = asyncio.StreamReader()
        self._child = child
        self._search = _Search(child.pid, mark)
        self._pipe: OpenPipe | None = None
        self._reaping = asyncio.ensure_future(self._reap_children())

    @classmethod
    async def start(
        cls,
        argv: Sequence[str],
        *,
        mark: str,
        cwd: Path | None = None,
        env: Mapping[str, str] | None = None,
        prepare: Callable[[], None] = lambda: None,
        stdin: int = subprocess.DEVNULL,
    ) -> "ProcessTree":
        """Start a program in its own session.

        Args:
            argv: The command.
            mark: A name by which the descendants are found. It must not contain a colon.
            cwd: The folder in which the program runs.
            env: The environment. The default is that of this process.
            prepare: Runs in the new process before the program. It must take no lock.
            stdin: The descriptor of its standard input. The default is an empty input.

        Raises:
            OSError: The program cannot be started.
        """
        parent = os.getpid()
        # it starts in the thread of the event loop, because it gets a signal when the thread that started it ends
        child = subprocess.Popen(  # noqa: ASYNC220
            list(argv),
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            cwd=cwd,
            env=add_mark(os.environ if env is None else env, mark),
            **group_options(prepare=lambda: _prepare(parent, prepare)),
        )
        assert child.stdout
        return await cls._read_from(cls(child, mark), child.stdout)

    @classmethod
    async def start_supervised(
        cls, argv: Sequence[str], *, mark: str, cwd: Path | None = None, env: Mapping[str, str] | None = None
    ) -> "ProcessTree":
        """Start a program under a supervisor, which ends all its descendants when this process is killed.

        Those in sessions of their own are ended, too. `pid` is the number of the supervisor.

        Args:
            argv: The command.
            mark: A name by which the descendants are found. It must not contain a colon.
            cwd: The folder in which the program runs.
            env: The environment. The default is that of this process.

        Raises:
            OSError: The program cannot be started.
            ValueError: The command or the environment has a character that no program can get.
        """
        if sys.platform == "win32":
            # there are no supervisors: the job of this process ends what is left (`own_job`)
            return await cls.start(argv, mark=mark, cwd=cwd, env=env)
        reading, writing = os.pipe()
        output = open(reading, "rb", buffering=0)  # noqa: SIM115 - the tree closes it
        nothing = os.open(os.devnull, os.O_RDONLY)
        child = None
        try:
            child = start_child(nothing, writing)
            folder = os.getcwd() if cwd is None else str(cwd)
            await child.start(argv, folder, add_mark(os.environ if env is None else env, mark))
        except BaseException:
            output.close()
            if child:
                child.close()
            raise
        finally:
            os.close(nothing)
            os.close(writing)
        return await cls._read_from(cls(child, mark), output)

    @classmethod
    async def _read_from(cls, tree: "ProcessTree", output: IO[bytes]) -> "ProcessTree":
        """Read the output of a tree, and return the tree."""
        try:
            tree._pipe = await read_pipe(output, tree.output)
        except BaseException:
            output.close()
            await tree.end(grace_s=0.0)
            tree.close()
            raise
        return tree

    async def wait(self) -> int:
        """Wait until the program has ended, and return its exit status. Its descendants may still run."""
        return await asyncio.shield(self._reaping)

    async def find_processes(self) -> list[ProcessRow]:
        """Return the program and its descendants, as far as they run."""
        return await asyncio.to_thread(self._search.find)

    async def end(self, grace_s: float = GRACE_S, kill_s: float = KILL_WAIT_S) -> list[int]:
        """End the program and all its descendants: SIGTERM first, and SIGKILL after a grace time.

        Args:
            grace_s: Time to end after SIGTERM.
            kill_s: Maximum wait after SIGKILL.

        Returns:
            The numbers of processes that still run, for example because they wait for a disk.
        """
        if isinstance(self._child, SupervisedChild) and self._child.is_reported:
            return list(self._child.left)
        try:
            left = await _end_processes(self._search, grace_s, kill_s)
        except asyncio.CancelledError:
            self.kill()
            raise
        # the program itself becomes a zombie, which only this process can remove
        await asyncio.wait({self._reaping}, timeout=kill_s)
        return left

    def kill(self) -> None:
        """Send SIGKILL to the program and its descendants at once, when the event loop cannot wait any more."""
        for row in self._search.find():
            with suppress(ProcessLookupError, PermissionError):
                os.kill(row.pid, KILL)
        with suppress(subprocess.TimeoutExpired):
            self._child.wait(KILLED_WAIT_S)

    def close(self) -> None:
        """Stop reading the output. A process that could not be ended may hold it open."""
        if self._pipe:
            self._pipe.close()
        self._reaping.cancel()
        # the event loop may have cancelled the wait for its end
        self._child.poll()
        if isinstance(self._child, SupervisedChild):
            self._child.close()

    async def _reap_children(self) -> int:
        if isinstance(self._child, SupervisedChild):
            return await self._child.wait_for_end()
        process = OpenProcess(self.pid)
        try:
            while (code := self._child.poll()) is None:
                await process.wait_for_end(WAIT_STEP_S)
            return code
        finally:
            process.close()


def add_mark(env: Mapping[str, str], mark: str) -> dict[str, str]:
    """Return an environment with a mark, by which the descendants of a program are found."""
    outer = env.get(MARK_VARIABLE)
    return {**env, MARK_VARIABLE: f"{outer}:{mark}" if outer else mark}


async def end_marked(mark: str, grace_s: float = GRACE_S, kill_s: float = KILL_WAIT_S) -> list[int]:
    """End all processes with a mark, such as those of a process of ours that was killed.

    Returns:
        The numbers of processes that still run.
    """
    return await _end_processes(_Search(0, mark), grace_s, kill_s)


class _Search:
    """The search for a program and its descendants. It remembers their sessions and groups."""

    def __init__(self, leader: int, mark: str) -> None:
        self._mark = mark
        self._leaders = {leader: start_ticks(leader)} if leader else dict[int, int]()
        self._earliest = self._leaders.get(leader, 0)

    def find(self) -> list[ProcessRow]:
        """Return the processes that run now."""
        rows = {row.pid: row for row in list_processes()}
        own = self._own_processes(rows)
        candidates = [row for row in rows.values() if row.pid not in own]
        members = {row.pid: row for row in candidates if self._is_in_known_session(row, rows) or self._is_marked(row)}
        self._add_descendants(members, candidates)
        for row in members.values():
            if row.pid in (row.session, row.group):
                self._leaders[row.pid] = row.started
        return list(members.values())

    def _own_processes(self, rows: Mapping[int, ProcessRow]) -> set[int]:
        own, pid = {0, 1}, os.getpid()
        while pid not in own:
            own.add(pid)
            pid = rows[pid].parent if pid in rows else 0
        return own

    def _is_in_known_session(self, row: ProcessRow, rows: Mapping[int, ProcessRow]) -> bool:
        for leader in {row.pid, row.session, row.group} & self._leaders.keys():
            # a number can be given to a new process after its session has ended
            if leader not in rows or rows[leader].started in (0, self._leaders[leader]):
                return True
        return False

    def _is_marked(self, row: ProcessRow) -> bool:
        # reading an environment takes longer than reading the table
        return row.started >= self._earliest and self._mark in environment_value(row.pid, MARK_VARIABLE).split(":")

    def _add_descendants(self, members: dict[int, ProcessRow], candidates: Iterable[ProcessRow]) -> None:
        children: dict[int, list[ProcessRow]] = {}
        for row in candidates:
            children.setdefault(row.parent, []).append(row)
        pending = list(members)
        while pending:
            for row in children.get(pending.pop(), ()):
                if row.pid not in members:
                    members[row.pid] = row
                    pending.append(row.pid)


async def _end_processes(search: _Search, grace_s: float, kill_s: float) -> list[int]:
    rows = await asyncio.to_thread(search.find)
    if not rows:
        return []
    await _signal_all(rows, list_terminating(signal.SIGTERM), grace_s)
    for _ in range(MAX_KILL_ROUNDS):
        rows = await asyncio.to_thread(search.find)
        if not rows or not await _signal_all(rows, (KILL,), kill_s):
            break
    return [row.pid for row in rows]


async def _signal_all(rows: Iterable[ProcessRow], signals: Sequence[int], limit_s: float) -> bool:
    """Send signals to processes and wait for their ends. Return whether all ended in time."""
    processes: list[OpenProcess] = []
    try:
        for row in rows:
            with suppress(ProcessLookupError, PermissionError):
                process = OpenProcess(row.pid)
                processes.append(process)
                # the number may belong to a new process by now
                if not row.started or start_ticks(row.pid) == row.started:
                    for number in signals:
                        process.send_signal(number)
        return all(await asyncio.gather(*(process.wait_for_end(limit_s) for process in processes)))
    finally:
        for process in processes:
            process.close()


def _prepare(parent: int, prepare: Callable[[], None]) -> None:
    """Prepare a new process between its start and that of its program."""
    lower_priority()
    prepare()
    if sys.platform == "linux":
        end_with_parent(parent, lambda: os.kill(os.getpid(), KILL))
        adopt_orphans()
