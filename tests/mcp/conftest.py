"""A project, and `lsp-harness mcp` over both transports with the client of the official SDK."""

import asyncio
import os
import sys
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client

from tests.support.forked_mcp import open_forked_stdio_client
from tests.support.forked_process import ForkedProcess
from tests.support.scripted_session import Reply, write_script

AREA, EDGE = (
    "def area(radius):\n    return 3 * radius + math.pi\n",
    "def edge(radius):\n    return 2 * area(radius)\n",
)
GEO = f"import math\n\n\n{AREA}\n\n{EDGE}"
EARLIER, LATEST = "legacy", "2026-07-28"
"""The handshake of 2025-11-25, and the version without one."""
MCP_MODULES = ("lsp_harness.cli.usage_errors", "lsp_harness.cli.commands.mcp_cli", "lsp_harness.mcp.project_server")
Connect = Callable[..., AbstractAsyncContextManager[Client]]


@dataclass
class ServedFolder:
    """A project with one file, and the home of its user.

    Attributes:
        root: The project.
        home: The home.
        options: More arguments of `lsp-harness mcp`.
    """

    root: Path
    home: Path
    options: list[str] = field(default_factory=list[str])

    @property
    def argv(self) -> list[str]:
        """The command line of the server."""
        return [sys.executable, "-m", "lsp_harness", "mcp", "--project", str(self.root), *self.options]

    @property
    def environment(self) -> dict[str, str]:
        """The environment of the server."""
        return {**os.environ, "LSP_HARNESS_HOME": str(self.home)}

    def script(self, *replies: Reply) -> None:
        """Let the model answer with these replies."""
        self.options += ["--provider", write_script(self.root.parent, *replies)]

    @asynccontextmanager
    async def serve_http(self) -> AsyncGenerator[tuple[str, str]]:
        """Start the server, and yield its URL and the token."""
        process = await ForkedProcess.start(
            *self.argv[1:], "--http", "0", env=self.environment, preload=(*MCP_MODULES, "lsp_harness.mcp.http_serving")
        )
        try:
            line = await asyncio.wait_for(process.stderr.readline(), 60)
            words = line.decode().split()
            token = Path(words[-1]).read_text().strip()
            yield words[words.index("at") + 1].rstrip(";"), token
        finally:
            process.terminate()
            await asyncio.wait_for(process.wait(), 30)
            process.close()


@pytest.fixture
def served(tmp_path: Path) -> ServedFolder:
    """A project with one file."""
    root = tmp_path / "project"
    root.mkdir()
    (root / "geo.py").write_text(GEO)
    (root / "pyproject.toml").write_text('[project]\nname = "geo"\n')
    return ServedFolder(root, tmp_path / "home")


@asynccontextmanager
async def connect_stdio(served: ServedFolder, mode: str, **options: Any) -> AsyncGenerator[Client]:
    """Start the server as an agent does, and connect to it."""
    parameters = StdioServerParameters(command=served.argv[0], args=served.argv[1:], env=served.environment)
    async with Client(stdio_client(parameters), mode=mode, **options) as client:
        yield client


@asynccontextmanager
async def connect_forked(served: ServedFolder, mode: str, **options: Any) -> AsyncGenerator[Client]:
    """Start the server as a copy of a process with its modules, and connect to its standard streams."""
    streams = open_forked_stdio_client(served.argv[1:], served.environment, MCP_MODULES)
    async with Client(streams, mode=mode, **options) as client:
        yield client


@asynccontextmanager
async def connect_http(served: ServedFolder, mode: str, **options: Any) -> AsyncGenerator[Client]:
    """Start a server with HTTP, and connect to it."""
    async with served.serve_http() as (url, token):
        headers = {"Authorization": f"Bearer {token}"}
        async with (
            httpx2.AsyncClient(headers=headers, timeout=60) as web,
            Client(streamable_http_client(url, http_client=web), mode=mode, **options) as client,
        ):
            yield client


CONNECTIONS = {
    f"stdio {EARLIER}": connect_stdio,
    f"stdio {LATEST}": connect_forked,
    f"http {EARLIER}": connect_http,
    f"http {LATEST}": connect_http,
}


@pytest.fixture(params=CONNECTIONS)
def connect(request: pytest.FixtureRequest) -> Connect:
    """Return a function that connects to the server of a folder, over each transport and in each version."""
    start, mode = CONNECTIONS[request.param], request.param.split()[1]
    return lambda served, **options: start(served, mode, **options)


def read_result_text(result: Any) -> str:
    """Return the text of the result of a tool."""
    [content] = result.content
    return content.text
