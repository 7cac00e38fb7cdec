"""The limits of a turn: steps, tokens and seconds."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from lsp_harness.kernel.projections.session_state import SessionState

DEFAULT_MAX_STEPS = 20


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of every turn of a session. 0 means no limit.

    Attributes:
        max_steps: Model calls of one turn.
        max_tokens_total: Tokens that the models of the session may read and write, cached ones included.
        max_seconds: Seconds of one turn.
        count_shared: Returns the tokens of other sessions that count, too: running subagents, and whoever started them.
    """

    max_steps: int = DEFAULT_MAX_STEPS
    max_tokens_total: int = 0
    max_seconds: float = 0.0
    count_shared: Callable[[], int] = lambda: 0


@dataclass(frozen=True, slots=True)
class Ending:
    """The end of a turn: its reason for people and programs, and its reason as the loop names it."""

    reason: str
    detail: str
    text: str = ""


class Budget:
    """The limits of one turn that runs.

    Args:
        limits: The limits.
        now_s: Returns the time in seconds.
    """

    def __init__(self, limits: Limits, now_s: Callable[[], float]) -> None:
        self._limits = limits
        self._now_s = now_s
        self._start_s = now_s()

    def find_exceeded(self, step: int, state: SessionState) -> Ending | None:
        """Return the ending of the turn if its next step would exceed a limit.

        Args:
            step: The number of the next step, from 0.
            state: The state of the session.
        """
        limits = self._limits
        if limits.max_steps and step >= limits.max_steps:
            return Ending("max_turns", "max_steps")
        if limits.max_tokens_total and (used := state.tokens.total + limits.count_shared()) >= limits.max_tokens_total:
            return Ending("budget_exceeded", f"{used} tokens of at most {limits.max_tokens_total} are used")
        if limits.max_seconds and self._now_s() - self._start_s >= limits.max_seconds:
            return self._too_late
        return None

    async def run_in_time(self, turn: Awaitable[Ending]) -> Ending:
        """Run a turn, and stop what it does when its time is over: a tool or a model may take long."""
        limit = asyncio.timeout(self._limits.max_seconds or None)
        try:
            async with limit:
                return await turn
        except TimeoutError:
            if limit.expired():
                return self._too_late
            raise

    @property
    def _too_late(self) -> Ending:
        return Ending("budget_exceeded", f"the turn took longer than {self._limits.max_seconds:g} seconds")
