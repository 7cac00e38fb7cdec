"""Real servers on free ports, with a home of their own and agents that really run."""

import asyncio
import json
import sys
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.support.api_process import DEADLINE_S, ROOT, ApiProcess, launch_api

FAKE_CLI = ROOT / "tests" / "runtime" / "fake_cli.py"
API_MODULES = ("lsp_harness.cli.usage_errors", "lsp_harness.cli.agents.api_cli", "lsp_harness.api.api_server")

StartApi = Callable[..., Awaitable[ApiProcess]]


@pytest.fixture
def api_home() -> Iterator[Path]:
    """A home whose settings know the fake agent."""
    with open_api_home() as home:
        yield home


@contextmanager
def open_api_home() -> Iterator[Path]:
    """Use a new home whose settings know the fake agent."""
    with (
        pytest.MonkeyPatch.context() as patch,
        tempfile.TemporaryDirectory(prefix="lh-api-", ignore_cleanup_errors=True) as folder,
    ):
        home = Path(folder)
        patch.setenv("LSP_HARNESS_HOME", str(home))
        damaged = home / "damaged"
        damaged.write_bytes(b"\x7fELF nothing")
        damaged.chmod(0o755)
        (home / "config.toml").write_text(
            f"[runtime.agents.fake]\ncommand = {json.dumps(sys.executable)}\n"
            f'args = [{json.dumps(str(FAKE_CLI))}, "--reports", "always"]\n'
            '[runtime.agents.missing]\ncommand = "no-such-program-anywhere"\n'
            f"[runtime.agents.broken]\ncommand = {json.dumps(str(damaged))}\n"
        )
        yield home


@pytest.fixture
async def start_api(api_home: Path, tmp_path: Path) -> AsyncIterator[StartApi]:
    """Start servers, and end them after the test."""
    async with open_servers(api_home, tmp_path) as start:
        yield start


@asynccontextmanager
async def open_servers(home: Path, folder: Path) -> AsyncIterator[StartApi]:
    """Start servers, and end them at the end.

    Args:
        home: Their home.
        folder: The folder in which their folder of work is made.
    """
    servers: list[ApiProcess] = []
    root = folder / "work"
    root.mkdir()

    async def start(*flags: str, replies: tuple[str, ...] = (), **variables: str) -> ApiProcess:
        script = folder / f"script{len(servers)}.json"
        script.write_text(json.dumps([{"text": reply} for reply in replies]))
        variables = {"LSP_HARNESS_ENGINE__SCRIPT": str(script), "LOG_LEVEL": "debug", **variables}
        server = await launch_api(home, root, *flags, preload=API_MODULES, **variables)
        servers.append(server)
        await server.wait_until_ready()
        return server

    try:
        yield start
    finally:
        for server in servers:
            with suppress(ProcessLookupError):
                await server.end()


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
