"""Processes that read and parse files.

Parsing holds the GIL, and a parser that crashes or never ends must cost no more than one file.
"""

import gc
import logging
import marshal
import math
import multiprocessing
import os
import threading
import time
from collections import deque
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any

from lsp_harness.disk.file_reading import read_file
from lsp_harness.errors import FileError
from lsp_harness.files.walk import SkippedFile, WalkedFile, skip_unreadable
from lsp_harness.index.builder.file_extract import Extract, extract_file, hash_content
from lsp_harness.process import copied_process
from lsp_harness.process.activity import POLL_INTERVAL_S, SILENCE_LIMIT_S, ProcessActivity
from lsp_harness.process.allowed_cores import count_allowed_cores
from lsp_harness.process.priority import lower_priority, take_idle_time
from lsp_harness.process.time_limit import limit_further_time
from lsp_harness.syntax.parse_budget import MAX_TEXT_BYTES

log = logging.getLogger(__name__)

BATCH_FILES = 16
"""Number of files that a process gets at a time."""
QUIET_S = 1.5
"""Time after a key press in which nothing is read. Priorities do not divide caches, or cores that are two threads of
one."""
MAX_PAUSE_S = 1.0
"""The longest pause of a batch for typing, so that the index is completed even if somebody types without end. The
first batch does not wait, so a saved file, which is one batch, is read at once."""
PAUSE_STEP_S = 0.05
CPU_LIMIT_S = 30
"""CPU time limit for one file. The limit is not wall-clock time, as these processes run at the lowest priority."""

SAFE_PATH_VARIABLE = "PYTHONSAFEPATH"
START_METHOD = copied_process.START_METHOD
"""The way in which processes start. A server process, if there is one, has the code, but no threads and no database."""

FileRequest = tuple[WalkedFile, bytes]
"""A file and the digest of its indexed content, empty for a new file."""
ReadResult = Extract | WalkedFile | SkippedFile
"""The extract of a file; the file itself if its content is unchanged; or the reason why it could not be read."""


def read_and_extract(root: Path, file: WalkedFile, known_digest: bytes) -> ReadResult:
    """Read one file and extract it if its content changed."""
    if file.size > MAX_TEXT_BYTES:
        return Extract(file, b"", skipped=f"larger than {MAX_TEXT_BYTES // 1000} kB")
    try:
        data = read_file(root / file.path, MAX_TEXT_BYTES)
    except FileError as error:
        cause = error.__cause__
        return (
            skip_unreadable(file.path, cause) if isinstance(cause, OSError) else SkippedFile(file.path, error.message)
        )
    return file if known_digest and hash_content(data) == known_digest else extract_file(file, data)


def yield_processor(*, tries: int = 1) -> None:
    """Give this process the lowest priority within its session, and its session a low one. See `lower_priority`."""
    lower_priority(tries=tries)
    take_idle_time()


def initialize_process() -> None:
    """Prepare a new process: lowest priority, no output, and an end together with the process that started it."""
    yield_processor()
    # Extracts have no reference cycles, and are created a quarter faster without garbage collection.
    gc.disable()
    # The reader of the parent's output waits for its end, so this process must not hold it open.
    os.dup2(2, 1)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    if parent := multiprocessing.parent_process():
        parent.join()
        os._exit(1)


def _start_forkserver() -> None:
    """Start the server process. It must not import modules from the current folder."""
    old_value = os.environ.get(SAFE_PATH_VARIABLE)
    os.environ[SAFE_PATH_VARIABLE] = "1"
    try:
        copied_process.start_server([__name__])
    finally:
        if old_value is None:
            del os.environ[SAFE_PATH_VARIABLE]
        else:
            os.environ[SAFE_PATH_VARIABLE] = old_value


class ReaderPool:
    """A pool of processes that read files. They start when there is something to read."""

    def __init__(
        self,
        root: Path,
        count: int = 0,
        seconds_since_key: Callable[[], float] = lambda: math.inf,
        wait: Callable[[float], None] = time.sleep,
    ) -> None:
        """Create the pool.

        Args:
            root: The workspace folder.
            count: Number of processes; 0 for one per core.
            seconds_since_key: Returns the time since the last key press. Reading pauses while it is short.
            wait: Sleeps for a number of seconds.
        """
        self._root = root
        self._seconds_since_key, self._wait = seconds_since_key, wait
        self._count = count or count_allowed_cores()
        self._pool: ProcessPoolExecutor | None = None

    def read(self, requests: Sequence[FileRequest]) -> Iterator[ReadResult]:
        """Yield a result for each request, in the order in which they are done."""
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
            # Each file of a failed batch is read alone, which shows the file that caused the failure.
            yield self._read_alone(request)

    def close(self) -> None:
        """Stop the processes."""
        if self._pool:
            self._discard_pool(self._pool)

    def _wait_for_any(self, running: Collection[Future[bytes]]) -> Collection[Future[bytes]]:
        """Wait until a task is done and return the finished tasks. Processes that are stuck are killed, so their
        tasks fail."""
        activity = ProcessActivity(_process_ids, SILENCE_LIMIT_S)
        while not (done := wait(running, POLL_INTERVAL_S, FIRST_COMPLETED).done):
            if activity.is_stuck():
                for process in multiprocessing.active_children():
                    process.kill()
        return done

    def _pause_for_typing(self) -> None:
        """Wait while somebody types, but at most MAX_PAUSE_S."""
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
                if START_METHOD == "forkserver":
                    _start_forkserver()
                self._pool = ProcessPoolExecutor(self._count, context, initialize_process)
            pool = self._pool
            try:
                return pool.submit(_read_batch, self._root, batch), pool
            except BrokenProcessPool:
                # A process of the pool died. The tasks that it had fail on their own.
                self._discard_pool(pool)

    def _discard_pool(self, pool: ProcessPoolExecutor) -> None:
        """Use this pool for no more tasks. Its running tasks end normally."""
        if pool is self._pool:
            self._pool = None
        pool.shutdown(wait=False)


def _process_ids() -> list[int]:
    return [process.pid for process in multiprocessing.active_children() if process.pid]


def _read_batch(root: Path, batch: Sequence[FileRequest]) -> bytes:
    """Return the packed results of a batch. Marshal takes half the time of pickle."""
    return marshal.dumps([_to_tuple(_read_with_cpu_limit(root, file, known_digest)) for file, known_digest in batch])


def _to_tuple(result: ReadResult) -> tuple[Any, ...]:
    match result:
        case Extract():
            return "extract", tuple(result.file), *result[1:]
        case WalkedFile():
            return "found", *result
        case SkippedFile():
            return "left", *result


def _unpack(packed: bytes) -> Iterator[ReadResult]:
    rows: list[Any] = marshal.loads(packed)
    for kind, first, *rest in rows:
        match kind:
            case "extract":
                yield Extract(WalkedFile(*first), *rest)
            case "found":
                yield WalkedFile(first, *rest)
            case _:
                yield SkippedFile(first, *rest)


def _read_with_cpu_limit(root: Path, file: WalkedFile, known_digest: bytes) -> ReadResult:
    # The system ends the process above this limit.
    limit_further_time(CPU_LIMIT_S)
    try:
        return read_and_extract(root, file, known_digest)
    except Exception as error:
        # A defect in this code must cost no more than one file.
        log.exception("reading %s failed", file.path)
        return Extract(file, b"", skipped=f"it cannot be read: {type(error).__name__}")
