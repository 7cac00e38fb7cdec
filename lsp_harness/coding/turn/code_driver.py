"""The driver of turns that change code. The table of states decides every step; the model only fills gaps."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Generic, TypeVar

from lsp_harness.kernel.driver import CallResult, ModelOutput
from lsp_harness.kernel.log.turn import Turn
from lsp_harness.kernel.projections.session_state import SessionState

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

    async def should_compact(self, state: SessionState) -> bool:
        """Return false: each prompt of a task has a budget of its own."""
        return False

    async def compact(self, state: SessionState, turn: Turn) -> None:
        """Do nothing."""

    async def build_prompt(self, state: SessionState, turn: Turn) -> None:
        """Return nothing: the task builds one prompt for each round of candidates."""

    async def call_model(self, prompt: None, turn: Turn) -> ModelOutput:
        """Run the task."""
        result = await self._run(turn)
        self._results.append(result)
        return ModelOutput(self._describe(result), is_final=True)

    async def execute_tool_calls(self, output: ModelOutput, turn: Turn) -> Sequence[CallResult]:
        """Return no results, because a task calls no tools."""
        return ()
