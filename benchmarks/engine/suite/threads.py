"""`bench threads`: the speed of generation while other processes use all cores."""

import os
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager

from benchmarks.engine.figures import REFERENCE, Figure, Goal, Result, p50
from benchmarks.engine.lab import Lab
from benchmarks.engine.sized_prompts import make_prompt
from benchmarks.engine.suite.lookup import compute_generation_speeds
from benchmarks.engine.timing import Timing, measure_stream
from lsp_harness.inference.request import Continuation, Owner, Sampling

ROUNDS, TOKENS, PROMPT_TOKENS = 6, 64, 200


async def run(lab: Lab) -> Result:
    """Measure quiet and busy rounds in turn."""
    prompt = await make_prompt(lab, PROMPT_TOKENS)
    idle: dict[str, list[Timing]] = {"ours": [], REFERENCE: []}
    busy: dict[str, list[Timing]] = {"ours": [], REFERENCE: []}
    rounds = lab.size(ROUNDS)
    for number in range(rounds):
        lab.say(f"round {number + 1} of {rounds}")
        await measure_both(lab, prompt, idle)
        with keep_cores_busy(os.cpu_count() or 1):
            await measure_both(lab, prompt, busy)
    ours = (compute_generation_speeds(idle["ours"]), compute_generation_speeds(busy["ours"]))
    theirs = (compute_generation_speeds(idle[REFERENCE]), compute_generation_speeds(busy[REFERENCE]))
    return lab.result(
        "threads",
        f"{rounds} answers of {TOKENS} tokens quiet, as many with every core kept busy by other processes",
        [
            Figure(
                "tokens per second busy, p50",
                p50(ours[1]),
                p50(ours[0]),
                "quiet",
                "/s",
                Goal(0.4, "ratio", is_minimum=True),
            ),
            Figure(
                f"tokens per second busy, {REFERENCE}, p50", p50(theirs[1]), p50(theirs[0]), f"quiet, {REFERENCE}", "/s"
            ),
        ],
        f"{REFERENCE} is started with OMP_WAIT_POLICY=passive too",
        series={
            "tokens per second": {
                "ours, quiet": ours[0],
                "ours, busy": ours[1],
                f"{REFERENCE}, quiet": theirs[0],
                f"{REFERENCE}, busy": theirs[1],
            }
        },
    )


async def measure_both(lab: Lab, prompt: str, timings: dict[str, list[Timing]]) -> None:
    """Generate one answer on each server, and add the times to `timings`."""
    # without drafts, because threads decide the speed of single steps
    work = Continuation(prompt, Sampling(n_predict=TOKENS, lookup=False), owner=Owner("bench"))
    timings["ours"].append(await measure_stream(lab.engine.client.stream(work)))
    if lab.reference:
        timings[REFERENCE].append(await measure_stream(lab.reference.completion(prompt, TOKENS)))


@contextmanager
def keep_cores_busy(processes: int) -> Generator[None]:
    """Run processes that use all of their CPU time."""
    running = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(processes)]
    try:
        yield
    finally:
        for process in running:
            process.kill()
            process.wait()
