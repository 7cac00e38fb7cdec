"""The scheduler of the engine: it decides which request may use the model now, and which one gives way. One thread
evaluates all requests in one loop.

Each step belongs to the most urgent class that has work. Within a class the candidates of all requests share the step,
and prompts are read in parts: the client that was served longest ago is the next. A request waits until there are cells
for it.
"""

import threading
from collections.abc import AsyncIterator, Sequence
from time import perf_counter

from lsp_harness.engine.cache.cached_sequence import common_prefix_length
from lsp_harness.engine.decode.batch import Batch, compose_batch
from lsp_harness.engine.decode.generation import RunningRequest
from lsp_harness.engine.decode.job_queue import Job, JobQueue, RequestObserver
from lsp_harness.engine.decode.llama import Aborted
from lsp_harness.engine.decode.model_runtime import ModelRuntime, TokenRequest
from lsp_harness.errors import EngineBusy, EngineError, HarnessError
from lsp_harness.inference.request import PRIORITIES, Chunk, Priority, Usage


class Preemption:
    """The watch over the step in progress.

    A step is aborted if all its requests were cancelled. A step that only reads part of a prompt, or only evaluates
    forced text in advance, is aborted when a more urgent request arrives, unless that request needs the same part.

    Args:
        model: The model and its caches.
        queue: The queue of all requests.
    """

    MAX_READING_DELAY_S = 10.0
    """A prompt without progress for this long is read whatever arrives; otherwise it might never be read."""

    def __init__(self, model: ModelRuntime, queue: JobQueue) -> None:
        self._model = model
        self._queue = queue
        self._jobs: Sequence[Job] = ()
        """The requests in the step."""
        self._part_end: list[int] | None = None
        """A prompt up to the end of the part that the step evaluates; None if the step evaluates none."""
        self._is_preemptible = False
        self.last_sign_s = perf_counter()
        """When the worker thread last gave a sign of life."""

    def begin_step(self, jobs: Sequence[Job], batch: Batch, started_s: float) -> None:
        """Start to watch a step.

        Args:
            jobs: The requests in the step.
            batch: The tokens that the step evaluates.
            started_s: When the step starts.
        """
        self._jobs = jobs
        part = batch.prompt_part
        self._part_end = [*part.generation.evaluated_prompt, *batch.rows[-1].tokens] if part else None
        level = min(job.level for job in jobs)
        # A more urgent request without room can only start after this step has finished.
        is_awaited = any(self.found_no_room(job) and job.level < level for job in list(self._queue.jobs))
        is_overdue = any(started_s - job.last_read_s > self.MAX_READING_DELAY_S for job in jobs)
        self._is_preemptible = (
            all(branch.is_warmup for branch, _ in batch.branches)
            and not (is_awaited or is_overdue)
            and self._model.kv.can_truncate
        )

    def end_step(self) -> None:
        """Stop watching the step that has ended."""
        self._jobs, self._part_end = (), None

    def should_abort(self) -> bool:
        """Return whether to abort the step. llama.cpp calls this between two operations.

        It is called hundreds of times in a step, so the usual case must cost nothing.
        """
        self.last_sign_s = perf_counter()
        jobs = self._jobs
        if not self._queue.has_news or not jobs:
            return False
        if all(job.is_cancelled.is_set() for job in jobs):
            return True
        level = min(job.level for job in jobs)
        return self._is_preemptible and any(
            job.level < level and not job.is_cancelled.is_set() and not self._needs_part(job)
            for job in list(self._queue.jobs)
        )

    def found_no_room(self, job: Job) -> bool:
        """Return whether there was no room for a request and nothing has changed since."""
        return job.generation is None and job.no_room_at_change == self._queue.changes

    def _needs_part(self, job: Job) -> bool:
        """Return whether the prompt of a waiting job begins with the prompt up to the part that is evaluated now."""
        part_end = self._part_end
        if job.shared_part[0] is not part_end:
            prompt = job.request.prompts[self._model.choose_prompt(job.request)]
            is_shared = part_end is not None and common_prefix_length(prompt.tokens, part_end) == len(part_end)
            job.shared_part = part_end, is_shared
        return job.shared_part[1]


class Scheduler:
    """The queue of requests and the thread that runs them on the model.

    Args:
        model: The model, its caches and its step costs. It belongs to the thread of the scheduler from now on.
        limit: Number of requests of a class and of more urgent classes that may wait or be in progress.
        observer: Is told about the end of every request.
    """

    SAVE_DELAY_S = 2.0
    """Time without requests after which sequences are written to disk."""

    def __init__(self, model: ModelRuntime, *, limit: int = 64, observer: RequestObserver | None = None) -> None:
        self._model = model
        self._observer = observer
        self._queue = JobQueue(limit)
        self._preemption = Preemption(model, self._queue)
        self._served: dict[str, int] = {}
        """The turn of the last part of a prompt that was read, by client."""
        self._changes = 0
        """The count of changes of the queue when the step in progress began."""
        model.llama.should_abort = self._preemption.should_abort
        self._thread = threading.Thread(target=self._run_loop, name="llama", daemon=True)
        self._thread.start()

    @property
    def pending(self) -> int:
        """Number of requests that wait or are in progress."""
        return len(self._queue.jobs)

    @property
    def silent_s(self) -> float:
        """Seconds without a sign of life from the thread while there are requests.

        It gives a sign with each step, and on a CPU also between two operations of a step.
        """
        arrived_s = min((job.arrived_s for job in list(self._queue.jobs)), default=None)
        if arrived_s is None:
            return 0.0
        return max(0.0, perf_counter() - max(arrived_s, self._preemption.last_sign_s))

    def is_busy(self) -> bool:
        """Return whether there is a request that is more urgent than background work."""
        return any(job.level < len(PRIORITIES) - 1 for job in list(self._queue.jobs))

    async def submit(self, request: TokenRequest, priority: Priority) -> AsyncIterator[Chunk]:
        """Run a request and yield the chunks of all candidates. Closing the iterator cancels the request.

        Raises:
            EngineUnavailable: The engine is shutting down.
            EngineBusy: Too many requests are waiting, or the request needs more room than the cache can ever free.
            EngineRefused: The request cannot be evaluated.
            EngineError: The evaluation failed.
        """
        job = self._queue.submit(request, priority)
        try:
            while True:
                item = await job.chunks.get()
                if isinstance(item, Exception):
                    raise item
                yield item
                if item is job.final_chunk:
                    return
        finally:
            self._queue.leave(job)

    def cancel(self, client: str, name: str, index: int | None) -> bool:
        """Cancel a request or one of its candidates.

        Args:
            client: The client that sent the request.
            name: The name the client gave the request.
            index: Number of the candidate, or None for all of them.

        Returns:
            Whether there is such a request.
        """
        return self._queue.cancel(client, name, index)

    def close(self) -> None:
        """Cancel all requests and wait until the thread has released the model."""
        self._queue.close()
        self._thread.join()

    def _run_loop(self) -> None:
        while waiting := self._queue.wait(self.SAVE_DELAY_S):
            jobs, self._changes = waiting
            self._preemption.last_sign_s = perf_counter()
            try:
                self._step(jobs) if jobs else self._save_idle()
                while not self._queue.jobs and self._model.evict_ahead():
                    pass
            except Exception as error:  # noqa: BLE001 - the thread must outlive any one request
                for job in jobs:
                    self._fail(job, error)
        self._save_idle(is_closing=True)

    def _save_idle(self, *, is_closing: bool = False) -> None:
        """Write idle sequences to disk, the newest first, until a request arrives."""
        if not self._model.disk_cache:
            return
        for sequence in self._model.idle_sequences():
            self._preemption.last_sign_s = perf_counter()
            if is_closing or not self._queue.jobs:
                self._model.disk_cache.save(sequence)

    def _step(self, jobs: list[Job]) -> None:
        """Run the next step, after the cancelled requests have ended and the waiting ones have started."""
        for job in jobs:
            if job.is_cancelled.is_set():
                self._stop(job, None)
            else:
                for index in sorted(job.cancelled):
                    if job in self._queue.jobs:
                        self._stop(job, index)
        jobs = [job for job in jobs if job in self._queue.jobs]
        if not jobs:
            return
        level = min(job.level for job in jobs)
        urgent = sorted((job for job in jobs if job.level == level), key=self._turn_order)
        others = [job for job in jobs if job.level > level]
        is_full = False
        for job in urgent:
            # A request without room waits until something changes. So do the requests after it, because they might
            # otherwise keep it waiting forever. Only smaller interactive requests may pass it: a user waits for them.
            if job.generation is None and not self._preemption.found_no_room(job) and not (is_full and level):
                self._start(job)
            is_full = is_full or self._preemption.found_no_room(job)
        started = [job for job in urgent if job.generation and job in self._queue.jobs]
        if not started:
            # No request of this class can start before a less urgent one has released its cells.
            started = sorted(
                (job for job in others if job.generation), key=lambda job: (job.level, *self._turn_order(job))
            )
            others = []
        if started:
            self._evaluate(started, others)

    def _start(self, job: Job) -> None:
        """Start a request. If it does not fit now, it waits as long as others are in progress."""
        try:
            job.generation = RunningRequest(self._model, job.request, job.send, urgent=not job.level)
            job.started_s = job.last_read_s = perf_counter()
            if job.generation.is_done:
                self._end(job)
        except EngineBusy as error:
            if any(other.generation for other in self._queue.jobs):
                # Any change since the step began may have made room, so that count is used.
                job.no_room_at_change = self._changes
            else:
                self._fail(job, error)
        except Exception as error:  # noqa: BLE001 - the thread must outlive any one request
            self._fail(job, error)

    def _evaluate(self, jobs: list[Job], others: list[Job]) -> None:
        """Evaluate one step for `jobs`. Less urgent `others` may join it."""
        model = self._model
        reader = next((job for job in jobs if job.generation and job.generation.is_reading_prompt), None)
        if reader:
            reader.chunk_tokens = reader.chunk_tokens or self._max_chunk_tokens()
        batch = compose_batch(
            [job.generation for job in jobs if job.generation],
            [job.generation for job in others if job.generation],
            model.step_cost,
            model.llama.n_batch,
            reader.chunk_tokens if reader else 0,
        )
        in_step = [job for job in (*jobs, *others) if job.generation and _is_in(job.generation, batch)]
        started_s = perf_counter()
        self._preemption.begin_step(in_step, batch, started_s)
        try:
            model.llama.decode(batch.rows)
            model.step_cost.observe(batch.size, (perf_counter() - started_s) * 1000)
            batch.deliver()
            if reader:
                # The next part belongs to another client.
                turn = self._served[reader.request.owner.client] = self._queue.next_turn()
                reader.record_part(turn, self._max_chunk_tokens())
        except Aborted:
            if reader:
                reader.halve_chunk()
            if not model.kv.can_truncate:
                self._end_interrupted(in_step)
        except Exception as error:  # noqa: BLE001 - the thread must outlive any one request
            for slot in model.kv.slots:
                # The memory may hold tokens that the cache does not know. A staging slot has positions of its own.
                if not slot.is_staging:
                    model.llama.truncate(slot.seq, len(slot.tokens))
            for job in in_step:
                self._fail(job, error)
        for job in in_step:
            if job.generation and job.generation.is_done and job in self._queue.jobs:
                self._end(job)
        self._preemption.end_step()

    def _end_interrupted(self, jobs: list[Job]) -> None:
        """End the requests of an aborted step if the memory cannot drop the tokens evaluated so far.

        The next request continues from their last checkpoints.
        """
        for job in jobs:
            if job.is_cancelled.is_set() and job.generation:
                slots = job.generation.busy_slots
                self._stop(job, None)
                for slot in slots:
                    self._model.kv.roll_back(slot)
            else:
                self._fail(job, EngineError("the evaluation was interrupted; try again"))

    def _turn_order(self, job: Job) -> tuple[int, int]:
        """Return the sort key by which the client that was served longest ago comes first."""
        return self._served.get(job.request.owner.client, -1), job.turn

    def _max_chunk_tokens(self) -> int:
        return min(self._model.llama.n_batch, self._model.step_cost.chunk_tokens())

    def _stop(self, job: Job, index: int | None) -> None:
        """Cancel one candidate, or all of them if `index` is None."""
        if job.generation is None:
            candidates = job.request.sampling.n
            if index is None or len(job.cancelled) >= candidates:
                for number in range(candidates):
                    job.send(Chunk("", "cancelled", Usage(), number))
                self._end(job)
            return
        job.generation.stop(index, "cancelled")
        if job.generation.is_done:
            self._end(job)

    def _fail(self, job: Job, error: Exception) -> None:
        """End a request with an error."""
        if job.generation:
            slots = job.generation.busy_slots
            job.generation.abandon()
            for slot in slots:
                self._model.kv.roll_back(slot)
        outcome = "refused" if isinstance(error, HarnessError) else "failed"
        if not isinstance(error, HarnessError):
            error = EngineError(f"the model process failed on this request: {error}")
        self._end(job, outcome)
        job.send(error)

    def _end(self, job: Job, outcome: str = "") -> None:
        """Remove a request from the queue, record it and send its final chunk."""
        if not self._queue.remove(job):
            return
        if not self._queue.jobs:
            self._served.clear()
        try:
            if self._observer:
                job.report(self._observer, outcome)
        finally:
            job.send_final_chunk()


def _is_in(generation: RunningRequest, batch: Batch) -> bool:
    """Return whether the step evaluates anything for a request."""
    if batch.prompt_part and batch.prompt_part.generation is generation:
        return True
    return any(branch is other for branch in generation.branches for other, _ in batch.branches)
