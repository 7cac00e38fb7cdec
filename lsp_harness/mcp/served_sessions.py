"""Sessions in a served folder, and their URIs, for programs that send prompts and read what became of them."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from lsp_harness.errors import HarnessError, UsageError
from lsp_harness.events.session_events import TurnStopped
from lsp_harness.files.folders import resolve_links
from lsp_harness.kernel.artifacts import ArtifactPart, read_artifact
from lsp_harness.kernel.ingress import Ingress
from lsp_harness.kernel.log.log_reader import read_history
from lsp_harness.kernel.log.session_store import SessionStore
from lsp_harness.mcp.served_project import ServedProject
from lsp_harness.sessions.edit_driver import EditDriver
from lsp_harness.sessions.open_session import OpenSession
from lsp_harness.sessions.session_export import render_transcript
from lsp_harness.sessions.session_list import SessionRow, list_rows
from lsp_harness.sessions.session_opening import Surroundings, open_session
from lsp_harness.sessions.session_options import SessionOptions
from lsp_harness.wire.event import Event
from lsp_harness.wire.session_options import Driver

SCHEME = "lsp-harness"
SESSIONS_URI = f"{SCHEME}://sessions"
SESSION_URI = f"{SCHEME}://sessions/{{session}}"
ARTIFACTS_URI = f"{SCHEME}://sessions/{{session}}/artifacts"
ARTIFACT_URI = f"{SCHEME}://sessions/{{session}}/artifacts/{{artifact}}"
VERDICT_URI = f"{SCHEME}://verdicts/{{session}}/{{turn}}"


def session_uri(session_id: str) -> str:
    """Return the URI of the transcript of a session."""
    return SESSION_URI.format(session=session_id)


def verdict_uri(document: str) -> str:
    """Return the URI of the details of a verdict, by the name of its document."""
    return f"{SCHEME}://verdicts/{document}"


MAX_LISTED = 50
"""Most sessions in a list."""
SHOWN_CHARS = 2_000
"""Characters of each part of a transcript."""


@dataclass(frozen=True, slots=True)
class ServedTurn:
    """The end of a turn.

    Attributes:
        session_id: The id of the session.
        reason: Why it ended (see `TurnStopped`).
        detail: The reason in words.
        text: The answer of the model.
        events: The events of the turn.
    """

    session_id: str
    reason: str
    detail: str
    text: str
    events: tuple[Event, ...]

    def find(self, type: str) -> list[Mapping[str, Any]]:
        """Return the data of the events of a type."""
        return [event.data for event in self.events if event.type == type]


class ServedSessions:
    """The sessions of one folder. Each turn opens its session and closes it again, so that others can go on with it.

    Args:
        project: The served folder.
        options: The options of all sessions: the provider, the model, the permission mode.
    """

    def __init__(self, project: ServedProject, options: SessionOptions) -> None:
        self._project = project
        mode = options.permission_mode or project.config.permissions.mode or "ask"
        self._options = replace(options, cwd=str(project.root), permission_mode=mode)
        self._store = SessionStore()
        self._busy: dict[str, asyncio.Lock] = {}
        self._open_sessions: list[OpenSession] = []

    async def run(
        self,
        prompt: str,
        *,
        session_id: str = "",
        driver: Driver | None = None,
        is_dry: bool = False,
        listen: Callable[[OpenSession, Event], None] = lambda opened, event: None,
        has_person: bool = False,
    ) -> ServedTurn:
        """Run one turn, and return its end. If the caller is cancelled, the turn is.

        Args:
            prompt: The prompt of the turn.
            session_id: The session to continue. Empty begins a new one.
            driver: The driver of a new session. None takes the one that fits the model.
            is_dry: Whether an edit of the driver `code` is proposed only.
            listen: Receives the events as they happen, with the session.
            has_person: Whether `listen` lets a person answer questions.

        Raises:
            UsageError: The prompt is empty, or the session cannot be used.
            HarnessError: The session cannot be opened.
        """
        if not prompt.strip():
            raise UsageError("the prompt is empty; write what to do")
        name = self._require(session_id).id if session_id else ""
        driver = None if name else driver
        lock = self._busy.setdefault(name, asyncio.Lock()) if name else asyncio.Lock()
        async with lock, self._open(name, driver, has_person=has_person) as opened:
            events: list[Event] = []

            def follow(event: Event) -> None:
                events.append(event)
                listen(opened, event)

            opened.session.log.listeners.append(follow)
            turn_driver = opened.create_driver()
            if is_dry and isinstance(turn_driver, EditDriver):
                turn_driver = replace(turn_driver, writes=False)
            try:
                stopped = await opened.submit(Ingress("message", prompt, source="mcp"), turn_driver)
            except HarnessError as error:
                stopped = TurnStopped(0, "error", error.message, "")
            return ServedTurn(opened.session.id, stopped.reason, stopped.detail, stopped.text, tuple(events))

    # -- what there is to read
    def list_saved(self) -> list[dict[str, Any]]:
        """Return the last sessions of the folder, the newest first."""
        return [asdict(row) for row in self._list_rows()[:MAX_LISTED]]

    def transcript(self, session_id: str) -> str:
        """Return what happened in a session, for a reader. Raise UsageError for an unknown id."""
        row = self._require(session_id)
        events = [*read_history(self._store.folder, row.id)]
        return "\n".join(render_transcript(events, SHOWN_CHARS))

    def list_artifacts(self, session_id: str) -> list[dict[str, Any]]:
        """Return the artifacts of a session. Raise UsageError for an unknown id."""
        row = self._require(session_id)
        events = read_history(self._store.folder, row.id)
        return [dict(event.data) for event in events if event.type == "artifact.created"]

    def read_artifact(self, session_id: str, artifact_id: str) -> ArtifactPart:
        """Return the beginning of an artifact. Raise UsageError for an unknown id."""
        row = self._require(session_id)
        return read_artifact(self._store.folder / row.id, artifact_id, 0)

    def verdict(self, name: str) -> str:
        """Return the document of a verdict, in Markdown. Raise UsageError if this folder has no such verdict."""
        log = self._project.services.session_log_if_any
        session_id = name.partition("/")[0]
        if log is None or log.id != session_id:
            self._require(session_id)
        return self._project.harness.turns.verdict(name)

    async def aclose(self) -> None:
        """Stop the turns that run, and wait until their sessions are closed."""
        await asyncio.gather(*map(self._close, [*self._open_sessions]), return_exceptions=True)

    # -- parts
    @asynccontextmanager
    async def _open(self, name: str, driver: Driver | None, *, has_person: bool) -> AsyncGenerator[OpenSession]:
        options = replace(self._options, resume=name, driver=driver, has_person=has_person)
        surroundings = Surroundings(find_index=self._project.services.index.find_folder)
        opened = await open_session(options, None, surroundings)
        self._open_sessions.append(opened)
        try:
            opened.record_start()
            yield opened
        finally:
            # closed to the end, also if the caller is cancelled again
            closing = asyncio.ensure_future(self._close(opened))
            await asyncio.shield(closing)

    async def _close(self, opened: OpenSession) -> None:
        if opened in self._open_sessions:
            self._open_sessions.remove(opened)
            await opened.aclose()

    def _list_rows(self) -> list[SessionRow]:
        return [row for row in list_rows(self._store) if self._is_here(row)]

    def _is_here(self, row: SessionRow) -> bool:
        return bool(row.folder) and resolve_links(Path(row.folder)) == self._project.root

    def _require(self, session_id: str) -> SessionRow:
        """Return a session of the folder. Those of other folders are as unknown as those that do not exist."""
        name = self._store.find(session_id)
        row = next((row for row in self._list_rows() if row.id == name), None)
        if row is None:
            raise UsageError(f"there is no session {session_id!r} in this folder")
        return row
