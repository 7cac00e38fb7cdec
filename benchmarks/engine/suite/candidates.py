"""`bench candidates`: several answers over one prompt, compared with as many sequential requests to llama-server."""

from typing import Any

from benchmarks.engine.figures import REFERENCE, Figure, Goal, Result, p50
from benchmarks.engine.lab import Lab
from benchmarks.engine.sized_prompts import make_prompt
from benchmarks.engine.step_curve import step_ms
from benchmarks.engine.timing import Timing, measure_stream
from lsp_harness.inference.request import Continuation, Owner, Sampling

PROMPT, TOKENS, MANY_CANDIDATES, FEW_CANDIDATES = 1500, 64, 8, 5
ROUNDS = 5
TEMPERATURE = 0.8


async def run(lab: Lab) -> Result:
    """Measure the wall time of requests for several candidates, round by round.

    Each round has a new prompt for the larger number of candidates and another one for the smaller number.
    """
    many: list[Timing] = []
    few: list[Timing] = []
    theirs: list[list[Timing]] = []
    rounds = lab.size(ROUNDS)
    for number in range(rounds):
        lab.say(f"round {number + 1} of {rounds}")
        prompt = await make_prompt(lab, PROMPT, 2 * number)
        many.append(await generate_candidates(lab, prompt, MANY_CANDIDATES))
        few.append(await generate_candidates(lab, await make_prompt(lab, PROMPT, 2 * number + 1), FEW_CANDIDATES))
        if lab.reference:
            calls = (
                lab.reference.completion(prompt, TOKENS, slot=0, temperature=TEMPERATURE, seed=seed)
                for seed in range(MANY_CANDIDATES)
            )
            theirs.append([await measure_stream(call) for call in calls])
    return lab.result(
        "candidates",
        f"{MANY_CANDIDATES} candidates of {TOKENS} tokens over {PROMPT} prompt tokens, {rounds} rounds",
        make_figures(lab.props, many, few, theirs),
        "wall time is from the request to the end of the last candidate",
        series={
            "wall time of a round, ms": {
                f"ours, {MANY_CANDIDATES}": [timing.total_ms for timing in many],
                f"ours, {FEW_CANDIDATES}": [timing.total_ms for timing in few],
                f"{REFERENCE}, {MANY_CANDIDATES} calls": [sum_total_ms(calls) for calls in theirs],
            }
        },
    )


async def generate_candidates(lab: Lab, prompt: str, n: int) -> Timing:
    """Generate `n` candidates in one request."""
    sampling = Sampling(n_predict=TOKENS, temperature=TEMPERATURE, n=n)
    return await measure_stream(lab.engine.client.stream(Continuation(prompt, sampling, owner=Owner("bench"))))


def sum_total_ms(calls: list[Timing]) -> float:
    """Return the total time of sequential requests."""
    return sum(call.total_ms for call in calls)


def compute_generation_ms(timings: list[Timing]) -> list[float]:
    """Return the milliseconds from the first token to the last one, by request."""
    return [timing.total_ms - timing.first_ms for timing in timings]


def make_figures(
    props: dict[str, Any], many: list[Timing], few: list[Timing], theirs: list[list[Timing]]
) -> list[Figure]:
    """Return the times, the tokens and the candidates of our engine, and those of llama-server where it has them.

    Args:
        props: The properties of our engine, with the times of a decode step.
        many: One request for `MANY_CANDIDATES` candidates for each round.
        few: One request for `FEW_CANDIDATES` candidates for each round.
        theirs: For each round, the sequential requests to llama-server, one for each of `MANY_CANDIDATES` candidates.
    """
    curve = (step_ms(props, MANY_CANDIDATES), step_ms(props, FEW_CANDIDATES))
    predicted = curve[0] / curve[1] if curve[0] and curve[1] else None
    spans = (p50(compute_generation_ms(many)), p50(compute_generation_ms(few)))
    measured = spans[0] / spans[1] if spans[0] and spans[1] else None
    return [
        Figure(
            f"wall, {MANY_CANDIDATES} candidates, p50",
            p50([timing.total_ms for timing in many]),
            p50([sum_total_ms(calls) for calls in theirs]),
            f"{MANY_CANDIDATES} sequential calls",
            goal=Goal(0.6, "ratio"),
        ),
        Figure(
            "prompt tokens evaluated, p50",
            p50([float(timing.evaluated) for timing in many]),
            p50([float(sum(call.evaluated for call in calls)) for calls in theirs]),
            f"{MANY_CANDIDATES} sequential calls",
            "",
            # the prompt is evaluated once, not for each candidate
            Goal(PROMPT),
        ),
        Figure(
            "tokens generated, p50",
            p50([float(timing.generated) for timing in many]),
            p50([float(sum(call.generated for call in calls)) for calls in theirs]),
            f"{MANY_CANDIDATES} sequential calls",
            "",
        ),
        Figure(
            f"candidates that came of {MANY_CANDIDATES}",
            min((float(len(t.texts)) for t in many), default=None),
            unit="",
            goal=Goal(MANY_CANDIDATES, is_minimum=True),
        ),
        Figure(f"wall, {FEW_CANDIDATES} candidates, p50", p50([timing.total_ms for timing in few])),
        Figure(
            f"generating {MANY_CANDIDATES} over generating {FEW_CANDIDATES}",
            *(measured, predicted, "the engine's curve", ""),
            # a candidate costs less with the larger number while this ratio is below the ratio of the numbers
            Goal(MANY_CANDIDATES / FEW_CANDIDATES),
        ),
    ]
