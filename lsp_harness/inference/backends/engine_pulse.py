"""Watches whether the engine is alive, and has its process ended once if it is not, however many requests wait.

Everything that the engine sends is a sign of life. After half of the time limit without a sign the engine is asked for
one, because it sends nothing for minutes while it evaluates a long prompt. The watch belongs to the engine and not to a
request: a user who types cancels each request long before the time limit, and would otherwise wait forever.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager

log = logging.getLogger(__name__)


class EngineSilent(Exception):
    """The engine gave no sign of life. `message` says what was found and what was done about it."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class _Wait:
    """One wait for the engine. `ending` is the task that ends a stuck engine, for which the wait waits too."""

    def __init__(self, limit: asyncio.Timeout, ending: "asyncio.Task[str] | None") -> None:
        self.limit = limit
        self.ending = ending


class EnginePulse:
    """The watch of one engine process.

    Args:
        silence_s: Seconds without a sign of life after which the engine counts as stuck.
        is_alive: Asks the engine for a sign of life within a number of seconds.
        end_engine: Ends the process and returns the message for the user.
    """

    def __init__(
        self,
        silence_s: float,
        is_alive: Callable[[float], Awaitable[bool]],
        end_engine: Callable[[], Awaitable[str]],
    ) -> None:
        self._silence_s = silence_s
        self._is_alive = is_alive
        self._end_engine = end_engine
        self._silence_start = 0.0
        """Loop time of the last sign of life, or of the first request after it."""
        self._awaits_sign = False
        """A request was sent and no sign of life has come since."""
        self._waits: set[_Wait] = set()
        self._watch: asyncio.Task[None] | None = None
        self._ending: asyncio.Task[str] | None = None

    @asynccontextmanager
    async def waiting(self) -> AsyncGenerator[None]:
        """Run a block that waits for the engine.

        Its normal end is a sign of life. Raise EngineSilent if the engine is stuck.
        """
        if not self._awaits_sign:
            self._awaits_sign, self._silence_start = True, asyncio.get_running_loop().time()
        if self._watch is None or self._watch.done():
            self._watch = asyncio.create_task(self._watch_engine(), name="engine pulse")
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
            # a connection that breaks now breaks because the process is being ended
            if wait and wait.ending:
                raise EngineSilent(await asyncio.shield(wait.ending)) from None
            raise
        self._note_sign()

    async def aclose(self) -> None:
        """Stop the watch. Wait until a stuck engine has ended: a command that failed must not leave it behind."""
        if self._ending:
            await asyncio.wait({self._ending})
        if self._watch:
            self._watch.cancel()
            await asyncio.wait({self._watch})

    def _note_sign(self) -> None:
        self._silence_start, self._awaits_sign = asyncio.get_running_loop().time(), bool(self._waits)

    async def _watch_engine(self) -> None:
        loop = asyncio.get_running_loop()
        # the watch goes on if nobody waits any more, until the last request has brought a sign of life
        while self._awaits_sign:
            silence_start = self._silence_start
            if (pause_s := silence_start + self._silence_s / 2 - loop.time()) > 0:
                await asyncio.sleep(pause_s)
                continue
            # if this process itself was stopped, it could not listen: the engine gets half of its time in any case
            deadline = max(silence_start + self._silence_s, loop.time() + self._silence_s / 2)
            if await self._is_alive(deadline - loop.time()):
                self._note_sign()
                continue
            await asyncio.sleep(max(0.0, deadline - loop.time()))
            if self._awaits_sign and self._silence_start == silence_start:
                return await self._end()
        return None

    async def _end(self) -> None:
        has_waits = bool(self._waits)
        self._ending = ending = asyncio.create_task(self._run_end_engine(), name="ending a stuck engine")
        for wait in self._waits:
            wait.ending = ending
        message = await asyncio.shield(ending)
        self._ending, self._awaits_sign = None, False
        if not has_waits:
            # all requests were cancelled, so no error carries the message
            log.warning("%s", message)
        for wait in self._waits:
            wait.limit.reschedule(asyncio.get_running_loop().time())

    async def _run_end_engine(self) -> str:
        return await self._end_engine()
