"""The process in which a text is parsed first that may crash a parser, started when there is such a text."""

import asyncio
import json
import logging
import sys
from contextlib import suppress

from lsp_harness.process.tool_run import kill_group

log = logging.getLogger(__name__)

ENTRY = "lsp_harness.syntax.parse_worker"
TIMEOUT_S = 4.0
"""For one text, on the clock: the process ends itself after less time on a core, but may have to wait for one."""
FAILED = "its parser crashed or never ended"


class Trials:
    """One per front end. Texts are tried one after the other."""

    def __init__(self, *command: str, timeout_s: float = TIMEOUT_S) -> None:
        self._command = command or (sys.executable, "-P", "-m", ENTRY)
        self._timeout_s = timeout_s
        self._process: asyncio.subprocess.Process | None = None
        self._turn = asyncio.Lock()

    async def why_not(self, language: str, data: bytes) -> str:
        """Why there is no tree of a text; empty where it may be parsed here."""
        async with self._turn:
            try:
                async with asyncio.timeout(self._timeout_s):
                    return await self._ask(language, data)
            except (TimeoutError, OSError, EOFError, ValueError) as error:
                log.info("a text could not be tried: %r", error)
                await self._end()
                return FAILED
            except asyncio.CancelledError:
                # what it still says is about a text that nobody asks about any more
                await self._end()
                raise

    async def aclose(self) -> None:
        await self._end()

    async def _ask(self, language: str, data: bytes) -> str:
        if self._process is None:
            self._process = await asyncio.create_subprocess_exec(
                *self._command,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.DEVNULL,
                start_new_session=True,
            )
        asked, answers = self._process.stdin, self._process.stdout
        assert asked
        assert answers
        asked.write(json.dumps({"language": language, "size": len(data)}).encode() + b"\n" + data)
        await asked.drain()
        line = await answers.readline()
        if not line:
            raise EOFError("the process has ended")
        return str(json.loads(line)["why"])

    async def _end(self) -> None:
        process, self._process = self._process, None
        if process:
            with suppress(ProcessLookupError):
                await kill_group(process)
