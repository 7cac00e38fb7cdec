"""`bench restart`: the first completion in a file that was hot, after the engine was killed and started again."""

import asyncio
import signal
from time import monotonic, perf_counter
from typing import Any, cast

from lsp_harness.bench.figures import Figure, Goal, Result, p50
from lsp_harness.bench.keystrokes import make_trace
from lsp_harness.bench.lab import Lab
from lsp_harness.bench.real_edits import edits_of_different_files
from lsp_harness.bench.simulated_editor import SimulatedEditor, Typist
from lsp_harness.bench.timing import Timing

ROUNDS, KEYS = 8, 12
TOKENS = 16
SAVE_TIMEOUT_S = 30.0
"""Seconds an idle engine gets to write what is hot."""
SETTLE_S = 1.5
"""Seconds without another saved sequence after which all are."""
COLD_LABEL = "the same request cold"


async def run(lab: Lab) -> Result:
    """Per round: cold request, typing, idle until saved, SIGKILL, start, and the request the editor would send next."""
    cold: list[Timing] = []
    restored: list[Timing] = []
    starts: list[float] = []
    saved = 0
    rounds = lab.size(ROUNDS)
    # a file that was open before is partly warm
    for number, edit in enumerate(edits_of_different_files(lab.edits, rounds)):
        lab.say(f"round {number + 1} of {rounds}: {edit.path}")
        trace = make_trace(edit, 0, KEYS)
        typist = Typist(SimulatedEditor(lab.ours, edit, persist=True, patient=True), edit)
        cold.append(await typist.key(trace.typed[0], TOKENS))
        for typed in trace.typed[1:-1]:
            await typist.key(typed, TOKENS)
        saved += await wait_until_saved(lab)
        await lab.ours.end(signal.SIGKILL)
        began = perf_counter()
        await lab.ours.start()
        starts.append((perf_counter() - began) * 1000)
        restored.append(await typist.key(trace.typed[-1], TOKENS))
    notes = [f"the engine had saved sequences before it was killed in {saved} of {rounds} rounds"]
    if not saved:
        notes.append("nothing was saved: the second request is as cold as the first")
    return lab.result(
        "restart",
        f"{rounds} kills of an engine with a hot file",
        figures(cold, restored, starts),
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
    """Wait until the idle engine has saved sequences and come to rest; False when it never does."""
    began = changed = monotonic()
    first = last = await count_saved_sequences(lab)
    while monotonic() - began < SAVE_TIMEOUT_S:
        await asyncio.sleep(0.1)
        now = await count_saved_sequences(lab)
        if now != last:
            last, changed = now, monotonic()
        elif now != first and monotonic() - changed > SETTLE_S:
            break
    return last != first


async def count_saved_sequences(lab: Lab) -> int:
    """Sequences the engine has written to disk since it started."""
    kv = cast("dict[str, Any]", (await lab.ours.client.props()).raw.get("kv") or {})
    return int(kv.get("saved") or 0)


def figures(cold: list[Timing], restored: list[Timing], starts: list[float]) -> list[Figure]:
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
