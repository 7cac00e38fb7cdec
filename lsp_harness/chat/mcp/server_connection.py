"""The connection to one server of tools: it is started, called, started again once, and ended.

The library wants a connection to be opened and closed in the same task, so each connection has a task of its own. A
server that fails, hangs or ends is an error of its tools and never one of the session.
"""

import asyncio
import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from lsp_harness.chat.mcp.server_specs import ServerSpec, expand_spec
from lsp_harness.chat.mcp.server_transport import CLOSED_CODE, TIMEOUT_CODE, ErrorOutput, ServerSigns, open_transport
from lsp_harness.errors import HarnessError
from lsp_harness.files.secret_values import hide_variables
from lsp_harness.files.secrets import redact
from lsp_harness.text.surrogates import to_scalar_value

if TYPE_CHECKING:
    from mcp import Client
    from mcp_types import CallToolResult, Tool

STOP_S = 8.0
"""Time for a server to end. The library ends its processes within it."""
RELIST_S = 5.0
"""Time for a server to list its tools again. A step of a conversation waits for it."""
LISTEN_S = 2.0
"""Time for a server to agree that it tells of changes."""
POLL_S = 30.0
"""Time between two looks at the list of a server that cannot tell of changes."""
MAX_TOOLS = 200
MAX_PAGES = 50
"""Most pages of a list of tools. A server may say without an end that there is another one."""
MAX_RESTARTS = 1
MAX_PROGRESS_CHARS = 1_000


class ServerFailed(HarnessError):
    """A server of tools cannot be used, or did not answer."""


class ServerConnection:
    """One server of tools.

    Attributes:
        spec: The description of the server.
        listed: The tools that the server listed last.
        revision: The number of different lists that it gave, one after another.
        signs: What its messages say about it.

    Args:
        spec: The server.
        folder: The folder in which its program runs, if the settings name none.
        start_s: The time to start and to list the tools.
    """

    def __init__(self, spec: ServerSpec, folder: Path | None, start_s: float) -> None:
        self.spec = spec
        self.listed: Sequence[Tool] = ()
        self.revision = 0
        self._folder = folder
        self._start_s = start_s
        self._client: Client | None = None
        self._task: asyncio.Task[None] | None = None
        self.signs = ServerSigns()
        self._must_end = asyncio.Event()
        self._restart_lock = asyncio.Lock()
        self._restarts = 0
        self._error_output = ErrorOutput()
        self._next_look_s = math.inf

    @property
    def has_changed(self) -> bool:
        """True if the server may have other tools than those that it listed last."""
        return self.signs.tools_changed.is_set() or time.monotonic() >= self._next_look_s

    async def start(self) -> None:
        """Start or reach the server, and list its tools. Raises ServerFailed."""
        self.signs, self._must_end = ServerSigns(), asyncio.Event()
        ready = asyncio.get_running_loop().create_future()
        self._task = asyncio.create_task(self._serve(ready), name=f"MCP server {self.spec.name}")
        try:
            async with asyncio.timeout(self._start_s):
                await asyncio.shield(ready)
        except TimeoutError as error:
            await self.stop()
            raise ServerFailed(
                f"the MCP server {self.spec.name} did not answer within {self._start_s:g} s{self._last_words()}"
            ) from error
        except BaseException:
            await self.stop()
            raise

    async def stop(self) -> None:
        """End the connection, and the program with all its processes."""
        task, client = self._task, self._client
        self._task = self._client = None
        if task is None:
            return
        self._must_end.set()
        if client is None:
            # it may wait for an answer
            task.cancel()
        await asyncio.wait({task}, timeout=STOP_S)
        if not task.done():
            task.cancel()

    async def call(self, tool: str, arguments: Mapping[str, Any], report: Callable[[str], None]) -> "CallToolResult":
        """Call a tool.

        Raises:
            ServerFailed: The server did not answer in time, ended, refused the call, or gave an answer that is not
                valid. A call is never repeated, because it may have had its effect.
        """
        client = await self._find_client()

        async def report_progress(progress: float, total: float | None, message: str | None) -> None:
            text = message or (f"{progress:g} of {total:g}" if total else f"{progress:g}")
            report(redact(text[:MAX_PROGRESS_CHARS]))

        seconds, given = self.spec.timeout_s, to_scalar_value(dict(arguments))
        try:
            # the library has a limit of its own, but a server may also stop reading
            async with asyncio.timeout(seconds + 1):
                return await client.call_tool(tool, given, seconds, progress_callback=report_progress)
        except TimeoutError as error:
            raise self._too_slow(tool) from error
        except Exception as error:
            raise self._describe_call(tool, next(_list_causes(error))) from error

    async def list_again(self) -> None:
        """Read the list of tools again. What cannot be read leaves the list as it is."""
        self.signs.tools_changed.clear()
        self._next_look_s = max(self._next_look_s, time.monotonic() + POLL_S)
        if (client := self._client) is None or self.signs.is_over.is_set():
            return
        with suppress(Exception):
            async with asyncio.timeout(RELIST_S):
                self._keep_list(await _list_tools(client))

    def _keep_list(self, tools: "Sequence[Tool]") -> None:
        if tools != self.listed:
            self.listed = tools
            self.revision += 1

    def _describe_call(self, tool: str, error: BaseException) -> ServerFailed:
        """Return the error for a call that failed, and note whether the server has ended.

        An error that the server has sent is an answer, whatever its code is.
        """
        name, code = self.spec.name, getattr(error, "code", 0)
        if code == TIMEOUT_CODE:
            return self._too_slow(tool)
        if _is_library_error(error) and code != CLOSED_CODE:
            return ServerFailed(f"the MCP server {name} refused the call: {_describe(error)}")
        if not self.signs.is_over.is_set() and code != CLOSED_CODE and _is_answer_error(error):
            return ServerFailed(f"the MCP server {name} gave an answer that is not valid: {_describe(error)}")
        self.signs.is_over.set()
        again = "it is started again for the next call" if self._restarts < MAX_RESTARTS else "it stays off"
        return ServerFailed(f"the MCP server {name} ended during the call; {again}{self._last_words()}")

    async def _find_client(self) -> "Client":
        """Return the connected client. A server that has ended is started again once. Raises ServerFailed."""
        async with self._restart_lock:
            if self._client is None or self.signs.is_over.is_set():
                if self._restarts == MAX_RESTARTS:
                    raise ServerFailed(
                        f"the MCP server {self.spec.name} has ended and was started again once before; see why, and "
                        f"start a new session{self._last_words()}"
                    )
                self._restarts += 1
                await self.stop()
                await self.start()
            assert self._client
            return self._client

    async def _serve(self, ready: "asyncio.Future[None]") -> None:
        """Hold the connection open until it must end."""
        signs = self.signs
        try:
            async with AsyncExitStack() as stack:
                client = await self._connect(stack, signs)
                await self._follow_changes(stack, client)
                self._keep_list(await _list_tools(client))
                self._client = client
                if not ready.done():
                    ready.set_result(None)
                await self._must_end.wait()
        except Exception as error:  # noqa: BLE001 - whatever a server does is an error of its tools
            if not ready.done():
                ready.set_exception(self._describe_start(next(_list_causes(error))))
        finally:
            signs.is_over.set()
            if not ready.done():
                ready.cancel()

    async def _follow_changes(self, stack: AsyncExitStack, client: "Client") -> None:
        """Ask a server of the newest protocol to tell of changes of its tools. Older ones do it without being asked.

        At an address this would hold a connection open for the whole session, so its list is looked at now and then.
        """
        from mcp_types.version import MODERN_PROTOCOL_VERSIONS

        tools, self._next_look_s = client.server_capabilities.tools, math.inf
        if client.protocol_version not in MODERN_PROTOCOL_VERSIONS or not (tools and tools.list_changed):
            return
        if self.spec.url:
            self._next_look_s = time.monotonic() + POLL_S
            return
        with suppress(Exception):
            async with asyncio.timeout(LISTEN_S):
                await stack.enter_async_context(client.listen(tools_list_changed=True))

    async def _connect(self, stack: AsyncExitStack, signs: ServerSigns) -> "Client":
        from mcp import Client

        spec = expand_spec(self.spec)
        # its tools and its errors may say the keys that the settings give it
        stack.enter_context(hide_variables({**spec.env, **spec.headers}))
        self._error_output = stack.enter_context(ErrorOutput())
        transport = open_transport(spec, self._folder, self._error_output, signs)
        return await stack.enter_async_context(Client(transport, read_timeout_seconds=self._start_s))

    def _describe_start(self, error: BaseException) -> ServerFailed:
        """Return the error for a server that cannot be started."""
        name = self.spec.name
        if isinstance(error, HarnessError):
            return ServerFailed(error.message)
        if isinstance(error, OSError) and self.spec.command:
            remedy = f"install it, or correct mcp.servers.{name}.command"
            return ServerFailed(
                f"the program {self.spec.command} of the MCP server {name} cannot be started: "
                f"{(error.strerror or str(error)).lower()}; {remedy}"
            )
        if getattr(error, "code", 0) == CLOSED_CODE:
            return ServerFailed(f"the MCP server {name} ended while it was started{self._last_words()}")
        where = f" at {self.spec.url}" if self.spec.url else ""
        return ServerFailed(f"the MCP server {name}{where} cannot be used: {_describe(error)}{self._last_words()}")

    def _too_slow(self, tool: str) -> ServerFailed:
        return ServerFailed(
            f"{tool} of the MCP server {self.spec.name} did not answer within {self.spec.timeout_s:g} s; "
            f"mcp.servers.{self.spec.name}.timeout_s sets the limit"
        )

    def _last_words(self) -> str:
        text = self._error_output.last_line
        return f". It wrote: {redact(text)}" if text else ""


async def _list_tools(client: "Client") -> "list[Tool]":
    tools: list[Tool] = []
    cursor: str | None = None
    for _ in range(MAX_PAGES):
        # the library may have an earlier list
        page = await client.list_tools(cursor=cursor, cache_mode="refresh")
        tools += page.tools
        cursor = page.next_cursor
        if not cursor or len(tools) >= MAX_TOOLS:
            break
    return tools[:MAX_TOOLS]


def _list_causes(error: BaseException) -> Iterator[BaseException]:
    """Yield the errors that a group of errors contains, or the error itself."""
    if isinstance(error, BaseExceptionGroup):
        for inner in cast("BaseExceptionGroup[BaseException]", error).exceptions:
            yield from _list_causes(inner)
    else:
        yield error


def _is_library_error(error: BaseException) -> bool:
    from mcp import MCPError

    return isinstance(error, MCPError)


def _is_answer_error(error: BaseException) -> bool:
    """Return whether the library could not use an answer: it does not fit the protocol, or the schema of its tool."""
    return isinstance(error, ValueError | RuntimeError)


def _describe(error: BaseException) -> str:
    text = " ".join(str(error).split()) or type(error).__name__
    with suppress(AttributeError):
        # an error of HTTP names the address with its query, which may have a key
        return f"HTTP status {error.response.status_code}"  # type: ignore[attr-defined]
    return redact(text[:300])
