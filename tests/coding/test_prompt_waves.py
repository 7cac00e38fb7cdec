"""Tests of the order in which candidates of several prompts arrive."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence

import pytest

from lsp_harness.coding.candidates.prompt_waves import generate_waves
from lsp_harness.coding.candidates.sampling import Candidate, CandidatePlan, plan_samples
from lsp_harness.errors import EngineError
from lsp_harness.inference.dialect import MAX_CANDIDATES
from lsp_harness.inference.request import Props, Usage

FIRST, OTHERS = CandidatePlan("rewrite", 0.0, 0, (1,)), CandidatePlan("rewrite", 0.5, 1, (2, 3, 4))


class LateFirstSource:
    """A source whose first prompt is answered after the second, which has only two candidates."""

    def __init__(self, error: str = "") -> None:
        self.refusal = ""
        self._others_done = asyncio.Event()
        self._error = error

    async def generate(
        self, plan: CandidatePlan, feedback: Sequence[str] = (), on_evaluated: Callable[[], None] = lambda: None
    ) -> AsyncGenerator[Candidate]:
        on_evaluated()
        numbers = (3, 2)
        if plan is FIRST:
            await self._others_done.wait()
            if self._error:
                raise EngineError(self._error)
            numbers = (1,)
        for number in numbers:
            yield Candidate(number, plan, (), Usage())
        self._others_done.set()


async def take(source: LateFirstSource, waves: list[list[int]], *, in_order: bool) -> None:
    """Add the numbers of each wave to `waves`, also of those before a failure."""
    async for wave in generate_waves(source, [FIRST, OTHERS], lambda plan: None, (), in_order=in_order):
        waves += [[candidate.number for candidate in wave]]


async def test_candidates_are_yielded_as_soon_as_they_are_complete():
    waves: list[list[int]] = []
    await take(LateFirstSource(), waves, in_order=False)
    assert sorted(waves[0]) == waves[0]
    assert 1 not in waves[0]
    assert waves[-1] == [1]


async def test_candidates_in_order_wait_for_earlier_ones():
    waves: list[list[int]] = []
    await take(LateFirstSource(), waves, in_order=True)
    assert waves == [[1], [2], [3]]


async def test_a_candidate_that_fails_is_not_waited_for():
    waves: list[list[int]] = []
    with pytest.raises(EngineError, match="gone"):
        await take(LateFirstSource("gone"), waves, in_order=True)
    assert waves == [[2], [3]]


@pytest.mark.parametrize(
    ("can_mix", "samples", "sizes"),
    [(True, 3, [4]), (True, 0, [1]), (False, 3, [1, 3]), (True, MAX_CANDIDATES, [1, MAX_CANDIDATES])],
)
def test_the_most_likely_text_and_samples_are_one_request_if_the_engine_can(
    can_mix: bool, samples: int, sizes: list[int]
):
    plans = plan_samples("fill", 0.5, Props("m", 0, 0, {}, {"greedy_first": can_mix}), samples)
    assert [len(plan.numbers) for plan in plans] == sizes
    candidates = [Candidate(number, plan, (), Usage()) for plan in plans for number in plan.numbers]
    assert [candidate.temperature for candidate in candidates] == [0.0, *[0.5] * samples]
    assert [candidate.seed for candidate in candidates] == [*range(1 + samples)]
