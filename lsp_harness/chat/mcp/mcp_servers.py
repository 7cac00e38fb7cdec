"""The MCP servers of a session: their tools, their states and their ends.

The library is an extra and takes long to import, so it is imported when a server is started.
"""

import asyncio
import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Literal, Self

from lsp_harness.chat.mcp.mcp_tool import McpTool
from lsp_harness.chat.mcp.server_connection import ServerConnection
from lsp_harness.chat.mcp.server_specs import ServerSpec
from lsp_harness.chat.tool import Tool
from lsp_harness.errors import ExtraMissing, HarnessError
from lsp_harness.extras import need_extra

DEFAULT_START_S = 20.0


@dataclass(frozen=True, slots=True)
class McpServerStatus:
    """The state of a server.

    Attributes:
        name: The name.
        status: "running", "failed" or "disabled".
        reason: Why it failed, or a remark about tools that cannot be offered.
        tools: The names of its tools in this session.
    """

    name: str
    status: Literal["running", "failed", "disabled"]
    reason: str = ""
    tools: tuple[str, ...] = ()


class McpServers:
    """The servers of a session. As a context manager it starts them all at once, and ends them.

    Attributes:
        problems: The name of each server that cannot be used → why, and remarks about tools that cannot be offered.

    Args:
        specs: The servers. Those that are not enabled are left out.
        folder: The workspace folder, in which programs run.
        start_s: The time in which a server must list its tools.
    """

    def __init__(
        self, specs: Iterable[ServerSpec], folder: Path | None = None, *, start_s: float = DEFAULT_START_S
    ) -> None:
        self._specs = tuple(specs)
        self._connections = [ServerConnection(spec, folder, start_s) for spec in self._specs if spec.is_enabled]
        self._tools: dict[str, Tool] = {}
        self._failed: set[str] = set()
        self._built: Mapping[str, int] = {}
        self.problems: dict[str, str] = {}

    async def __aenter__(self) -> Self:
        if not self._connections:
            return self
        try:
            await asyncio.to_thread(_import_library)
        except ExtraMissing as error:
            self.problems |= dict.fromkeys((connection.spec.name for connection in self._connections), error.message)
            self._connections = []
            return self
        try:
            await asyncio.gather(*(self._start(connection) for connection in self._connections))
        except BaseException:
            await self._stop()
            raise
        self._build_tools()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._stop()

    async def refresh(self) -> bool:
        """Read the lists of tools that have changed again. Return whether there may be other tools now."""
        changed = [connection for connection in self._connections if connection.has_changed]
        await asyncio.gather(*(connection.list_again() for connection in changed))
        if self._built == self._read_revisions():
            return False
        self._build_tools()
        return True

    def tools(self) -> Mapping[str, Tool]:
        """Return the tools by their names, those of a server in its own order."""
        return dict(self._tools)

    def status(self) -> list[McpServerStatus]:
        """Return the state of each server, in the order of the settings."""
        return [self._status_of(spec) for spec in self._specs]

    def _status_of(self, spec: ServerSpec) -> McpServerStatus:
        if not spec.is_enabled:
            return McpServerStatus(spec.name, "disabled", "it is not enabled in the settings")
        connection = next((item for item in self._connections if item.spec is spec), None)
        reason = self.problems.get(spec.name, "")
        if connection is None or spec.name in self._failed or connection.signs.is_over.is_set():
            return McpServerStatus(spec.name, "failed", reason or "the server has ended")
        tools = [name for name, tool in self._tools.items() if isinstance(tool, McpTool) and tool.server == spec.name]
        return McpServerStatus(spec.name, "running", reason, tuple(tools))

    async def _start(self, connection: ServerConnection) -> None:
        try:
            await connection.start()
        except HarnessError as error:
            self.problems[connection.spec.name] = error.message
            self._failed.add(connection.spec.name)

    async def _stop(self) -> None:
        await asyncio.gather(*(connection.stop() for connection in self._connections))

    def _read_revisions(self) -> Mapping[str, int]:
        return {connection.spec.name: connection.revision for connection in self._connections}

    def _build_tools(self) -> None:
        self._tools.clear()
        self._built = self._read_revisions()
        for connection in self._connections:
            self._add_tools(connection)

    def _add_tools(self, connection: ServerConnection) -> None:
        spec, remarks = connection.spec, list[str]()
        listed = {tool.name for tool in connection.listed}
        if absent := sorted((spec.tools or frozenset()) - listed) if listed else []:
            remarks.append(f"the MCP server {spec.name} has no tool {', '.join(absent)}; correct the list tools")
        for tool in connection.listed:
            if spec.tools is not None and tool.name not in spec.tools:
                continue
            added = McpTool(connection, tool)
            if added.name in self._tools:
                remarks.append(f"the tool {tool.name} of the MCP server {spec.name} has the name of another one")
            else:
                self._tools[added.name] = added
        if spec.name not in self._failed:
            self.problems.pop(spec.name, None)
        if remarks:
            self.problems[spec.name] = "; ".join(remarks)


def _import_library() -> None:
    """Import the library, and keep its messages off the terminal: our own say what matters. Raise ExtraMissing."""
    with need_extra("mcp"):
        import mcp

    logging.getLogger(mcp.__name__).setLevel(logging.CRITICAL)
