"""Permission for work that no user waits for: it waits while other programs need the machine, and on battery."""

import asyncio
from collections.abc import Awaitable, Callable

from lsp_harness.process.machine_load import MachineLoad

RETRY_S = 2.0
"""Time between two questions whether the work may begin by now."""
OFF_REASON = "the setting background.when is never"


class BackgroundPermit:
    """The permission of one client to work in the background.

    Args:
        when: Returns the present setting: `always`, `yield` or `never`.

    Attributes:
        load: The load of the machine.
        sleep: Waits for a number of seconds.
        waiting_count: The pieces of work that wait now.
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

    @property
    def is_off(self) -> bool:
        """Nothing is done in the background."""
        return self._when() == "never"

    async def find_refusal(self) -> str:
        """Return why no work may begin now; empty if it may."""
        match self._when():
            case "always":
                return ""
            case "never":
                return OFF_REASON
            case _:
                # it reads many small files
                return await asyncio.to_thread(self.load.measure)

    async def prepare(self) -> None:
        """Begin to measure the load, so that `wait` need not wait for the measurement."""
        if self._when() not in ("always", "never"):
            await asyncio.to_thread(self.load.begin)

    async def wait(self) -> None:
        """Wait until work may begin. Cancel the call when nobody needs the work any more."""
        self.waiting_count += 1
        try:
            while await self.find_refusal():
                await self.sleep(RETRY_S)
        finally:
            self.waiting_count -= 1
