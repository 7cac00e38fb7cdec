"""The ways to reach a server of tools: the standard streams of a program, and streamable HTTP."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lsp_harness.chat.mcp.error_output import ErrorOutput
from lsp_harness.chat.mcp.server_specs import ServerSpec
from lsp_harness.errors import ConfigError

if TYPE_CHECKING:
    from mcp.client._transport import Transport

HTTP_READ_S = 3600.0
"""Time between two parts of an answer. The limit of a call is shorter."""


def open_transport(
    spec: ServerSpec, folder: Path | None, error_output: ErrorOutput, is_over: asyncio.Event
) -> "Transport":
    """Return the transport to a server.

    Args:
        spec: The server, with the values of variables.
        folder: The folder in which a program runs, if the settings name none.
        error_output: It gets the standard error of a program.
        is_over: Set as soon as a program has closed its standard output.
    """
    return _http(spec) if spec.url else _program(spec, folder, error_output, is_over)


@asynccontextmanager
async def _program(
    spec: ServerSpec, folder: Path | None, error_output: ErrorOutput, is_over: asyncio.Event
) -> AsyncGenerator[tuple[Any, Any]]:
    import anyio
    from mcp import StdioServerParameters, stdio_client

    cwd = folder / spec.cwd if folder and spec.cwd else spec.cwd or folder
    if cwd and not cwd.is_dir():
        raise ConfigError(
            f"there is no folder {cwd} for the MCP server {spec.name}; correct mcp.servers.{spec.name}.cwd"
        )
    parameters = StdioServerParameters(command=spec.command, args=list(spec.args), env=dict(spec.env), cwd=cwd)
    async with stdio_client(parameters, error_output.file) as (reader, writer):
        sender, receiver = anyio.create_memory_object_stream[Any](0)

        async def forward() -> None:
            async with sender:
                with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
                    async for message in reader:
                        await sender.send(message)
            is_over.set()

        async with anyio.create_task_group() as group:
            group.start_soon(forward)
            try:
                yield receiver, writer
            finally:
                receiver.close()
                group.cancel_scope.cancel()


@asynccontextmanager
async def _http(spec: ServerSpec) -> AsyncGenerator[tuple[Any, Any]]:
    import httpx2
    from mcp.client.streamable_http import streamable_http_client

    timeout = httpx2.Timeout(30.0, read=HTTP_READ_S)
    # a redirection could send the headers, which have keys, to another machine
    async with (
        httpx2.AsyncClient(headers=dict(spec.headers), timeout=timeout, follow_redirects=False) as http,
        streamable_http_client(spec.url, http_client=http) as streams,
    ):
        yield streams
