"""`bench restart`: the first completion in a file whose prompt was evaluated before the engine was killed."""

import asyncio
import signal
from time import monotonic, perf_counter
from typing import Any, cast

from benchmarks.engine.figures import Figure, Goal, Result, p50
from benchmarks.engine.keystrokes import make_trace
from benchmarks.engine.lab import Lab
from benchmarks.engine.real_edits import choose_edits_of_different_files
from benchmarks.engine.simulated_editor import SimulatedEditor, Typist
from benchmarks.engine.timing import Timing

ROUNDS, KEYS = 8, 12
TOKENS = 16
SAVE_TIMEOUT_S = 30.0
"""How long an idle engine may take to save its evaluated prompts."""
SETTLE_S = 1.5
"""Time without another saved sequence after which all are saved."""
COLD_LABEL = "the same request cold"


async def run(lab: Lab) -> Result:
    """Measure rounds: a cold request, typing, a pause until all is saved, SIGKILL, a start, and the next request."""
    cold: list[Timing] = []
    restored: list[Timing] = []
    starts: list[float] = []
    saved_count = 0
    rounds = lab.size(ROUNDS)
    # different files, because the prompt of an earlier file is partly evaluated
    for number, edit in enumerate(choose_edits_of_different_files(lab.edits, rounds)):
        lab.say(f"round {number + 1} of {rounds}: {edit.path}")
        trace = make_trace(edit, 0, KEYS)
        typist = Typist(SimulatedEditor(lab.engine, edit, persist=True, full_prompt=True), edit)
        cold.append(await typist.key(trace.states[0], TOKENS))
        for state in trace.states[1:-1]:
            await typist.key(state, TOKENS)
        saved_count += await wait_until_saved(lab)
        await lab.engine.end(signal.SIGKILL)
        start = perf_counter()
        await lab.engine.start()
        starts.append((perf_counter() - start) * 1000)
        restored.append(await typist.key(trace.states[-1], TOKENS))
    notes = [f"the engine had saved sequences before it was killed in {saved_count} of {rounds} rounds"]
    if not saved_count:
        notes.append("nothing was saved: the second request is as cold as the first")
    return lab.result(
        "restart",
        f"{rounds} kills of an engine with a hot file",
        make_figures(cold, restored, starts),
        *notes,
        series={
            "prompt tokens evaluated": {
                "cold": [float(t.evaluated) for t in cold],
                "restored": [float(t.evaluated) for t in restored],
            },
            "time to first token, ms": {
                "cold": [t.first_ms for t in cold],
                "restored": [t.first_ms for t in restored],
            },
        },
    )


async def wait_until_saved(lab: Lab) -> bool:
    """Wait until the idle engine has saved its sequences. Return whether it saved any."""
    start = changed = monotonic()
    first = last = await count_saved_sequences(lab)
    while monotonic() - start < SAVE_TIMEOUT_S:
        await asyncio.sleep(0.1)
        count = await count_saved_sequences(lab)
        if count != last:
            last, changed = count, monotonic()
        elif count != first and monotonic() - changed > SETTLE_S:
            break
    return last != first


async def count_saved_sequences(lab: Lab) -> int:
    """Return the number of sequences that the engine has written to disk since its start."""
    kv = cast("dict[str, Any]", (await lab.engine.client.props()).raw.get("kv") or {})
    return int(kv.get("saved") or 0)


def make_figures(cold: list[Timing], restored: list[Timing], starts: list[float]) -> list[Figure]:
    """Return the times of the first completion in a file, with and without stored sequences.

    Args:
        cold: The completions of an engine that found no stored sequence.
        restored: The completions of an engine that found the sequences of its predecessor.
        starts: The times to start the engine, in milliseconds.
    """
    return [
        Figure(
            "prompt tokens evaluated, all rounds",
            float(sum(t.evaluated for t in restored)),
            float(sum(t.evaluated for t in cold)),
            COLD_LABEL,
            "",
            Goal(0.05, "ratio"),
        ),
        Figure(
            "time to first token, p50", p50([t.first_ms for t in restored]), p50([t.first_ms for t in cold]), COLD_LABEL
        ),
        Figure("starting the engine, p50", p50(starts)),
        Figure(
            "start and first token, p50",
            p50([start + t.first_ms for start, t in zip(starts, restored, strict=True)]),
            p50([t.first_ms for t in cold]),
            COLD_LABEL,
        ),
    ]
