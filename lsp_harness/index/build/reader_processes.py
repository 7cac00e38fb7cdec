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
from lsp_harness.index.build.file_extract import Extract, content_digest, extract_file
from lsp_harness.process.activity import LOOK_S, SILENCE_S, Activity
from lsp_harness.syntax.tree import LIMIT

log = logging.getLogger(__name__)

BATCH_FILES = 16
"""Files that a process is given at a time."""
QUIET_S = 1.5
"""After a key nothing is read for so long: priorities do not share out caches, and cores that are two threads of one."""
MAX_PAUSE_S = 1.0
"""The longest that a batch waits for that, so that who types without end gets an index too. What a save changes is one batch, and
the first does not wait."""
PAUSE_STEP_S = 0.05
CPU_LIMIT_S = 30
"""That one file may take of a core, however long that is on the clock: these processes wait for all others."""

SAFE_PATH_VARIABLE = "PYTHONSAFEPATH"
START_METHOD = "forkserver"
"""Processes come from one that has nothing but the code: no threads, no database."""

FileRequest = tuple[Found, bytes]
"""A file and the digest under which it is known, empty where it is not."""
ReadResult = Extract | Found | Left
"""What was read; a file that is what it was; a file that could not be read, and why."""


def read_and_extract(root: Path, file: Found, known_digest: bytes) -> ReadResult:
    """One file."""
    if file.size > LIMIT:
        return Extract(file, b"", skipped=f"larger than {LIMIT // 1000} kB")
    try:
        data = read_file(root / file.path, LIMIT)
    except FileProblem as error:
        cause = error.__cause__
        return left(file.path, cause) if isinstance(cause, OSError) else Left(file.path, error.message)
    return file if known_digest and content_digest(data) == known_digest else extract_file(file, data)


def lower_priority() -> None:
    """Gives way to everything else on the machine: an index is never what the user waits for."""
    if hasattr(os, "SCHED_IDLE"):
        os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
    else:
        os.nice(19)


def initialize_process() -> None:
    """The first that a process of ours does: it is calm, quiet, and ends with the one that started it, killed or not."""
    lower_priority()
    # what is made of a file has no cycles, and is a quarter faster made without looking for them
    gc.disable()
    # who listens to our parent waits for the end of what it says
    os.dup2(2, 1)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    if parent := multiprocessing.parent_process():
        parent.join()
        os._exit(1)


def _start_forkserver() -> None:
    """The process that the others come from must not take a file of the current folder for a module of that name."""
    old_value = os.environ.get(SAFE_PATH_VARIABLE)
    os.environ[SAFE_PATH_VARIABLE] = "1"
    try:
        forkserver.ensure_running()
    finally:
        if old_value is None:
            del os.environ[SAFE_PATH_VARIABLE]
        else:
            os.environ[SAFE_PATH_VARIABLE] = old_value


class ReaderPool:
    """`count` processes, started when there is something to read. `typed` says how many seconds ago somebody typed: who is
    waited for by nobody gives way to that."""

    def __init__(
        self,
        root: Path,
        count: int = 0,
        seconds_since_key: Callable[[], float] = lambda: math.inf,
        wait: Callable[[float], None] = time.sleep,
    ) -> None:
        self._root = root
        self._seconds_since_key, self._wait = seconds_since_key, wait
        self._count = count or os.cpu_count() or 1
        self._pool: ProcessPoolExecutor | None = None

    def read(self, requests: Sequence[FileRequest]) -> Iterator[ReadResult]:
        """All of it, as it gets done."""
        suspects: list[FileRequest] = []
        waiting = deque(requests[n : n + BATCH_FILES] for n in range(0, len(requests), BATCH_FILES))
        running: dict[Future[bytes], tuple[Sequence[FileRequest], ProcessPoolExecutor]] = {}
        batch_count = len(waiting)
        while waiting or running:
            while waiting and len(running) < 2 * self._count:
                if len(waiting) < batch_count:
                    self._pause_for_typing()
                batch = waiting.popleft()
                task, pool = self._submit(batch)
                running[task] = (batch, pool)
            for task in self._wait_for_any(running):
                batch, pool = running.pop(task)
                try:
                    results = _unpack(task.result())
                except BrokenProcessPool:
                    self._discard_pool(pool)
                    suspects += batch
                else:
                    yield from results
        for request in suspects:
            # by itself, so that it is known which it was
            yield self._read_alone(request)

    def close(self) -> None:
        if self._pool:
            self._discard_pool(self._pool)

    def _wait_for_any(self, running: Collection[Future[bytes]]) -> Collection[Future[bytes]]:
        """Those of the tasks that are done, once there is one. Processes that are stuck are killed, which ends theirs."""
        activity = Activity(_process_ids, SILENCE_S)
        while not (done := wait(running, LOOK_S, FIRST_COMPLETED).done):
            if activity.stuck():
                for process in multiprocessing.active_children():
                    process.kill()
        return done

    def _pause_for_typing(self) -> None:
        """Waits while somebody types."""
        waited = 0.0
        while waited < MAX_PAUSE_S and self._seconds_since_key() < QUIET_S:
            self._wait(PAUSE_STEP_S)
            waited += PAUSE_STEP_S

    def _read_alone(self, request: FileRequest) -> ReadResult:
        task, pool = self._submit([request])
        self._wait_for_any([task])
        try:
            return next(_unpack(task.result()))
        except BrokenProcessPool:
            self._discard_pool(pool)
            file, _ = request
            return Extract(file, b"", skipped="the parser crashed or did not end")

    def _submit(self, batch: Sequence[FileRequest]) -> "tuple[Future[bytes], ProcessPoolExecutor]":
        while True:
            if self._pool is None:
                context = multiprocessing.get_context(START_METHOD)
                context.set_forkserver_preload([__name__])
                if START_METHOD == "forkserver":
                    _start_forkserver()
                self._pool = ProcessPoolExecutor(self._count, context, initialize_process)
            pool = self._pool
            try:
                return pool.submit(_read_batch, self._root, batch), pool
            except BrokenProcessPool:
                # one of its processes died since; what it was given will say so itself
                self._discard_pool(pool)

    def _discard_pool(self, pool: ProcessPoolExecutor) -> None:
        """What others were given by it ends as it would."""
        if pool is self._pool:
            self._pool = None
        pool.shutdown(wait=False)


def _process_ids() -> list[int]:
    return [process.pid for process in multiprocessing.active_children() if process.pid]


def _read_batch(root: Path, batch: Sequence[FileRequest]) -> bytes:
    """What is made of each, packed in half the time that pickling it takes."""
    return marshal.dumps([_to_tuple(_read_with_cpu_limit(root, file, known_digest)) for file, known_digest in batch])


def _to_tuple(result: ReadResult) -> tuple[Any, ...]:
    match result:
        case Extract():
            return "extract", tuple(result.file), *result[1:]
        case Found():
            return "found", *result
        case Left():
            return "left", *result


def _unpack(packed: bytes) -> Iterator[ReadResult]:
    rows: list[Any] = marshal.loads(packed)
    for kind, first, *rest in rows:
        match kind:
            case "extract":
                yield Extract(Found(*first), *rest)
            case "found":
                yield Found(first, *rest)
            case _:
                yield Left(first, *rest)


def _read_with_cpu_limit(root: Path, file: Found, known_digest: bytes) -> ReadResult:
    used = resource.getrusage(resource.RUSAGE_SELF)
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    # whoever needs more is killed by the system
    soft = int(used.ru_utime + used.ru_stime) + 1 + CPU_LIMIT_S
    resource.setrlimit(resource.RLIMIT_CPU, (soft if hard == resource.RLIM_INFINITY else min(soft, hard), hard))
    try:
        return read_and_extract(root, file, known_digest)
    except Exception as error:
        # a bug of ours must cost no more than the file it is about
        log.exception("reading %s failed", file.path)
        return Extract(file, b"", skipped=f"it cannot be read: {type(error).__name__}")
