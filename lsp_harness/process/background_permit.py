"""Permission for work that no user waits for: it waits while other programs need the machine, and on battery."""

import asyncio
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager

from lsp_harness.process.machine_load import MachineLoad

RETRY_S = 2.0
"""Time between two questions whether the work may begin by now."""
OFF_REASON = "the setting background.when is never"
CHECKS_REASON = "the checks of an edit run"


class BackgroundPermit:
    """The permission of one client to work in the background.

    Args:
        when: Returns the present setting: `always`, `yield` or `never`.

    Attributes:
        load: The load of the machine.
        sleep: Waits for a number of seconds.
        waiting_count: The pieces of work that wait now.
        check_count: The runs of checks of the user's edits that are in progress now.
    """

    def __init__(
        self,
        when: Callable[[], str] = lambda: "always",
        load: MachineLoad | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._when = when
        self.load = load or MachineLoad()
        self.sleep = sleep
        self.waiting_count = 0
        self.check_count = 0

    @property
    def is_off(self) -> bool:
        """True if nothing is done in the background."""
        return self._when() == "never"

    @contextmanager
    def count_checks(self) -> Generator[None]:
        """Count a run of checks of the user's edits. Work that can wait for them waits until the context ends."""
        self.check_count += 1
        try:
            yield
        finally:
            self.check_count -= 1

    async def find_refusal(self, *, is_after_checks: bool = False) -> str:
        """Return why no work may begin now; empty if it may.

        Args:
            is_after_checks: Whether the work waits for the checks of edits, too.
        """
        match self._when():
            case "always":
                return ""
            case "never":
                return OFF_REASON
            case _ if is_after_checks and self.check_count:
                return CHECKS_REASON
            case _:
                # it reads many small files
                return await asyncio.to_thread(self.load.measure)

    async def prepare(self) -> None:
        """Begin to measure the load, so that `wait` need not wait for the measurement."""
        if self._when() not in ("always", "never"):
            await asyncio.to_thread(self.load.begin)

    async def wait(self, *, is_after_checks: bool = False) -> None:
        """Wait until work may begin. Cancel the call when nobody needs the work any more.

        Args:
            is_after_checks: Whether the work waits for the checks of edits, too. Work for the next key must not.
        """
        self.waiting_count += 1
        try:
            while await self.find_refusal(is_after_checks=is_after_checks):
                await self.sleep(RETRY_S)
        finally:
            self.waiting_count -= 1
