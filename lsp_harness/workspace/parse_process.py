"""A separate process that parses a text first if it may crash the parser. It starts with the first such text."""

import asyncio
import json
import logging
import sys
from contextlib import suppress

from lsp_harness.process.tool_run import kill_group

log = logging.getLogger(__name__)

WORKER_MODULE = "lsp_harness.syntax.parse_worker"
TIMEOUT_S = 4.0
"""Time limit for one text, waiting for a core included. The process ends itself after less time on a core."""
CRASH_REASON = "its parser crashed or never ended"


class Trials:
    """The process that first parses texts that may crash the parser.

    Args:
        command: The command of the process. The default is `syntax.parse_worker`.
        timeout_s: Time limit for one text.
    """

    def __init__(self, *command: str, timeout_s: float = TIMEOUT_S) -> None:
        self._command = command or (sys.executable, "-P", "-m", WORKER_MODULE)
        self._timeout_s = timeout_s
        self._process: asyncio.subprocess.Process | None = None
        self._turn = asyncio.Lock()

    async def refusal_reason(self, language: str, data: bytes) -> str:
        """Return why a text cannot be parsed. Empty if this process may parse it."""
        async with self._turn:
            try:
                async with asyncio.timeout(self._timeout_s):
                    return await self._ask(language, data)
            except (TimeoutError, OSError, EOFError, ValueError) as error:
                log.info("a text could not be tried: %r", error)
                await self._end()
                return CRASH_REASON
            except asyncio.CancelledError:
                # The process would answer for a text about which no caller asks any more.
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
        requests, answers = self._process.stdin, self._process.stdout
        assert requests
        assert answers
        requests.write(json.dumps({"language": language, "size": len(data)}).encode() + b"\n" + data)
        await requests.drain()
        line = await answers.readline()
        if not line:
            raise EOFError("the process has ended")
        return str(json.loads(line)["why"])

    async def _end(self) -> None:
        process, self._process = self._process, None
        if process:
            with suppress(ProcessLookupError):
                await kill_group(process)
