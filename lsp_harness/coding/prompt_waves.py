"""Several prompts at once: each begins when the one before it is evaluated, so that their candidates are written in
one batch and no prompt is evaluated twice."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from typing import Protocol

from lsp_harness.coding.sampling import Candidate, Plan


class Maker(Protocol):
    """Whoever makes the candidates of a plan."""

    refused: str
    """Why the engine would not take what was asked, once it has said so."""

    def make(
        self, plan: Plan, feedback: Sequence[str] = (), begun: Callable[[], None] = ...
    ) -> AsyncGenerator[Candidate]:
        """Each as it is finished; leaving early ends the others. `begun` is called when the prompt is evaluated."""
        ...


async def finished(
    maker: Maker, plans: Sequence[Plan], starting: Callable[[Plan], None], feedback: Sequence[str]
) -> AsyncGenerator[list[Candidate]]:
    """Waves of candidates: whatever was finished since the last one. Leaving early ends all that is under way.

    A failure of the engine is raised when what was finished before it has been given out.
    """
    done: list[Candidate] = []
    more = asyncio.Event()
    evaluated = [asyncio.Event() for _ in plans]

    async def make(at: int, plan: Plan) -> None:
        try:
            if at:
                await evaluated[at - 1].wait()
            starting(plan)
            async with aclosing(maker.make(plan, feedback, evaluated[at].set)) as candidates:
                async for candidate in candidates:
                    done.append(candidate)
                    more.set()
        finally:
            evaluated[at].set()

    tasks = [asyncio.ensure_future(make(at, plan)) for at, plan in enumerate(plans)]
    for task in tasks:
        task.add_done_callback(lambda _: more.set())
    try:
        while done or not all(task.done() for task in tasks):
            await more.wait()
            more.clear()
            wave = sorted(done, key=lambda candidate: candidate.number)
            done.clear()
            if wave:
                yield wave
            _raise(tasks)
        _raise(tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def _raise(tasks: Sequence["asyncio.Task[None]"]) -> None:
    for task in tasks:
        if task.done():
            task.result()
