"""`bench threads`: how fast tokens come while other processes keep every core busy."""

import os
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager

from lsp_harness.bench.figures import ANCHOR, Figure, Goal, Result, p50
from lsp_harness.bench.lab import Lab
from lsp_harness.bench.sized_prompts import of_tokens
from lsp_harness.bench.suite.lookup import speeds
from lsp_harness.bench.timing import Timing, timed
from lsp_harness.inference.request import Continuation, Owner, Sampling

ROUNDS, TOKENS, PROMPT = 6, 64, 200


async def run(lab: Lab) -> Result:
    """Quiet and busy rounds take turns."""
    prompt = await of_tokens(lab, PROMPT)
    quiet: dict[str, list[Timing]] = {"ours": [], ANCHOR: []}
    busy: dict[str, list[Timing]] = {"ours": [], ANCHOR: []}
    rounds = lab.size(ROUNDS)
    for number in range(rounds):
        lab.say(f"round {number + 1} of {rounds}")
        await both(lab, prompt, quiet)
        with spinning(os.cpu_count() or 1):
            await both(lab, prompt, busy)
    ours = (speeds(quiet["ours"]), speeds(busy["ours"]))
    theirs = (speeds(quiet[ANCHOR]), speeds(busy[ANCHOR]))
    return lab.result(
        "threads",
        f"{rounds} answers of {TOKENS} tokens quiet, as many with every core kept busy by other processes",
        [
            Figure(
                "tokens per second busy, p50", p50(ours[1]), p50(ours[0]), "quiet", "/s", Goal(0.4, "ratio", least=True)
            ),
            Figure(f"tokens per second busy, {ANCHOR}, p50", p50(theirs[1]), p50(theirs[0]), f"quiet, {ANCHOR}", "/s"),
        ],
        f"{ANCHOR} is started with OMP_WAIT_POLICY=passive too",
        series={
            "tokens per second": {
                "ours, quiet": ours[0],
                "ours, busy": ours[1],
                f"{ANCHOR}, quiet": theirs[0],
                f"{ANCHOR}, busy": theirs[1],
            }
        },
    )


async def both(lab: Lab, prompt: str, into: dict[str, list[Timing]]) -> None:
    # nothing is drafted: the speed of single steps is what threads decide
    work = Continuation(prompt, Sampling(n_predict=TOKENS, lookup=False), owner=Owner("bench"))
    into["ours"].append(await timed(lab.ours.client.stream(work)))
    if lab.anchor:
        into[ANCHOR].append(await timed(lab.anchor.completion(prompt, TOKENS)))


@contextmanager
def spinning(processes: int) -> Generator[None]:
    """So many processes that do nothing but compute."""
    running = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(processes)]
    try:
        yield
    finally:
        for process in running:
            process.kill()
            process.wait()
