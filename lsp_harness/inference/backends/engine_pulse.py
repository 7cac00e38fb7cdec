"""Ends the waits for an engine that gives no sign of life, however many wait, and has its process ended once.

Whatever an engine sends is a sign. After half of the time without one it is asked for one; a long prompt is answered by
nothing else for minutes. The watch belongs to the engine and not to a request: a user who types cancels each request long
before its time is up, and would otherwise wait for ever for the next one.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager

log = logging.getLogger(__name__)


class EngineSilent(Exception):
    """The engine gave no sign of life. `said` tells what was found and what was done about it."""

    def __init__(self, said: str) -> None:
        super().__init__(said)
        self.said = said


class _Wait:
    """One wait for the engine; `ending` is the end of a stuck engine that it waits for."""

    def __init__(self, limit: asyncio.Timeout, ending: "asyncio.Task[str] | None") -> None:
        self.limit = limit
        self.ending = ending


class EnginePulse:
    """`alive` asks for a sign, within so many seconds; `stuck` ends the process and gives the sentence that says so."""

    def __init__(
        self, silence_s: float, alive: Callable[[float], Awaitable[bool]], stuck: Callable[[], Awaitable[str]]
    ) -> None:
        self._silence_s = silence_s
        self._alive = alive
        self._stuck = stuck
        self._since = 0.0
        """The beginning of the silence, by the clock of the loop: the last sign, or the first question after it."""
        self._owed = False
        """Something was asked and no sign has come since."""
        self._waits: set[_Wait] = set()
        self._watch: asyncio.Task[None] | None = None
        self._ending: asyncio.Task[str] | None = None

    @asynccontextmanager
    async def waiting(self) -> AsyncGenerator[None]:
        """A block that waits for the engine; leaving it is a sign of life. Raises Silent once the engine was found stuck."""
        if not self._owed:
            self._owed, self._since = True, asyncio.get_running_loop().time()
        if self._watch is None or self._watch.done():
            self._watch = asyncio.create_task(self._look(), name="engine pulse")
        wait = None
        try:
            async with asyncio.timeout(None) as limit:
                wait = _Wait(limit, self._ending)
                self._waits.add(wait)
                try:
                    yield
                finally:
                    self._waits.discard(wait)
        except Exception:
            # a connection that breaks meanwhile breaks because the process is ended
            if wait and wait.ending:
                raise EngineSilent(await asyncio.shield(wait.ending)) from None
            raise
        self._sign()

    async def aclose(self) -> None:
        """End the watch. An engine that is being ended is waited for: a command that has failed must not leave it there."""
        if self._ending:
            await asyncio.wait({self._ending})
        if self._watch:
            self._watch.cancel()
            await asyncio.wait({self._watch})

    def _sign(self) -> None:
        self._since, self._owed = asyncio.get_running_loop().time(), bool(self._waits)

    async def _look(self) -> None:
        loop = asyncio.get_running_loop()
        # with nobody waiting too, for as long as the last question has brought no sign
        while self._owed:
            since = self._since
            if (early := since + self._silence_s / 2 - loop.time()) > 0:
                await asyncio.sleep(early)
                continue
            # where this process was stopped itself it has not listened: the engine gets its time in any case
            until = max(since + self._silence_s, loop.time() + self._silence_s / 2)
            if await self._alive(until - loop.time()):
                self._sign()
                continue
            await asyncio.sleep(max(0.0, until - loop.time()))
            if self._owed and self._since == since:
                return await self._end()
        return None

    async def _end(self) -> None:
        waited_for = bool(self._waits)
        self._ending = ending = asyncio.create_task(self._end_engine(), name="ending a stuck engine")
        for wait in self._waits:
            wait.ending = ending
        said = await asyncio.shield(ending)
        self._ending, self._owed = None, False
        if not waited_for:
            # whoever had asked has left
            log.warning("%s", said)
        for wait in self._waits:
            wait.limit.reschedule(asyncio.get_running_loop().time())

    async def _end_engine(self) -> str:
        return await self._stuck()
