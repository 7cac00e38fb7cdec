"""Real servers on free ports, with a home of their own and agents that really run."""

import asyncio
import json
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2
import pytest

ROOT = Path(__file__).resolve().parents[2]
FAKE_CLI = ROOT / "tests" / "runtime" / "fake_cli.py"
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

    process: asyncio.subprocess.Process
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

    async def end(self) -> int:
        """Ask the server to end, and return its exit status."""
        if self.process.returncode is None:
            self.process.send_signal(signal.SIGTERM)
        async with asyncio.timeout(DEADLINE_S):
            return await self.process.wait()


StartApi = Callable[..., Awaitable[ApiProcess]]


@pytest.fixture
def api_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A home whose settings know the fake agent."""
    home = Path(tempfile.mkdtemp(prefix="lh-api-"))
    monkeypatch.setenv("LSP_HARNESS_HOME", str(home))
    (home / "config.toml").write_text(
        f"[runtime.agents.fake]\ncommand = {json.dumps(sys.executable)}\n"
        f'args = [{json.dumps(str(FAKE_CLI))}, "--reports", "always"]\n'
        '[runtime.agents.missing]\ncommand = "no-such-program-anywhere"\n'
        f"[runtime.agents.broken]\ncommand = {json.dumps(sys.executable)}\n"
        'args = ["-c", "raise SystemExit(3)"]\n'
    )
    yield home
    shutil.rmtree(home, ignore_errors=True)


@pytest.fixture
async def start_api(api_home: Path, tmp_path: Path) -> AsyncIterator[StartApi]:
    """Start servers, and end them after the test."""
    servers: list[ApiProcess] = []
    root = tmp_path / "work"
    root.mkdir()

    async def start(*flags: str, replies: tuple[str, ...] = (), **variables: str) -> ApiProcess:
        script = tmp_path / f"script{len(servers)}.json"
        script.write_text(json.dumps([{"text": reply} for reply in replies]))
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "LSP_HARNESS_ENGINE__SCRIPT": str(script)}
        environment |= {"LSP_HARNESS_INDEX__ENABLED": "false", "LOG_LEVEL": "debug", **variables}
        arguments = ("-m", "lsp_harness", "api", *(() if "--port" in flags else ("--port", "0")), *flags)
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, *arguments), cwd=root, env=environment, stdout=asyncio.subprocess.PIPE, stderr=-1
        )
        server = ApiProcess(process, api_home, root)
        servers.append(server)
        assert process.stdout
        assert process.stderr
        async with asyncio.timeout(DEADLINE_S):
            line = (await process.stdout.readline()).decode()
        if "listens" not in line:
            raise AssertionError(line + (await process.stderr.read()).decode())
        server.port = int(line.rpartition(":")[2])
        server.token = (server.curl_home / "api-token").read_text()
        reading = asyncio.ensure_future(_collect(process.stderr, server.log))
        del reading
        return server

    yield start
    for server in servers:
        with suppress(ProcessLookupError):
            await server.end()


async def _collect(stream: asyncio.StreamReader, log: bytearray) -> None:
    while data := await stream.read(65_536):
        log += data


@pytest.fixture
async def api(start_api: StartApi) -> ApiProcess:
    """A running server."""
    return await start_api()


async def spawn(client: httpx2.AsyncClient, type: str = "echo", **fields: Any) -> dict[str, Any]:
    """Start an agent, and wait until it is ready."""
    answer = await client.post("/agents", json={"type": type, **fields})
    assert answer.status_code == 201, answer.text
    return await wait_for_status(client, answer.json()["id"], "ready")


async def wait_for_status(client: httpx2.AsyncClient, agent_id: str, *wanted: str) -> dict[str, Any]:
    """Wait until an agent has a status, and return it."""
    async with asyncio.timeout(DEADLINE_S):
        while True:
            agent = (await client.get(f"/agents/{agent_id}")).json()
            if agent["status"] in wanted:
                return agent
            await client.get("/health")
