"""Processes that read and parse files, because parsing holds the GIL, and because a parser that crashes or never ends must
cost no more than the file it was given."""

import gc
import logging
import marshal
import math
import multiprocessing
import os
import resource
import threading
import time
from collections import deque
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import forkserver
from pathlib import Path
from typing import Any

from lsp_harness.disk.file_reading import read_file
from lsp_harness.errors import FileProblem
from lsp_harness.files.walk import Found, Left, left
from lsp_harness.index.build.file_extract import Extract, digest, extract
from lsp_harness.process.activity import LOOK_S, SILENCE_S, Activity
from lsp_harness.syntax.parse_budget import MAX_TEXT_BYTES

log = logging.getLogger(__name__)

BATCH = 16
"""Files that a process is given at a time."""
QUIET_SECONDS = 1.5
"""After a key nothing is read for so long: priorities do not share out caches, and cores that are two threads of one."""
PAUSE_SECONDS = 1.0
"""The longest that a batch waits for that, so that who types without end gets an index too. What a save changes is one batch, and
the first does not wait."""
LOOK_SECONDS = 0.05
CPU_SECONDS = 30
"""That one file may take of a core, however long that is on the clock: these processes wait for all others."""

SAFE_PATH = "PYTHONSAFEPATH"
START = "forkserver"
"""Processes come from one that has nothing but the code: no threads, no database."""

Wanted = tuple[Found, bytes]
"""A file and the digest under which it is known, empty where it is not."""
Read = Extract | Found | Left
"""What was read; a file that is what it was; a file that could not be read, and why."""


def read(root: Path, found: Found, known: bytes) -> Read:
    """One file."""
    if found.size > MAX_TEXT_BYTES:
        return Extract(found, b"", skipped=f"larger than {MAX_TEXT_BYTES // 1000} kB")
    try:
        data = read_file(root / found.path, MAX_TEXT_BYTES)
    except FileProblem as error:
        why = error.__cause__
        return left(found.path, why) if isinstance(why, OSError) else Left(found.path, error.message)
    return found if known and digest(data) == known else extract(found, data)


def calm() -> None:
    """Gives way to everything else on the machine: an index is never what the user waits for."""
    if hasattr(os, "SCHED_IDLE"):
        os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
    else:
        os.nice(19)


def begin() -> None:
    """The first that a process of ours does: it is calm, quiet, and ends with the one that started it, killed or not."""
    calm()
    # what is made of a file has no cycles, and is a quarter faster made without looking for them
    gc.disable()
    # who listens to our parent waits for the end of what it says
    os.dup2(2, 1)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    if parent := multiprocessing.parent_process():
        parent.join()
        os._exit(1)


def _start_safely() -> None:
    """The process that the others come from must not take a file of the current folder for a module of that name."""
    before = os.environ.get(SAFE_PATH)
    os.environ[SAFE_PATH] = "1"
    try:
        forkserver.ensure_running()
    finally:
        if before is None:
            del os.environ[SAFE_PATH]
        else:
            os.environ[SAFE_PATH] = before


class Readers:
    """`count` processes, started when there is something to read. `typed` says how many seconds ago somebody typed: who is
    waited for by nobody gives way to that."""

    def __init__(
        self,
        root: Path,
        count: int = 0,
        typed: Callable[[], float] = lambda: math.inf,
        wait: Callable[[float], None] = time.sleep,
    ) -> None:
        self._root = root
        self._typed, self._wait = typed, wait
        self._count = count or os.cpu_count() or 1
        self._pool: ProcessPoolExecutor | None = None

    def read(self, wanted: Sequence[Wanted]) -> Iterator[Read]:
        """All of it, as it gets done."""
        suspects: list[Wanted] = []
        waiting = deque(wanted[n : n + BATCH] for n in range(0, len(wanted), BATCH))
        running: dict[Future[bytes], tuple[Sequence[Wanted], ProcessPoolExecutor]] = {}
        first = len(waiting)
        while waiting or running:
            while waiting and len(running) < 2 * self._count:
                if len(waiting) < first:
                    self._give_way()
                batch = waiting.popleft()
                task, pool = self._submit(batch)
                running[task] = (batch, pool)
            for task in self._done(running):
                batch, pool = running.pop(task)
                try:
                    read = _unpacked(task.result())
                except BrokenProcessPool:
                    self._drop(pool)
                    suspects += batch
                else:
                    yield from read
        for one in suspects:
            # by itself, so that it is known which it was
            yield self._alone(one)

    def close(self) -> None:
        if self._pool:
            self._drop(self._pool)

    def _done(self, running: Collection[Future[bytes]]) -> Collection[Future[bytes]]:
        """Those of the tasks that are done, once there is one. Processes that are stuck are killed, which ends theirs."""
        activity = Activity(_processes, SILENCE_S)
        while not (done := wait(running, LOOK_S, FIRST_COMPLETED).done):
            if activity.stuck():
                for process in multiprocessing.active_children():
                    process.kill()
        return done

    def _give_way(self) -> None:
        """Waits while somebody types."""
        waited = 0.0
        while waited < PAUSE_SECONDS and self._typed() < QUIET_SECONDS:
            self._wait(LOOK_SECONDS)
            waited += LOOK_SECONDS

    def _alone(self, wanted: Wanted) -> Read:
        task, pool = self._submit([wanted])
        self._done([task])
        try:
            return next(_unpacked(task.result()))
        except BrokenProcessPool:
            self._drop(pool)
            found, _ = wanted
            return Extract(found, b"", skipped="the parser crashed or did not end")

    def _submit(self, batch: Sequence[Wanted]) -> "tuple[Future[bytes], ProcessPoolExecutor]":
        while True:
            if self._pool is None:
                context = multiprocessing.get_context(START)
                context.set_forkserver_preload([__name__])
                if START == "forkserver":
                    _start_safely()
                self._pool = ProcessPoolExecutor(self._count, context, begin)
            pool = self._pool
            try:
                return pool.submit(_read, self._root, batch), pool
            except BrokenProcessPool:
                # one of its processes died since; what it was given will say so itself
                self._drop(pool)

    def _drop(self, pool: ProcessPoolExecutor) -> None:
        """What others were given by it ends as it would."""
        if pool is self._pool:
            self._pool = None
        pool.shutdown(wait=False)


def _processes() -> list[int]:
    return [process.pid for process in multiprocessing.active_children() if process.pid]


def _read(root: Path, batch: Sequence[Wanted]) -> bytes:
    """What is made of each, packed in half the time that pickling it takes."""
    return marshal.dumps([_plain(_one(root, found, known)) for found, known in batch])


def _plain(one: Read) -> tuple[Any, ...]:
    match one:
        case Extract():
            return "extract", tuple(one.found), *one[1:]
        case Found():
            return "found", *one
        case Left():
            return "left", *one


def _unpacked(packed: bytes) -> Iterator[Read]:
    rows: list[Any] = marshal.loads(packed)
    for kind, first, *rest in rows:
        match kind:
            case "extract":
                yield Extract(Found(*first), *rest)
            case "found":
                yield Found(first, *rest)
            case _:
                yield Left(first, *rest)


def _one(root: Path, found: Found, known: bytes) -> Read:
    used = resource.getrusage(resource.RUSAGE_SELF)
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    # whoever needs more is killed by the system
    soft = int(used.ru_utime + used.ru_stime) + 1 + CPU_SECONDS
    resource.setrlimit(resource.RLIMIT_CPU, (soft if hard == resource.RLIM_INFINITY else min(soft, hard), hard))
    try:
        return read(root, found, known)
    except Exception as error:
        # a bug of ours must cost no more than the file it is about
        log.exception("reading %s failed", found.path)
        return Extract(found, b"", skipped=f"it cannot be read: {type(error).__name__}")
