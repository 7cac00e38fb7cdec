"""`bench threads`: how fast tokens come while other processes keep every core busy."""

import os
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager

from lsp_harness.bench.figures import REFERENCE, Figure, Goal, Result, p50
from lsp_harness.bench.lab import Lab
from lsp_harness.bench.sized_prompts import make_prompt
from lsp_harness.bench.suite.lookup import generation_speeds
from lsp_harness.bench.timing import Timing, measure_stream
from lsp_harness.inference.request import Continuation, Owner, Sampling

ROUNDS, TOKENS, PROMPT_TOKENS = 6, 64, 200


async def run(lab: Lab) -> Result:
    """Quiet and busy rounds take turns."""
    prompt = await make_prompt(lab, PROMPT_TOKENS)
    quiet: dict[str, list[Timing]] = {"ours": [], REFERENCE: []}
    busy: dict[str, list[Timing]] = {"ours": [], REFERENCE: []}
    rounds = lab.size(ROUNDS)
    for number in range(rounds):
        lab.say(f"round {number + 1} of {rounds}")
        await measure_both(lab, prompt, quiet)
        with busy_cores(os.cpu_count() or 1):
            await measure_both(lab, prompt, busy)
    ours = (generation_speeds(quiet["ours"]), generation_speeds(busy["ours"]))
    theirs = (generation_speeds(quiet[REFERENCE]), generation_speeds(busy[REFERENCE]))
    return lab.result(
        "threads",
        f"{rounds} answers of {TOKENS} tokens quiet, as many with every core kept busy by other processes",
        [
            Figure(
                "tokens per second busy, p50", p50(ours[1]), p50(ours[0]), "quiet", "/s", Goal(0.4, "ratio", least=True)
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


async def measure_both(lab: Lab, prompt: str, into: dict[str, list[Timing]]) -> None:
    # nothing is drafted: the speed of single steps is what threads decide
    work = Continuation(prompt, Sampling(n_predict=TOKENS, lookup=False), owner=Owner("bench"))
    into["ours"].append(await measure_stream(lab.ours.client.stream(work)))
    if lab.anchor:
        into[REFERENCE].append(await measure_stream(lab.anchor.completion(prompt, TOKENS)))


@contextmanager
def busy_cores(processes: int) -> Generator[None]:
    """So many processes that do nothing but compute."""
    running = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(processes)]
    try:
        yield
    finally:
        for process in running:
            process.kill()
            process.wait()
