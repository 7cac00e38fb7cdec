"""Generates the candidates of several prompts at once.

Each prompt begins when the one before it is evaluated. So all candidates are generated in one batch, and no part of a
prompt is evaluated twice.
"""

import asyncio
import math
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from typing import Protocol

from lsp_harness.coding.candidates.sampling import Candidate, CandidatePlan


class CandidateSource(Protocol):
    """Generates the candidates of a plan.

    Attributes:
        refusal: Why the engine refused a request, or an empty text.
    """

    refusal: str

    def generate(
        self, plan: CandidatePlan, feedback: Sequence[str] = (), on_evaluated: Callable[[], None] = ...
    ) -> AsyncGenerator[Candidate]:
        """Yield each candidate when it is complete. Closing the generator ends the others.

        Args:
            plan: The candidates to generate.
            feedback: The findings of the checks in earlier candidates, as lines.
            on_evaluated: Called when the prompt is evaluated.
        """
        ...


async def generate_waves(
    source: CandidateSource,
    plans: Sequence[CandidatePlan],
    on_start: Callable[[CandidatePlan], None],
    feedback: Sequence[str],
    *,
    in_order: bool = False,
) -> AsyncGenerator[list[Candidate]]:
    """Yield the candidates that are complete since the last wave. Closing the generator ends all that still run.

    A failure of the engine is raised after all candidates that were complete before it.

    Args:
        source: Generates the candidates.
        plans: One plan for each prompt.
        on_start: Called when the request of a plan is sent.
        feedback: The findings of the checks in earlier candidates, as lines.
        in_order: Whether each wave is one candidate, and no candidate comes before one with a lower number.
    """
    complete: list[Candidate] = []
    open_numbers = [set(plan.numbers) for plan in plans]
    is_changed = asyncio.Event()
    is_evaluated = [asyncio.Event() for _ in plans]

    async def generate(number: int, plan: CandidatePlan) -> None:
        try:
            if number:
                await is_evaluated[number - 1].wait()
            on_start(plan)
            async with aclosing(source.generate(plan, feedback, is_evaluated[number].set)) as candidates:
                async for candidate in candidates:
                    open_numbers[number].discard(candidate.number)
                    complete.append(candidate)
                    is_changed.set()
        finally:
            # a request may have had room for fewer candidates
            open_numbers[number].clear()
            is_evaluated[number].set()

    def take_wave() -> list[Candidate]:
        wave = sorted(complete, key=lambda candidate: candidate.number)
        if in_order:
            first_open = min((number for numbers in open_numbers for number in numbers), default=math.inf)
            wave = [candidate for candidate in wave[:1] if candidate.number < first_open]
        for candidate in wave:
            complete.remove(candidate)
        return wave

    tasks = [asyncio.ensure_future(generate(number, plan)) for number, plan in enumerate(plans)]
    for task in tasks:
        task.add_done_callback(lambda _: is_changed.set())
    try:
        while complete or not all(task.done() for task in tasks):
            await is_changed.wait()
            is_changed.clear()
            while wave := take_wave():
                yield wave
        # what other prompts gave counts, so a failure waits for them
        _raise_failure(tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def _raise_failure(tasks: Sequence["asyncio.Task[None]"]) -> None:
    for task in tasks:
        if task.done():
            task.result()
