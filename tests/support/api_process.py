"""A real `lsp-harness api` in a process of its own, for tests and benchmarks."""

import asyncio
import os
import signal
from dataclasses import dataclass, field
from pathlib import Path

import httpx2

from tests.support.forked_process import ForkedProcess

ROOT = Path(__file__).resolve().parents[2]
DEADLINE_S = 30.0


@dataclass
class ApiProcess:
    """A running `lsp-harness api`.

    Attributes:
        process: The process.
        home: The folder of its files.
        root: The folder in which agents may work.
        port: Its port.
        token: The token.
        log: What it has written to standard error until now.
    """

    process: ForkedProcess
    home: Path
    root: Path
    port: int = 0
    token: str = ""
    log: bytearray = field(default_factory=bytearray)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def curl_home(self) -> Path:
        return self.home / "run" / "api"

    @property
    def headers(self) -> dict[str, str]:
        return {"authorization": f"Bearer {self.token}"}

    def client(self, *, has_token: bool = True) -> httpx2.AsyncClient:
        headers = self.headers if has_token else {}
        return httpx2.AsyncClient(base_url=self.url, headers=headers, timeout=DEADLINE_S)

    async def wait_until_ready(self) -> None:
        """Read its port and token. Raise AssertionError with its messages if it does not start."""
        async with asyncio.timeout(DEADLINE_S):
            line = (await self.process.stdout.readline()).decode()
        if "listens" not in line:
            raise AssertionError(line + (await self.process.stderr.read()).decode())
        self.port = int(line.rpartition(":")[2])
        self.token = (self.curl_home / "api-token").read_text()
        reading = asyncio.ensure_future(_collect(self.process.stderr, self.log))
        del reading

    async def end(self) -> int:
        """Ask the server to end, and return its exit status."""
        if self.process.returncode is None:
            self.process.send_signal(signal.SIGTERM)
        async with asyncio.timeout(DEADLINE_S):
            status = await self.process.wait()
        self.process.close()
        return status


async def launch_api(
    home: Path, root: Path, *flags: str, preload: tuple[str, ...] = (), **variables: str
) -> ApiProcess:
    """Start a server that works in a folder. Call `wait_until_ready` before its first request.

    Args:
        home: The folder of its files, `LSP_HARNESS_HOME`.
        root: The folder in which agents may work.
        flags: More options of the command line.
        preload: The modules that the process need not import.
        variables: More environment variables.
    """
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "LSP_HARNESS_HOME": str(home)}
    environment |= {"LSP_HARNESS_INDEX__ENABLED": "false", **variables}
    arguments = ("-m", "lsp_harness", "api", *(() if "--port" in flags else ("--port", "0")), *flags)
    process = await ForkedProcess.start(*arguments, cwd=root, env=environment, preload=preload)
    return ApiProcess(process, home, root)


async def _collect(stream: asyncio.StreamReader, log: bytearray) -> None:
    while data := await stream.read(65_536):
        log += data
