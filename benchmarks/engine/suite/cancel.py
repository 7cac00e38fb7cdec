"""`bench cancel`: the time from a closed connection until the engine does other work."""

import asyncio
import random
from collections.abc import AsyncIterator, Callable
from time import perf_counter
from typing import Any, cast

from benchmarks.engine.figures import REFERENCE, Figure, Goal, Result, p50, p95
from benchmarks.engine.lab import Lab
from benchmarks.engine.sized_prompts import make_prompt
from benchmarks.engine.timing import measure_stream
from lsp_harness.inference.request import Chunk, Continuation, Owner, Sampling

ROUNDS = 30
LONG_PROMPT, SHORT_PROMPT, LONG_ANSWER = 4000, 60, 512
TINY_PROMPT = "x ="
MAX_PREFILL_S = 1.5
"""Longest time after which a prefill is cancelled. The time is random."""
SEED = 0
CANCEL_GOAL_MS = 300.0
"""Goal for the delay after a cancelled request."""

RequestSender = Callable[[str, int, int], AsyncIterator[Chunk]]
"""Function of the prompt, the number of tokens to generate and the number of the client, which returns the chunks."""


async def run(lab: Lab) -> Result:
    """Cancel a long request and send a tiny one at once. Measure how much later than on an idle engine it begins."""
    rounds = lab.size(ROUNDS)
    short = await make_prompt(lab, SHORT_PROMPT)
    long = await make_prompt(lab, LONG_PROMPT)
    sides: dict[str, RequestSender] = {
        "ours": lambda prompt, tokens, client: send_to_engine(lab, prompt, tokens, client)
    }
    if reference := lab.reference:
        sides[REFERENCE] = lambda prompt, tokens, client: reference.completion(prompt, tokens, slot=client)
    measured: dict[str, dict[str, list[float]]] = {"in generation": {}, "in a prompt": {}}
    for side, send in sides.items():
        idle_firsts = [(await measure_stream(send(f"{TINY_PROMPT} {n}", 1, 1))).first_ms for n in range(rounds)]
        idle_ms = p50(idle_firsts) or 0.0
        generator = random.Random(SEED)
        for kind, delays in measured.items():
            delays[side] = []
            for number in range(rounds):
                lab.say(f"{side}, {kind}: {number + 1} of {rounds}")
                if kind == "in generation":
                    await cancel_at_first_text(send(f"# {number}\n{short}", LONG_ANSWER, 0))
                else:
                    await cancel_after(send(f"# {number}\n{long}", 1, 0), generator.uniform(0.1, MAX_PREFILL_S))
                start = perf_counter()
                tiny = await measure_stream(send(f"{TINY_PROMPT} {number}", 1, 1), start)
                delays[side].append(tiny.first_ms - idle_ms)
    return lab.result(
        "cancel",
        f"{rounds} requests left in generation, {rounds} within a prompt of {LONG_PROMPT} tokens",
        make_figures(measured),
        "the time to first token of a tiny request sent at once, less its median on an idle engine",
        series={f"delay after cancelling {kind}, ms": delays for kind, delays in measured.items()},
    )


def send_to_engine(lab: Lab, prompt: str, tokens: int, client: int) -> AsyncIterator[Chunk]:
    """Send a request to our engine."""
    return lab.engine.client.stream(Continuation(prompt, Sampling(n_predict=tokens), owner=Owner(f"client {client}")))


async def cancel_at_first_text(chunks: AsyncIterator[Chunk]) -> None:
    """Close the connection at the first text."""
    async for chunk in chunks:
        if chunk.text:
            break
    await cast("Any", chunks).aclose()


async def cancel_after(chunks: AsyncIterator[Chunk], seconds: float) -> None:
    """Close the connection after a time."""
    task = asyncio.ensure_future(measure_stream(chunks))
    await asyncio.wait({task}, timeout=seconds)
    task.cancel()
    await asyncio.wait({task})


def make_figures(measured: dict[str, dict[str, list[float]]]) -> list[Figure]:
    """Return the figures for the delays, by kind of request and by server."""
    rows: list[Figure] = []
    for kind, sides in measured.items():
        ours, theirs = sides.get("ours", []), sides.get(REFERENCE, [])
        rows.append(Figure(f"cancelled {kind}, delay, p50", p50(ours), p50(theirs), REFERENCE))
        rows.append(
            Figure(f"cancelled {kind}, delay, p95", p95(ours), p95(theirs), REFERENCE, goal=Goal(CANCEL_GOAL_MS))
        )
    return rows
