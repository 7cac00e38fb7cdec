"""The agent that an editor starts, over the Agent Client Protocol."""

import json
import tempfile
from collections.abc import Awaitable, Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from acp import PROTOCOL_VERSION, RequestError
from acp.helpers import update_available_commands, update_current_mode
from acp.interfaces import Client
from acp.schema import (
    AgentCapabilities,
    AuthenticateResponse,
    AvailableCommand,
    ClientCapabilities,
    CloseSessionResponse,
    ForkSessionResponse,
    HttpMcpServer,
    Implementation,
    InitializeResponse,
    ListSessionsResponse,
    LoadSessionResponse,
    McpCapabilities,
    McpServerStdio,
    NewSessionResponse,
    PromptCapabilities,
    PromptResponse,
    ResumeSessionResponse,
    SessionCapabilities,
    SessionCloseCapabilities,
    SessionConfigOptionSelect,
    SessionConfigSelectOption,
    SessionForkCapabilities,
    SessionInfo,
    SessionListCapabilities,
    SessionMode,
    SessionModeState,
    SessionResumeCapabilities,
    SetSessionConfigOptionResponse,
    SetSessionModeResponse,
)

from lsp_harness.acp.client_session import UNDO, ClientSession
from lsp_harness.acp.client_texts import ClientTexts
from lsp_harness.errors import HarnessError, UsageError
from lsp_harness.files.folders import resolve_links
from lsp_harness.kernel.log.log_reader import read_history
from lsp_harness.kernel.log.session_store import SessionStore
from lsp_harness.permission.mode_table import MODE_TABLE
from lsp_harness.sessions.session_list import list_rows
from lsp_harness.sessions.session_opening import Surroundings, open_session
from lsp_harness.sessions.session_options import DRIVERS, SessionOptions
from lsp_harness.text.surrogates import to_scalar_text
from lsp_harness.wire.version import VERSION

T = TypeVar("T")
DRIVER = "driver"
DRIVER_TEXTS = {
    "chat": ("Chat", "A conversation with a model that uses tools."),
    "code": ("Code", "Each prompt becomes one checked edit, or an answer."),
}
PAGE = 50
"""Most sessions in one answer."""
MAX_CURSOR_DIGITS = 10


class EditorAgent:
    """The agent of one client.

    Args:
        options: The options of all sessions: the provider, the model, the driver.
    """

    def __init__(self, options: SessionOptions) -> None:
        self._options = options
        self._store = SessionStore()
        self._sessions: dict[str, ClientSession] = {}
        self._capabilities = ClientCapabilities()
        self._connected: Client | None = None

    def on_connect(self, conn: Client) -> None:
        """Keep the connection to the client."""
        self._connected = conn

    @property
    def _client(self) -> Client:
        assert self._connected, "a request comes over a connection"
        return self._connected

    # -- connection
    async def initialize(
        self,
        protocol_version: int,
        client_capabilities: ClientCapabilities | None = None,
        client_info: Implementation | None = None,
        **more: Any,
    ) -> InitializeResponse:
        """Return what this agent can do."""
        # the library has a table instead of what does not fit
        is_valid = isinstance(client_capabilities, ClientCapabilities)
        self._capabilities = client_capabilities if is_valid else ClientCapabilities()
        sessions = SessionCapabilities(
            list=SessionListCapabilities(),
            fork=SessionForkCapabilities(),
            resume=SessionResumeCapabilities(),
            close=SessionCloseCapabilities(),
        )
        return InitializeResponse(
            protocol_version=min(protocol_version, PROTOCOL_VERSION),
            agent_capabilities=AgentCapabilities(
                load_session=True,
                prompt_capabilities=PromptCapabilities(embedded_context=True),
                mcp_capabilities=McpCapabilities(http=True),
                session_capabilities=sessions,
            ),
            agent_info=Implementation(name="lsp-harness", title="lsp-harness", version=VERSION),
            auth_methods=[],
        )

    async def authenticate(self, method_id: str, **more: Any) -> AuthenticateResponse | None:
        """Do nothing: the model is local, and keys of services are in the environment."""
        return AuthenticateResponse()

    # -- sessions
    async def new_session(
        self, cwd: str, additional_directories: Any = None, mcp_servers: Sequence[Any] | None = None, **more: Any
    ) -> NewSessionResponse:
        """Begin a session."""
        session = await _answer(self._open(cwd, mcp_servers or ()))
        return NewSessionResponse(session_id=session.id, **_session_settings(session))

    async def load_session(
        self,
        cwd: str,
        session_id: str,
        mcp_servers: Sequence[Any] | None = None,
        additional_directories: Any = None,
        **more: Any,
    ) -> LoadSessionResponse | None:
        """Continue a saved session, and send what happened in it."""
        session = await _answer(self._continue_session(cwd, session_id, mcp_servers or ()))
        session.replay(read_history(self._store.folder, session.id))
        await session.flush()
        return LoadSessionResponse(**_session_settings(session))

    async def resume_session(
        self,
        session_id: str,
        cwd: str,
        additional_directories: Any = None,
        mcp_servers: Sequence[Any] | None = None,
        **more: Any,
    ) -> ResumeSessionResponse:
        """Continue a saved session without its history."""
        session = await _answer(self._continue_session(cwd, session_id, mcp_servers or ()))
        return ResumeSessionResponse(**_session_settings(session))

    async def fork_session(
        self,
        session_id: str,
        cwd: str,
        additional_directories: Any = None,
        mcp_servers: Sequence[Any] | None = None,
        **more: Any,
    ) -> ForkSessionResponse:
        """Begin a session that continues another one."""
        session = await _answer(self._fork(session_id, cwd, mcp_servers or ()))
        return ForkSessionResponse(session_id=session.id, **_session_settings(session))

    async def list_sessions(
        self, cwd: str | None = None, cursor: str | None = None, **more: Any
    ) -> ListSessionsResponse:
        """Return the saved sessions, the newest first."""
        folder = resolve_links(Path(cwd)) if cwd else None
        rows = [row for row in list_rows(self._store) if row.folder]
        if folder:
            rows = [row for row in rows if resolve_links(Path(row.folder)) == folder]
        start = int(cursor) if cursor and cursor.isdecimal() and len(cursor) < MAX_CURSOR_DIGITS else 0
        shown = rows[start : start + PAGE]
        sessions = [
            SessionInfo(
                session_id=row.id,
                cwd=to_scalar_text(row.folder),
                title=to_scalar_text(row.title) or None,
                updated_at=row.started_at,
            )
            for row in shown
        ]
        more_rows = str(start + PAGE) if len(rows) > start + PAGE else None
        return ListSessionsResponse(sessions=sessions, next_cursor=more_rows)

    async def close_session(self, session_id: str, **more: Any) -> CloseSessionResponse | None:
        """Let other processes continue a session."""
        session = self._require(session_id)
        del self._sessions[session.id]
        await _answer(session.aclose())
        return CloseSessionResponse()

    # -- turns
    async def prompt(self, session_id: str, prompt: list[Any], **more: Any) -> PromptResponse:
        """Run a turn, and return why it ended."""
        reason, usage = await _answer(self._require(session_id).prompt(prompt))
        return PromptResponse(stop_reason=reason, usage=usage)

    async def cancel(self, session_id: str, **more: Any) -> None:
        """Stop the running turn of a session."""
        if session := self._sessions.get(session_id):
            session.cancel()

    async def set_session_mode(self, session_id: str, mode_id: str, **more: Any) -> SetSessionModeResponse | None:
        """Change the permission mode of a session."""
        session = self._require(session_id)
        await _answer(session.opened.set_permission_mode(mode_id))
        await self._client.session_update(session_id=session.id, update=update_current_mode(mode_id))
        return SetSessionModeResponse()

    async def set_config_option(
        self, config_id: str, session_id: str, value: str | bool, **more: Any
    ) -> SetSessionConfigOptionResponse | None:
        """Change the driver of a session from the next prompt on."""
        opened = self._require(session_id).opened
        if config_id != DRIVER or value not in DRIVERS:
            raise RequestError.invalid_params({"message": f"{config_id} cannot be {value!r}"})
        opened.options = replace(opened.options, driver=str(value))
        return SetSessionConfigOptionResponse(config_options=[_driver_option(str(value))])

    async def ext_method(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """Refuse a method of another vendor."""
        raise RequestError.method_not_found(f"_{method}")

    async def ext_notification(self, method: str, params: dict[str, Any]) -> None:
        """Ignore a notification of another vendor."""

    async def aclose(self) -> None:
        """Close all sessions."""
        sessions, self._sessions = list(self._sessions.values()), {}
        for session in sessions:
            with suppress(HarnessError):
                await session.aclose()

    # -- parts
    def _require(self, session_id: str) -> ClientSession:
        session = self._sessions.get(session_id)
        if session is None:
            raise RequestError.invalid_params({"message": f"there is no open session {session_id!r}"})
        return session

    async def _open(self, cwd: str, servers: Sequence[Any], resume: str = "") -> ClientSession:
        if not Path(cwd).is_absolute():
            raise UsageError(f"cwd must be an absolute path, not {cwd!r}")
        texts = ClientTexts(self._client, self._capabilities.fs)
        options = replace(self._options, cwd=cwd, resume=resume, has_person=True, source="acp")
        with _server_file(servers) as file:
            options = replace(options, mcp_config=file or options.mcp_config)
            opened = await open_session(options, None, Surroundings(editor_texts=texts))
        session = self._sessions[opened.session.id] = ClientSession(opened, self._client, texts)
        opened.record_start()
        commands = [AvailableCommand(name=UNDO[1:], description="Undo the last edits of this session")]
        session.send(update_available_commands(commands))  # pyright: ignore[reportArgumentType]
        return session

    async def _continue_session(self, cwd: str, session_id: str, servers: Sequence[Any]) -> ClientSession:
        """Open a saved session. Raise UsageError if it belongs to another folder."""
        if session := self._sessions.get(session_id):
            return session
        row = next((row for row in list_rows(self._store) if row.id == session_id), None)
        if row is None:
            raise UsageError(f"there is no session {session_id!r}")
        if resolve_links(Path(row.folder)) != resolve_links(Path(cwd)):
            raise UsageError(f"the session {session_id} belongs to {row.folder}, not to {cwd}")
        return await self._open(cwd, servers, session_id)

    async def _fork(self, session_id: str, cwd: str, servers: Sequence[Any]) -> ClientSession:
        forked = self._store.fork(self._store.find(session_id))
        forked.log.close()
        return await self._open(cwd, servers, forked.log.id)


async def _answer(work: Awaitable[T]) -> T:
    """Return the result of some work. An error of ours becomes one of the protocol, with its message."""
    try:
        return await work
    except UsageError as error:
        raise RequestError(-32602, error.message) from error
    except HarnessError as error:
        raise RequestError(-32603, error.message) from error


def _session_settings(session: ClientSession) -> Mapping[str, Any]:
    opened = session.opened
    modes = [SessionMode(id=mode, name=mode, description=row.meaning) for mode, row in MODE_TABLE.items()]
    state = SessionModeState(current_mode_id=opened.permission_mode, available_modes=modes)
    return {"modes": state, "config_options": [_driver_option(opened.options.driver_name)]}


def _driver_option(driver: str) -> SessionConfigOptionSelect:
    options = [
        SessionConfigSelectOption(value=name, name=DRIVER_TEXTS[name][0], description=DRIVER_TEXTS[name][1])
        for name in DRIVERS
    ]
    return SessionConfigOptionSelect(
        id=DRIVER, name="Driver", type="select", category="mode", current_value=driver, options=options
    )


@contextmanager
def _server_file(servers: Sequence[Any]) -> Generator[str]:
    """Yield the path of a file with the MCP servers of the client, or an empty text. Only the user can read it."""
    entries: dict[str, Any] = {}
    for server in servers:
        match server:
            case McpServerStdio():
                variables = {item.name: item.value for item in server.env}
                entries[server.name] = {"command": server.command, "args": server.args, "env": variables}
            case HttpMcpServer():
                headers = {item.name: item.value for item in server.headers}
                entries[server.name] = {"type": "http", "url": server.url, "headers": headers}
            case _:
                raise UsageError(f"the MCP server {server.name} has a transport that is not known here")
    if not entries:
        yield ""
        return
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump({"mcpServers": entries}, file)
        file.flush()
        yield file.name
