"""How many threads evaluate the next step: as many as the machine gives whole cores to.

The threads of a prebuilt library of llama.cpp wait for each other after each operation, and do not sleep. If another
program has one of their cores, all of them wait until that thread gets its turn again: on two cores with two busy
programs, a step of two threads took three times as long as one of a single thread (docs/benchmarks.md).
"""

from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic, perf_counter, process_time
from typing import Any

from lsp_harness.engine.native.loaded_library import lib
from lsp_harness.process.machine_load import read_idle_s

MAX_LOST_CORES = 0.4
"""The number of cores that the threads of a step may not get. On two cores, one busy program takes 0.6 of them, and two
programs of low priority take 0.3."""
LONG_STEP_S = 0.25
"""A step that is as long as this says enough; otherwise two steps in a row must have lost cores."""
FIRST_PROBE_S, MAX_PROBE_S = 2.0, 16.0
"""Time after which one more thread is tried. It is doubled each time that this thread gets no core."""


def decode_batch(context: Any, batch: Any, thread_count: "ThreadCount") -> int:
    """Evaluate a batch with the threads that the machine has cores for, and return the code of `llama_decode`.

    Args:
        context: llama.cpp's context.
        batch: llama.cpp's batch.
        thread_count: The number of threads of this context.
    """
    threads = thread_count.choose()
    lib.llama_set_n_threads(context, threads, threads)
    start_s, processor_start_s = perf_counter(), process_time()
    code: int = lib.llama_decode(context, batch)
    thread_count.record(perf_counter() - start_s, process_time() - processor_start_s)
    return code


@dataclass(frozen=True, slots=True)
class CoreUse:
    """Counters in seconds: the clock, the idle time of all cores, and the processor time of this process."""

    time_s: float
    idle_s: float
    own_s: float

    @staticmethod
    def read(clock: Callable[[], float] = monotonic) -> "CoreUse | None":
        """Return the counters now, or None on a system that does not tell the idle time."""
        idle_s = read_idle_s()
        return None if idle_s is None else CoreUse(clock(), idle_s, process_time())


class ThreadCount:
    """The number of threads of the next step, from what the last steps got.

    Args:
        most: The largest number.
        clock: Returns seconds.
        read_use: Returns the counters of the cores, by which a thread is only tried if there is a core for it.
    """

    def __init__(
        self,
        most: int,
        clock: Callable[[], float] = monotonic,
        read_use: Callable[[], CoreUse | None] = CoreUse.read,
    ) -> None:
        self.most = self._count = max(1, most)
        self._clock = clock
        self._read_use = read_use
        self._use: CoreUse | None = None
        self._bad_steps = 0
        self._wait_s = FIRST_PROBE_S
        self._next_probe_s = 0.0
        self._is_probe = False

    def choose(self) -> int:
        """Return the number of threads for the next step."""
        self._is_probe = self._count < self.most and self._clock() >= self._next_probe_s and self._has_free_core()
        return self._count + self._is_probe

    def _has_free_core(self) -> bool:
        """Return whether other programs have left a core for one more thread since the last look, as far as is known.

        If they have not, the next look is after `FIRST_PROBE_S`: it costs less than a step with a thread too many.
        """
        before, now = self._use, self._read_use()
        self._use = now
        if before is None or now is None or now.time_s <= before.time_s:
            return True
        free_s = now.idle_s - before.idle_s + now.own_s - before.own_s
        if free_s / (now.time_s - before.time_s) >= self._count + 1 - MAX_LOST_CORES:
            return True
        self._next_probe_s = self._clock() + FIRST_PROBE_S
        return False

    def record(self, wall_s: float, processor_s: float) -> None:
        """Record the step for which `choose` was called last.

        Args:
            wall_s: How long it took.
            processor_s: How much time of processors it got.
        """
        count = self._count + self._is_probe
        has_lost = count > 1 and wall_s > 0 and count - processor_s / wall_s > MAX_LOST_CORES
        if self._is_probe:
            self._wait_s = min(2 * self._wait_s, MAX_PROBE_S) if has_lost else FIRST_PROBE_S
            self._next_probe_s = self._clock() + self._wait_s
            self._count = count - has_lost
            return
        self._bad_steps = self._bad_steps + 1 if has_lost else 0
        if self._bad_steps == 2 or (has_lost and wall_s >= LONG_STEP_S):
            # the cores that were got, and at least one
            self._count = max(1, min(count - 1, round(processor_s / wall_s)))
            self._bad_steps = 0
            self._next_probe_s = self._clock() + self._wait_s
            self._use = self._read_use()
