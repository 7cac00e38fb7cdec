"""The decision whether the decode step in progress is aborted for a more urgent request."""

from collections.abc import Sequence
from time import perf_counter

from lsp_harness.engine.cache.cached_sequence import common_prefix_length
from lsp_harness.engine.decode.batch import Batch
from lsp_harness.engine.decode.job import Job
from lsp_harness.engine.decode.job_queue import JobQueue
from lsp_harness.engine.decode.model_runtime import ModelRuntime


class Preemption:
    """The watch over the step in progress.

    A step is aborted if all its requests were cancelled. A step that only reads part of a prompt, or only evaluates
    forced text in advance, is aborted when a more urgent request arrives, unless that request needs the same part.

    Args:
        model: The model and its caches.
        queue: All requests.
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
            batch: The step.
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
        """Stop watching."""
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
