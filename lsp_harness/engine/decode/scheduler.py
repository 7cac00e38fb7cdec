"""Who may use the model now. One thread owns it and evaluates all live sequences in one loop.

Each step belongs to the most urgent class that has work; within a class, candidates of all requests share the step, and
prompts are read in parts, the client that was served longest ago first. A request that cannot get its cells yet waits.
A step that reads a less urgent prompt or works ahead is given up when something more urgent arrives, unless that needs just
this part, or too many were given up.
"""

import asyncio
import threading
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import replace
from itertools import count
from time import perf_counter
from typing import Protocol

from lsp_harness.engine.decode.batch import Batch, compose
from lsp_harness.engine.decode.cached_sequence import common
from lsp_harness.engine.decode.generation import Model, Run, Work
from lsp_harness.engine.decode.llama import Aborted
from lsp_harness.errors import EngineBusy, EngineError, EngineUnavailable, HarnessError
from lsp_harness.inference.request import PRIORITIES, Chunk, Priority, Usage


class Observer(Protocol):
    """Hears of every request once, at its end. Times in milliseconds; `first_ms` is None when no token came."""

    def finished(
        self,
        priority: Priority,
        outcome: str,
        usage: Usage,
        waited_ms: float,
        first_ms: float | None,
        total_ms: float,
    ) -> None: ...


class Job:
    """One request in the queue or at work."""

    def __init__(self, priority: Priority, arrival: int, work: Work) -> None:
        self.priority: Priority = priority
        self.level = PRIORITIES.index(priority)
        self.turn = arrival
        self.work = work
        self.loop = asyncio.get_running_loop()
        self.chunks: asyncio.Queue[Chunk | Exception] = asyncio.Queue()
        self.cancelled = threading.Event()
        self.dropped: set[int] = set()
        self.run: Run | None = None
        self.chunk = 0
        """Tokens of its prompt a step may read; smaller after a step was given up for more urgent work."""
        self.read = 0.0
        """When the last step that read its prompt was done."""
        self.no_room = -1
        """The scheduler's count of changes when it found no room."""
        self.waits: tuple[object, bool] = (None, False)
        """A step's part of a prompt, and whether this needs it, too."""
        self.arrived = perf_counter()
        self.began: float | None = None
        self.first: float | None = None
        self.last: dict[int, Chunk] = {}
        """Of each candidate."""
        self.left = work.sampling.n
        """Candidates that have not ended."""
        self.final: Chunk | None = None

    @property
    def usage(self) -> Usage:
        """The prompt once, what all candidates spelled, and what they generated."""
        each = [chunk.usage for chunk in self.last.values()]
        if not each:
            return Usage()
        spelled = sum(usage.spelled for usage in each)
        return replace(
            each[-1],
            evaluated=each[-1].evaluated - each[-1].spelled + spelled,
            spelled=spelled,
            generated=sum(usage.generated for usage in each),
            drafted=sum(usage.drafted for usage in each),
            accepted=sum(usage.accepted for usage in each),
        )

    @property
    def outcome(self) -> str:
        """How the candidate that ended last did."""
        return str(next((chunk.stop for chunk in reversed(self.last.values()) if chunk.stop), None))

    def tell(self, item: Chunk | Exception) -> None:
        """From the worker thread. What ends the request waits for `let_go`."""
        if isinstance(item, Chunk):
            # the one that spoke last is the last of them
            self.last.pop(item.index, None)
            self.last[item.index] = item
            if self.first is None and item.usage.generated:
                self.first = perf_counter()
            self.left -= item.stop is not None
            if not self.left:
                self.final = item
                return
        self._send(item)

    def let_go(self) -> None:
        """Tell what ends it: once it is counted, and its place in the queue is free, for whoever has the answer may ask
        for the counts or the place next."""
        if self.final:
            self._send(self.final)

    def _send(self, item: Chunk | Exception) -> None:
        """A loop that is gone has nobody left to tell."""
        try:
            self.loop.call_soon_threadsafe(self.chunks.put_nowait, item)
        except RuntimeError:
            self.cancelled.set()


class Scheduler:
    """`limit` requests of a class and the more urgent ones may wait or be at work: less urgent ones keep nobody out."""

    QUIET = 2.0
    """Seconds without work after which hot sequences are saved."""
    SHORTEST = 16
    """Tokens of a prompt that are read at once at least."""
    STARVED = 10.0
    """Seconds after which a part of a prompt is read whatever arrives meanwhile, or it would never be done."""

    def __init__(self, model: Model, *, limit: int = 64, observer: Observer | None = None) -> None:
        self._model = model
        self._limit = limit
        self._observer = observer
        self._arrivals = count()
        self._jobs: list[Job] = []
        self._wake = threading.Condition()
        self._closing = False
        self._batch: list[Job] = []
        self._reading: list[int] | None = None
        """A prompt up to the end of the part that the step at work reads."""
        self._served: dict[str, int] = {}
        """Client → the turn in which a part of a prompt of theirs was read last."""
        self._changes = self._seen = 0
        """Requests that came or ended, in all and before the step at work."""
        self._yields = False
        """The step at work only reads a part of a prompt, or works ahead, and can be given up."""
        self._alarm = False
        """Something was submitted or cancelled since the step at work began."""
        self._beat = perf_counter()
        """The last sign of the worker thread."""
        model.llama.should_abort = self._pointless
        self._thread = threading.Thread(target=self._work, name="llama", daemon=True)
        self._thread.start()

    @property
    def pending(self) -> int:
        return len(self._jobs)

    @property
    def silent_s(self) -> float:
        """Seconds since the worker thread gave a sign, while it has something to do: it gives one with each step, and on a CPU
        between two operations of one."""
        arrived = min((job.arrived for job in list(self._jobs)), default=None)
        return 0.0 if arrived is None else max(0.0, perf_counter() - max(arrived, self._beat))

    def busy(self) -> bool:
        """Something more urgent than background work is going on."""
        return any(job.level < len(PRIORITIES) - 1 for job in list(self._jobs))

    async def submit(self, work: Work, priority: Priority) -> AsyncIterator[Chunk]:
        """Chunks as they come, of all candidates. Leaving the iterator early cancels the work at its next token."""
        job = Job(priority, next(self._arrivals), work)
        with self._wake:
            if self._closing:
                raise EngineUnavailable("the engine is shutting down; the next request starts another")
            if sum(other.level <= job.level for other in self._jobs) >= self._limit:
                raise EngineBusy(f"{self._limit} requests are waiting already; try again")
            self._jobs.append(job)
            self._alarm = True
            self._changes += 1
            self._wake.notify()
        try:
            while True:
                item = await job.chunks.get()
                if isinstance(item, Exception):
                    raise item
                yield item
                if item is job.final:
                    return
        finally:
            job.cancelled.set()
            self._alarm = True

    def cancel(self, client: str, name: str, index: int | None) -> bool:
        """Stop the request `client` calls `name`, or one candidate of it. False when there is none."""
        with self._wake:
            named = [job for job in self._jobs if (job.work.owner.client, job.work.owner.id) == (client, name)]
            found = [job for job in named if index is None or 0 <= index < job.work.sampling.n]
            for job in found:
                job.dropped |= set(range(job.work.sampling.n)) if index is None else {index}
                if len(job.dropped) >= job.work.sampling.n:
                    # a step that works for nobody else is given up
                    job.cancelled.set()
                    self._alarm = True
            self._wake.notify()
        return bool(found)

    def close(self) -> None:
        """Cancel everything and wait for the thread to let go of the model."""
        with self._wake:
            self._closing = True
            for job in self._jobs:
                job.cancelled.set()
            self._alarm = True
            self._wake.notify()
        self._thread.join()

    # -- the worker thread
    def _work(self) -> None:
        while True:
            with self._wake:
                while not self._jobs and not self._closing:
                    if not self._wake.wait(timeout=self.QUIET):
                        break
                jobs = list(self._jobs)
                self._beat = perf_counter()
                self._seen = self._changes
                self._alarm = False
                if not jobs and self._closing:
                    break
            try:
                self._step(jobs) if jobs else self._save()
                while not self._jobs and self._model.ease():
                    pass
            except Exception as error:  # noqa: BLE001 - the thread must outlive any one request
                for job in jobs:
                    self._fail(job, error)
        self._save(all_=True)

    def _save(self, *, all_: bool = False) -> None:
        """Write hot sequences, newest first, until somebody wants the model."""
        saved, lot = self._model.saved, self._model.lot
        if not saved:
            return
        idle = [slot for slot in self._model.kv.slots if not slot.busy]
        for held in sorted([*idle, *(lot.sequences if lot else ())], key=lambda held: -held.used):
            self._beat = perf_counter()
            if all_ or not self._jobs:
                saved.keep(held)

    def _pointless(self) -> bool:
        """Whether the step at work may as well be given up (asked by llama.cpp between two operations)."""
        self._beat = perf_counter()
        at_work = self._batch
        # asked hundreds of times a step, so the usual answer must cost nothing
        if not self._alarm or not at_work:
            return False
        if all(job.cancelled.is_set() for job in at_work):
            return True
        level = min(job.level for job in at_work)
        return self._yields and any(
            job.level < level and not job.cancelled.is_set() and not self._waits(job) for job in list(self._jobs)
        )

    def _waits(self, job: Job) -> bool:
        """Whether the part that is being read is one `job` needs: not where a shorter prompt will do for it."""
        reading = self._reading
        if job.waits[0] is not reading:
            prompt = job.work.prompts[self._model.choose(job.work)]
            job.waits = reading, reading is not None and common(prompt.tokens, reading) == len(reading)
        return job.waits[1]

    def _step(self, jobs: list[Job]) -> None:
        for job in jobs:
            if job.cancelled.is_set():
                self._stop(job, None)
            else:
                for index in sorted(job.dropped):
                    if job in self._jobs:
                        self._stop(job, index)
        waiting = [job for job in jobs if job in self._jobs]
        if not waiting:
            return
        level = min(job.level for job in waiting)
        urgent = sorted((job for job in waiting if job.level == level), key=self._turn)
        others = [job for job in waiting if job.level > level]
        full = False
        for job in urgent:
            # whoever finds no room waits until somebody has left or come, and those behind him too, lest he wait for
            # ever; only of what a user waits for, the smaller may pass by
            if job.run is None and not self._no_room(job) and not (full and level):
                self._start(job)
            full = full or self._no_room(job)
        runs = [job for job in urgent if job.run and job in self._jobs]
        if not runs:
            # nothing of this class can start: what holds the cells must end first
            runs, others = sorted((job for job in others if job.run), key=lambda job: (job.level, *self._turn(job))), []
        if runs:
            self._evaluate(runs, others)

    def _start(self, job: Job) -> None:
        try:
            job.run = Run(self._model, job.work, job.tell, urgent=not job.level)
            job.began = job.read = perf_counter()
            if job.run.done:
                self._end(job)
        except EngineBusy as error:
            # those at work will leave; with nobody at work it will never be better
            if any(other.run for other in self._jobs):
                # what changed since the step began may have made room
                job.no_room = self._seen
            else:
                self._fail(job, error)
        except Exception as error:  # noqa: BLE001 - the thread must outlive any one request
            self._fail(job, error)

    def _evaluate(self, jobs: list[Job], others: list[Job]) -> None:
        model = self._model
        reader = next((job for job in jobs if job.run and job.run.prompting), None)
        chunk = 0
        if reader:
            reader.chunk = reader.chunk or self._chunk()
            chunk = reader.chunk
        batch = compose(
            [job.run for job in jobs if job.run],
            [job.run for job in others if job.run],
            model.machine,
            model.llama.n_batch,
            chunk,
        )
        self._batch = [job for job in (*jobs, *others) if job.run and _in(job.run, batch)]
        self._reading = [*batch.prompt[0].read, *batch.rows[-1].tokens] if batch.prompt else None
        began = perf_counter()
        level = min(job.level for job in self._batch)
        waiting = any(self._no_room(job) and job.level < level for job in list(self._jobs))
        self._yields = (
            all(branch.ahead for branch, _ in batch.branches)
            # for those who wait for room this must go on
            and not (waiting or any(began - job.read > self.STARVED for job in self._batch))
            and model.kv.cuts
        )
        try:
            model.llama.decode(batch.rows)
            model.machine.observe(batch.size, (perf_counter() - began) * 1000)
            batch.deliver()
            if reader:
                # another client's prompt comes next
                self._served[reader.work.owner.client] = reader.turn = next(self._arrivals)
                reader.chunk, reader.read = min(2 * reader.chunk, self._chunk()), perf_counter()
        except Aborted:
            if reader:
                reader.chunk = max(self.SHORTEST, reader.chunk // 2)
            if not model.kv.cuts:
                # what was half evaluated cannot be taken back
                for job in self._batch:
                    if job.cancelled.is_set() and job.run:
                        slots = job.run.slots
                        self._stop(job, None)
                        for slot in slots:
                            model.kv.forget(slot)
                    else:
                        self._fail(job, EngineError("the evaluation was interrupted; try again"))
        except Exception as error:  # noqa: BLE001 - the thread must outlive any one request
            for slot in model.kv.slots:
                # what was evaluated and not taken into the book; what waits aside is at positions of its own
                if not slot.aside:
                    model.llama.cut(slot.seq, len(slot.tokens))
            for job in self._batch:
                self._fail(job, error)
        for job in self._batch:
            if job.run and job.run.done and job in self._jobs:
                self._end(job)
        self._batch, self._reading = [], None

    def _no_room(self, job: Job) -> bool:
        """Whether it found none for its cells, and nothing has changed since."""
        return job.run is None and job.no_room == self._changes

    def _turn(self, job: Job) -> tuple[int, int]:
        """The client that was served longest ago first, and of its requests the one that was."""
        return self._served.get(job.work.owner.client, -1), job.turn

    def _chunk(self) -> int:
        return min(self._model.llama.n_batch, self._model.machine.chunk())

    def _stop(self, job: Job, index: int | None) -> None:
        if job.run is None:
            if index is None or len(job.dropped) >= job.work.sampling.n:
                for number in range(job.work.sampling.n):
                    job.tell(Chunk("", "cancelled", Usage(), number))
                self._end(job)
            return
        job.run.stop(index, "cancelled")
        if job.run.done:
            self._end(job)

    def _fail(self, job: Job, error: Exception) -> None:
        if job.run:
            slots = job.run.slots
            job.run.abandon()
            if not self._model.kv.cuts:
                for slot in slots:
                    self._model.kv.forget(slot)
        outcome = "refused" if isinstance(error, HarnessError) else "failed"
        if not isinstance(error, HarnessError):
            error = EngineError(f"the model process failed on this request: {error}")
        self._end(job, outcome)
        job.tell(error)

    def _end(self, job: Job, outcome: str = "") -> None:
        with self._wake:
            if job not in self._jobs:
                return
            self._jobs.remove(job)
            self._changes += 1
            if not self._jobs:
                self._served.clear()
        try:
            self._count(job, outcome or job.outcome)
        finally:
            job.let_go()

    def _count(self, job: Job, outcome: str) -> None:
        if not self._observer:
            return
        now = perf_counter()
        began = job.began or now
        # a figure that cannot be kept must not end the thread
        with suppress(ValueError):
            self._observer.finished(
                job.priority,
                outcome,
                job.usage,
                (began - job.arrived) * 1000,
                None if job.first is None else (job.first - job.arrived) * 1000,
                (now - job.arrived) * 1000,
            )


def _in(run: Run, batch: Batch) -> bool:
    return bool(batch.prompt and batch.prompt[0] is run) or any(
        branch is other for branch in run.branches for other, _ in batch.branches
    )
