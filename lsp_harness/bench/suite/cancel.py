"""`bench cancel`: from a closed connection until the engine does other work."""

import asyncio
import random
from collections.abc import AsyncIterator, Callable
from time import perf_counter
from typing import Any, cast

from lsp_harness.bench.figures import ANCHOR, Figure, Goal, Result, p50, p95
from lsp_harness.bench.lab import Lab
from lsp_harness.bench.sized_prompts import of_tokens
from lsp_harness.bench.timing import timed
from lsp_harness.inference.request import Chunk, Continuation, Owner, Sampling

ROUNDS = 30
LONG_PROMPT, SHORT_PROMPT, LONG_ANSWER = 4000, 60, 512
TINY = "x ="
LONGEST_WAIT = 1.5
"""Seconds of a prefill after which it is cancelled at the latest; the moment is drawn."""
SEED = 0
SOON = 300.0
"""Milliseconds after which a cancelled request must be gone."""

Ask = Callable[[str, int, int], AsyncIterator[Chunk]]
"""Prompt, tokens to generate and a number of the client → chunks."""


async def run(lab: Lab) -> Result:
    """A tiny request is sent as a long one is left; how much later than on an idle engine does it begin?"""
    rounds = lab.size(ROUNDS)
    short = await of_tokens(lab, SHORT_PROMPT)
    long = await of_tokens(lab, LONG_PROMPT)
    sides: dict[str, Ask] = {"ours": lambda prompt, tokens, who: on_ours(lab, prompt, tokens, who)}
    if anchor := lab.anchor:
        sides[ANCHOR] = lambda prompt, tokens, who: anchor.completion(prompt, tokens, slot=who)
    measured: dict[str, dict[str, list[float]]] = {"in generation": {}, "in a prompt": {}}
    for side, ask in sides.items():
        quiet = [(await timed(ask(f"{TINY} {n}", 1, 1))).first_ms for n in range(rounds)]
        idle = p50(quiet) or 0.0
        dice = random.Random(SEED)
        for kind, own in measured.items():
            own[side] = []
            for number in range(rounds):
                lab.say(f"{side}, {kind}: {number + 1} of {rounds}")
                if kind == "in generation":
                    await left_generating(ask(f"# {number}\n{short}", LONG_ANSWER, 0))
                else:
                    await left_after(ask(f"# {number}\n{long}", 1, 0), dice.uniform(0.1, LONGEST_WAIT))
                began = perf_counter()
                tiny = await timed(ask(f"{TINY} {number}", 1, 1), began)
                own[side].append(tiny.first_ms - idle)
    return lab.result(
        "cancel",
        f"{rounds} requests left in generation, {rounds} within a prompt of {LONG_PROMPT} tokens",
        figures(measured),
        "the time to first token of a tiny request sent at once, less its median on an idle engine",
        series={f"delay after cancelling {kind}, ms": own for kind, own in measured.items()},
    )


def on_ours(lab: Lab, prompt: str, tokens: int, who: int) -> AsyncIterator[Chunk]:
    return lab.ours.client.stream(Continuation(prompt, Sampling(n_predict=tokens), owner=Owner(f"client {who}")))


async def left_generating(chunks: AsyncIterator[Chunk]) -> None:
    """Close the connection at the first text."""
    async for chunk in chunks:
        if chunk.text:
            break
    await cast("Any", chunks).aclose()


async def left_after(chunks: AsyncIterator[Chunk], seconds: float) -> None:
    """Close the connection after so long."""
    work = asyncio.ensure_future(timed(chunks))
    await asyncio.wait({work}, timeout=seconds)
    work.cancel()
    await asyncio.wait({work})


def figures(measured: dict[str, dict[str, list[float]]]) -> list[Figure]:
    shown: list[Figure] = []
    for kind, sides in measured.items():
        ours, theirs = sides.get("ours", []), sides.get(ANCHOR, [])
        shown.append(Figure(f"cancelled {kind}, delay, p50", p50(ours), p50(theirs), ANCHOR))
        shown.append(Figure(f"cancelled {kind}, delay, p95", p95(ours), p95(theirs), ANCHOR, goal=Goal(SOON)))
    return shown
