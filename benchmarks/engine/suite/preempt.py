"""`bench preempt`: typing while five candidates of an edit are generated in the background."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from itertools import count
from typing import Any

from benchmarks.engine.figures import REFERENCE, Figure, Goal, Result, p50, p95
from benchmarks.engine.keystrokes import KeyTrace, make_traces
from benchmarks.engine.lab import Lab
from benchmarks.engine.sized_prompts import make_prompt
from benchmarks.engine.step_curve import read_prefill_chunk_tokens, step_ms
from benchmarks.engine.suite.typing import list_first_token_ms, type_on_engine, type_on_reference
from benchmarks.engine.timing import Timing, measure_stream
from lsp_harness.inference.request import Continuation, Owner, Sampling

MAX_KEYS, MAX_KEYS_PER_EDIT = 160, 40
PROMPT, TOKENS, N = 1000, 128, 5
TEMPERATURE = 0.8


async def run(lab: Lab) -> Result:
    """Type some edits on a quiet engine and others under load.

    The first key of an edit is left out, because its prompt is cold. Under load llama-server needs more than a minute
    for a key, so it gets fewer edits and fewer keys.
    """
    requests = lab.size(MAX_KEYS)
    max_keys = min(MAX_KEYS_PER_EDIT, requests)
    traces = make_traces(lab.edits, 2 * requests, max_keys=max_keys)
    half = (len(traces) + 1) // 2
    prompt = await make_prompt(lab, PROMPT)
    ours = await type_quiet_and_loaded(lab, traces, half, type_on_engine, lambda turn: load_engine(lab, prompt, turn))
    theirs: tuple[list[float], list[float]] = ([], [])
    if lab.reference:
        fewer = [replace(trace, states=trace.states[: 1 + max_keys // lab.options.anchor_every]) for trace in traces]
        idle = fewer[: half : lab.options.anchor_every]
        loaded = fewer[half :: lab.options.anchor_every]
        theirs = await type_quiet_and_loaded(
            lab, [*idle, *loaded], len(idle), type_on_reference, lambda turn: load_reference(lab, prompt, turn)
        )
    return lab.result(
        "preempt",
        f"{len(ours[0])} keys quiet, {len(ours[1])} beside {N} candidates of {TOKENS} tokens",
        make_figures(lab.props, ours, theirs),
        f"{REFERENCE} gets the candidates as {N} requests at once, in slots of their own",
        series={
            "time to first token, ms": {
                "ours, quiet": ours[0],
                "ours, loaded": ours[1],
                f"{REFERENCE}, quiet": theirs[0],
                f"{REFERENCE}, loaded": theirs[1],
            }
        },
    )


async def type_quiet_and_loaded(
    lab: Lab,
    traces: list[KeyTrace],
    half: int,
    typing: Callable[[Lab, KeyTrace], Awaitable[list[Timing]]],
    load: Callable[[int], Awaitable[object]],
) -> tuple[list[float], list[float]]:
    """Return the times to the first token, quiet and under load.

    The two parts have different edits, because the prompts of the same edits would be in the cache.

    Args:
        traces: The keys of the edits.
        half: The number of edits that are typed without load.
        typing: Types an edit.
        load: Produces load, for turn 0, 1, …
    """
    idle: list[float] = []
    loaded: list[float] = []
    for number, trace in enumerate(traces):
        lab.say(f"edit {number + 1} of {len(traces)}{' under load' if number >= half else ''}")
        if number < half:
            idle += list_first_token_ms((await typing(lab, trace))[1:])
        else:
            async with repeat_load(load):
                loaded += list_first_token_ms((await typing(lab, trace))[1:])
    return idle, loaded


@asynccontextmanager
async def repeat_load(load: Callable[[int], Awaitable[object]]) -> AsyncGenerator[None]:
    """Repeat `load` until the block ends. Its error is raised at the end of the block."""

    async def forever() -> None:
        for turn in count():
            await load(turn)

    task = asyncio.ensure_future(forever())
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def load_engine(lab: Lab, prompt: str, turn: int) -> Timing:
    """Generate candidates on our engine in the background."""
    sampling = Sampling(n_predict=TOKENS, temperature=TEMPERATURE, seed=turn * N, n=N)
    # a new first line makes the prompt new, because the prompt of an edit must be evaluated too
    request = Continuation(f"# {turn}\n{prompt}", sampling, "background", Owner("edit"))
    return await measure_stream(lab.engine.client.stream(request))


async def load_reference(lab: Lab, prompt: str, turn: int) -> list[Timing]:
    """Generate candidates on llama-server, in requests at the same time."""
    assert lab.reference
    calls = (
        measure_stream(
            lab.reference.completion(
                f"# {turn}\n{prompt}", TOKENS, slot=1 + number, temperature=TEMPERATURE, seed=turn * N + number
            )
        )
        for number in range(N)
    )
    return await asyncio.gather(*calls)


def compute_allowed_rise_ms(props: dict[str, Any]) -> float | None:
    """Return the milliseconds of one prefill chunk and one decode step, as the engine has measured them."""
    size = read_prefill_chunk_tokens(props)
    parts = (step_ms(props, size) if size else None, step_ms(props, N))
    return parts[0] + parts[1] if parts[0] and parts[1] else None


def make_figures(
    props: dict[str, Any], ours: tuple[list[float], list[float]], theirs: tuple[list[float], list[float]]
) -> list[Figure]:
    """Return how much the background load delays a completion on both servers.

    Args:
        props: The properties of our engine.
        ours: The times to the first token on our engine, without and with the load.
        theirs: The same times on llama-server.
    """
    rise, theirs_rise = compute_p95_rise(*ours), compute_p95_rise(*theirs)
    return [
        Figure("time to first token quiet, p95", p95(ours[0]), p95(theirs[0]), REFERENCE),
        Figure("time to first token loaded, p50", p50(ours[1]), p50(theirs[1]), REFERENCE),
        Figure("time to first token loaded, p95", p95(ours[1]), p95(theirs[1]), REFERENCE),
        Figure(
            "rise of the p95",
            rise,
            compute_allowed_rise_ms(props),
            "a prefill chunk and a decode step",
            goal=Goal(1, "ratio"),
        ),
        Figure(f"rise of the p95, {REFERENCE}", theirs_rise),
    ]


def compute_p95_rise(idle: list[float], loaded: list[float]) -> float | None:
    """Return how much the 95th percentile rises under load."""
    a, b = p95(idle), p95(loaded)
    return None if a is None or b is None else b - a
