"""The conversations of one client of a language server, by the ids of their sessions."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal

from lsp_harness.errors import FileMissing, HarnessError, UsageError
from lsp_harness.events.event_codec import encode_frame
from lsp_harness.harness.events import ConversationReported
from lsp_harness.harness.services import Services
from lsp_harness.kernel.ingress import Ingress
from lsp_harness.kernel.log.log_reader import read_history
from lsp_harness.kernel.log.session_store import SessionStore
from lsp_harness.kernel.projections.session_state import project_session
from lsp_harness.sessions.open_session import OpenSession
from lsp_harness.sessions.saved_tasks import list_tasks
from lsp_harness.sessions.session_commands import COMMANDS
from lsp_harness.sessions.session_export import ExportFormat, export_events, render_transcript
from lsp_harness.sessions.session_list import list_rows
from lsp_harness.sessions.session_opening import SharedModel, Surroundings, open_session
from lsp_harness.sessions.session_options import SessionOptions
from lsp_harness.sessions.unsaved_texts import UnsavedTexts
from lsp_harness.text.ulid import make_ulid
from lsp_harness.text.uri import local_path
from lsp_harness.wire.event import Event

UNTRUSTED = "this workspace is not trusted, so no session runs here; trust it in the editor and try again"
SHOWN_SESSIONS = 20
SHOWN_CHARS = 2_000
MAX_EVENTS = 1_000
"""Events that one answer has at most."""


@dataclass(frozen=True, slots=True)
class TurnReply:
    """The end of a turn.

    Attributes:
        session_id: The id of the session.
        turn: The number of the turn.
        reason: Why it ended (see `TurnStopped`).
        detail: The reason in words.
        text: The last answer of the model.
    """

    session_id: str
    turn: int | None
    reason: str
    detail: str
    text: str


class SessionVerbs:
    """The conversations of one client. They use the engine and the settings of the harness.

    Args:
        services: The settings, documents, engine and checks that all parts of the harness share.
        source: The surface, for the log: an editor or another program.
    """

    def __init__(self, services: Services, source: Literal["lsp", "http"] = "lsp") -> None:
        self._services, self._source = services, source
        self._store, self._opening = SessionStore(), asyncio.Lock()
        self.opened: dict[str, OpenSession] = {}
        """The sessions that are open here, by their ids."""
        services.closers.append(self.aclose)

    # -- opening
    async def require(self, session_id: str = "", uri: str = "", driver: str = "") -> OpenSession:
        """Return a session that is open here. A saved one is continued, and without an id a new one begins.

        Args:
            session_id: The id of the session, or its beginning.
            uri: A file or folder in the workspace folder of a new session.
            driver: The driver of a new session. Empty takes the one that fits the model. A saved session keeps its own.

        Raises:
            UsageError: The workspace is not trusted, there is no such session, or another process uses it.
            HarnessError: The session cannot be opened.
        """
        self.require_trust()
        async with self._opening:
            name = self._find(session_id) if session_id else ""
            if opened := self.opened.get(name):
                return opened
            root = self._folder_of_session(name) if name else self._find_folder(uri)
            given = {"cwd": str(root), "resume": name, "source": self._source, "has_person": True}
            options = SessionOptions.from_mapping(given | ({"driver": driver} if driver and not name else {}))
            opened = await open_session(options, self._shared_model(), self._make_surroundings())
            opened.session.log.listeners.append(self._report)
            opened.record_start()
            self.opened[opened.session.id] = opened
            return opened

    async def resume(self, session_id: str) -> OpenSession:
        """Continue a saved session. Raise UsageError without its id, so that no new one begins instead of it."""
        return await self.require(self._require_id(session_id))

    async def open_for_program(self, options: SessionOptions) -> OpenSession:
        """Open a session for another program of the user, which serves it on its own.

        Raises:
            UsageError: The folder is not one of this workspace, or an option is not valid.
            HarnessError: The session cannot be opened.
        """
        self.require_trust()
        folder = options.root.resolve() if options.cwd else self._find_folder("")
        roots = self._services.workspace.roots
        if not any(folder.is_relative_to(root.resolve()) for root in roots):
            shown = ", ".join(map(str, roots))
            raise UsageError(f"this server serves {shown}, not {folder}; start `lsp-harness serve` for that folder")
        return await open_session(replace(options, cwd=str(folder)), self._shared_model(), self._make_surroundings())

    def require_trust(self) -> None:
        """Raise UsageError if the user does not trust the workspace: then nothing runs."""
        if not self._services.workspace.is_trusted:
            raise UsageError(UNTRUSTED)

    async def close(self, session_id: str) -> None:
        """Let another process continue a session. Raise UsageError if it is not open here."""
        opened = self.opened.pop(self._find(self._require_id(session_id)), None)
        if opened is None:
            raise UsageError(f"the session {session_id!r} is not open in this editor")
        await opened.aclose()

    async def aclose(self) -> None:
        """Close all sessions."""
        opened, self.opened = list(self.opened.values()), {}
        await asyncio.gather(*(session.aclose() for session in opened), return_exceptions=True)

    # -- prompts and commands
    async def run(
        self,
        prompt: str,
        session_id: str = "",
        uri: str = "",
        on_event: Callable[[Event], None] = lambda event: None,
        *,
        driver: str = "",
    ) -> TurnReply:
        """Run a turn and return its end. The turns of one session run one after another.

        Args:
            prompt: The text of the prompt.
            session_id: The session to continue. Empty begins a new one.
            uri: A file or folder in the workspace folder of a new session.
            on_event: Receives the events of this turn.
            driver: The driver of a new session: "chat", "code", or empty for the one that fits the model.

        Raises:
            UsageError: The prompt is empty, or the session cannot be used.
            HarnessError: The session cannot be opened.
        """
        if not prompt.strip():
            raise UsageError("the prompt is empty; write what to do")
        opened = await self.require(session_id, uri, driver)
        request_id, number = make_ulid(), None

        def follow(event: Event) -> None:
            nonlocal number
            if event.type == "turn.started" and event.data.get("request_id") == request_id:
                number = event.turn
            if number is not None and event.turn == number:
                on_event(event)

        log = opened.session.log
        log.listeners.append(follow)
        try:
            stopped = await opened.submit(
                Ingress("message", prompt, source=self._source, request_id=request_id), opened.create_driver()
            )
        except HarnessError as error:
            # the log has the error and the end of the turn
            return TurnReply(opened.session.id, number, "error", error.message, "")
        finally:
            log.listeners.remove(follow)
        return TurnReply(opened.session.id, stopped.number, stopped.reason, stopped.detail, stopped.text)

    async def command(self, name: str, session_id: str, fields: Mapping[str, Any]) -> Any:
        """Run a command of `COMMANDS` on a session, and return its result.

        Raises:
            UsageError: The session or a field is not valid.
            HarnessError: The command failed.
        """
        opened = await self.require(self._require_id(session_id))
        return await COMMANDS[name](opened, {"command": name, **fields})

    async def interrupt(self, session_id: str) -> Any:
        """Stop the running turn of a session. Return whether there was one. A session that is not open has none."""
        opened = self.opened.get(self._find(self._require_id(session_id)))
        return {"interrupted": opened is not None and opened.session.requests.interrupt()}

    def answer_question(self, request_id: str, fields: Mapping[str, Any]) -> None:
        """Give the answer to a question about a permission, whichever session has it.

        Raises:
            UsageError: There is no such question, or the answer is not valid.
        """
        for opened in self.opened.values():
            if request_id in opened.parts.questions.open_ids:
                opened.answer_question(request_id, fields)
                return
        raise UsageError(f"there is no open question {request_id!r}; it was answered, or the turn has ended")

    # -- tasks
    def list_tasks(self, session_id: str) -> list[dict[str, Any]]:
        """Return the tasks of a session. Raise UsageError for an unknown id."""
        name = self._find(self._require_id(session_id))
        if opened := self.opened.get(name):
            return opened.list_tasks()
        return [task.row.fields for task in list_tasks(self._store, name)]

    async def wait_for_task(self, session_id: str, task_id: str, timeout_s: float) -> dict[str, Any]:
        """Wait until a task has ended, or for some seconds. Raise UsageError for an unknown id."""
        opened = await self.require(self._require_id(session_id))
        result = await opened.parts.tasks.wait(task_id, timeout_s)
        return {"task_id": task_id, "status": result.status}

    # -- saved sessions
    def list_saved(self, limit: int | None = SHOWN_SESSIONS) -> list[dict[str, Any]]:
        """Return the last sessions of the user, the newest first, and whether they are open here."""
        return [asdict(row) | {"is_open": row.id in self.opened} for row in list_rows(self._store, limit)]

    def show(self, session_id: str) -> dict[str, Any]:
        """Return what happened in a session, for a person. Raise UsageError for an unknown id."""
        name, events = self._read(session_id)
        state = project_session(events)
        return {
            "session_id": name,
            "turns": state.summary.turns,
            "events": state.next_seq,
            "is_open": name in self.opened,
            "text": "\n".join(render_transcript(events, SHOWN_CHARS)),
        }

    def export(self, session_id: str, format: ExportFormat) -> str:
        """Return the whole history of a session as a text. Raise UsageError for an unknown id."""
        return export_events(self._read(session_id)[1], format)

    def fork(self, session_id: str, at_seq: int | None) -> dict[str, Any]:
        """Begin a session that continues another one after an event. Raise UsageError."""
        self.require_trust()
        forked = self._store.fork(self._find(self._require_id(session_id)), at_seq)
        forked.log.close()
        return {"session_id": forked.log.id, "events": forked.event_count}

    def events_since(self, session_id: str, seq: int) -> dict[str, Any]:
        """Return the frames of the events after a number, at most `MAX_EVENTS`, and the number to go on from."""
        name, events = self._read(session_id)
        later = [event for event in events if event.seq is not None and event.seq > seq]
        shown = later[:MAX_EVENTS]
        frames = [frame for event in shown if (frame := encode_frame(event)) is not None]
        last = shown[-1].seq if shown else seq
        return {"session_id": name, "events": frames, "next": last, "is_complete": len(later) == len(shown)}

    # -- parts
    def _report(self, event: Event) -> None:
        self._services.events.publish(ConversationReported(event))

    def _shared_model(self) -> SharedModel:
        return SharedModel(self._services.config, self._services.engines.current)

    def _make_surroundings(self) -> Surroundings:
        services = self._services
        # only an editor tells whether the user trusts the folder; elsewhere the settings do
        is_trusted = self._source == "lsp" and services.workspace.is_trusted
        return Surroundings(services.index.find_folder, UnsavedTexts(services), is_trusted=is_trusted)

    def _require_id(self, session_id: str) -> str:
        self.require_trust()
        if not session_id:
            raise UsageError("the id of a session is missing; lspHarness.session.list returns them")
        return session_id

    def _find(self, session_id: str) -> str:
        if session_id.upper() in self.opened:
            return session_id.upper()
        return self._store.find(session_id)

    def _read(self, session_id: str) -> tuple[str, list[Event]]:
        name = self._find(self._require_id(session_id))
        try:
            return name, [*read_history(self._store.folder, name)]
        except FileMissing:
            return name, []

    def _find_folder(self, uri: str) -> Path:
        roots = self._services.workspace.roots
        if not roots:
            raise UsageError("a session needs a workspace folder; open a folder in the editor")
        file = local_path(uri) if uri else None
        return next((root for root in roots if file and file.is_relative_to(root)), roots[0])

    def _folder_of_session(self, name: str) -> Path:
        """Return the folder in which a session began, which must be one of the workspace."""
        _, events = self._read(name)
        root = next((event.data.get("root") for event in events if event.type == "session.started"), "")
        folder, roots = Path(str(root or self._find_folder(""))), self._services.workspace.roots
        if any(folder.resolve().is_relative_to(root.resolve()) for root in roots):
            return folder
        raise UsageError(f"the session {name} belongs to {folder}; open that folder to continue it")
