"""The driver of turns that change code. The table of states decides every step; the model only fills gaps."""

from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

from lsp_harness.kernel.driver import SteeredSession, begin_step
from lsp_harness.kernel.limits import Budget, Ending
from lsp_harness.kernel.log.turn import Turn

ResultT = TypeVar("ResultT")


class CodeDriver(Generic[ResultT]):
    """Runs one task of `lsp_harness.coding` as the single step of a turn. Several such turns may run at once.

    Args:
        run: Runs the task and returns its result. It records its states, candidates and checks in the turn.
        describe: Returns one line about the result, for the end of the turn.
    """

    name = "code"
    is_exclusive = False

    def __init__(self, run: Callable[[Turn], Awaitable[ResultT]], describe: Callable[[ResultT], str]) -> None:
        self._run = run
        self._describe = describe
        self._results: list[ResultT] = []

    @property
    def result(self) -> ResultT:
        """The result of the task. A turn that did not raise has one."""
        return self._results[0]

    async def run(self, turn: Turn, session: SteeredSession, budget: Budget) -> Ending:
        """Run the task as the only step of the turn."""
        session.take_steering(turn)
        if ending := begin_step(0, turn, session, budget):
            return ending
        result = await self._run(turn)
        self._results.append(result)
        return Ending("completed", "pipeline_done", self._describe(result))
