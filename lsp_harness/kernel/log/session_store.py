"""The folder of all sessions: create, open, fork and list them."""

import os
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from lsp_harness.config import paths
from lsp_harness.disk.file_reading import open_regular
from lsp_harness.errors import FileError, FileMissing, HarnessError, UsageError
from lsp_harness.events.model_events import ModelCancelled
from lsp_harness.events.session_events import LogRepaired, SessionForked, TurnStopped
from lsp_harness.events.tool_events import PermissionDecided, TaskCancelled, ToolFailed
from lsp_harness.kernel.log.log_reader import (
    LOG_NAME,
    TAIL_BYTES,
    decode_line,
    fork_parent,
    log_path,
    read_history,
)
from lsp_harness.kernel.log.session_log import SessionLog
from lsp_harness.kernel.projections.session_state import SessionState, project_session
from lsp_harness.text.ulid import is_ulid, make_ulid, read_milliseconds

PROCESS_EXITED = "process_exited"
SHORT_LENGTH = 6
"""Characters of the end of an id that are shown, if no other id ends with them."""


@dataclass(frozen=True, slots=True)
class OpenedSession:
    """A session that was continued.

    Attributes:
        log: The log of the session.
        event_count: The number of events that it had.
        lost_tasks: The ids of tasks that ran when its process was killed. Their processes may still run.
    """

    log: SessionLog
    event_count: int
    lost_tasks: tuple[str, ...] = ()


class SessionStore:
    """The sessions of a user.

    Args:
        folder: The folder of all sessions. The default is the user's.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder

    @property
    def folder(self) -> Path:
        """The folder of all sessions."""
        return self._folder or paths.sessions_folder()

    def create(self, *, is_saved: bool = True) -> SessionLog:
        """Return the log of a new session."""
        return SessionLog(self._folder, is_saved=is_saved, id=self._new_id())

    def find(self, text: str, folder: Path | None = None, *, is_strict: bool = False) -> str:
        """Return the id of the session whose id begins or ends with a text; the newest one if it is empty.

        Args:
            text: The id, its beginning or its end, in upper or lower case.
            folder: The folder whose sessions come first.
            is_strict: Whether sessions of other folders count only by their whole ids.

        Raises:
            UsageError: There is no such session, or there are several.
        """
        wanted, ids = text.strip().upper(), self.ids()
        if wanted in ids:
            return wanted
        matches = [id for id in ids if id.startswith(wanted) or id.endswith(wanted)]
        if not matches:
            raise UsageError(
                f"there is no session {text!r}; `lsp-harness sessions list` shows them"
                if wanted
                else "there is no session yet; one begins with the first prompt, fix or edit"
            )
        here = self.ids_of_folder(folder, matches) if folder else matches
        if not here and is_strict:
            known = self.root(matches[-1]) or "no folder"
            raise UsageError(
                f"the session {short_ids(ids)[matches[-1]]} belongs to {known}; go there, or write its whole name, "
                f"{matches[-1]}"
                if wanted and len(matches) == 1
                else f"there is no session{f' {text!r}' if wanted else ''} of this folder; "
                "`lsp-harness sessions list --all` shows those of all folders"
            )
        matches = here or matches
        if wanted and len(matches) > 1:
            how = "begin" if all(id.startswith(wanted) for id in matches) else "begin or end"
            raise UsageError(f"{len(matches)} sessions {how} with {text!r}; write more of the name")
        return matches[-1]

    def ids_of_folder(self, folder: Path, ids: Sequence[str] | None = None) -> list[str]:
        """Return the ids of the sessions of a folder, the oldest first.

        If it has none, these are those of the nearest folder above that has some: a session is about the folder in
        which it began, and a person may have gone to a folder in it.
        """
        found: dict[str, list[str]] = {}
        for id in self.ids() if ids is None else ids:
            found.setdefault(_resolve(self.root(id)), []).append(id)
        here = Path(_resolve(str(folder)))
        return next((found[str(place)] for place in (here, *here.parents) if str(place) in found), list[str]())

    def root(self, id: str) -> str:
        """Return the workspace folder of a session, or an empty text if its log names none."""
        with suppress(FileError, UsageError):
            for event in read_history(self.folder, id):
                if event.type == "session.started":
                    return str(event.data.get("root", ""))
        return ""

    def ids(self) -> list[str]:
        """Return the ids of all sessions, the oldest first."""
        return sorted(file.parent.name for file in self.folder.glob(f"*/{LOG_NAME}"))

    def path(self, id: str) -> Path:
        """Return the path of the log of a session."""
        return log_path(self.folder, id)

    def lineage(self, id: str) -> Iterator[str]:
        """Yield the session and the sessions that it continues, the nearest first."""
        yield id
        while parent := fork_parent(self.folder, id):
            id = parent[0]
            yield id

    def open(self, id: str) -> OpenedSession:
        """Continue a session as its only writer. What a killed process left open is closed.

        Args:
            id: The whole id of the session.

        Raises:
            UsageError: There is no such session, or another process writes to it.
            FileError: The log cannot be read.
        """
        if not self.path(id).is_file():
            raise UsageError(f"there is no session {id!r}; `lsp-harness sessions list` shows them")
        if self.path(id).is_symlink():
            raise FileError(f"{self.path(id)} is a link, not the log of a session; remove it")
        log = SessionLog(self._folder, id=id)
        log.acquire()
        try:
            torn_bytes = self._close_torn_line(log)
            log.continue_from(project_session(read_history(self.folder, id)))
        except BaseException:
            log.close()
            raise
        event_count = log.state.next_seq
        if torn_bytes:
            log.append(LogRepaired(torn_bytes))
        lost_tasks = tuple(log.state.open_tasks)
        close_orphans(log)
        return OpenedSession(log, event_count, lost_tasks)

    def fork(self, id: str, at_seq: int | None = None) -> OpenedSession:
        """Begin a session that continues another one after an event. Nothing is copied.

        Args:
            id: The session to continue, which may be in use.
            at_seq: The number of the last event to continue. The default is the last one.

        Raises:
            UsageError: There is no such session or no such event.
            FileError: A log cannot be read.
        """
        state = SessionState()
        try:
            for event in read_history(self.folder, id):
                if at_seq is not None and event.seq is not None and event.seq > at_seq:
                    break
                state.apply(event)
        except FileMissing as error:
            raise UsageError(f"there is no session {id!r}; `lsp-harness sessions list` shows them") from error
        last = state.next_seq - 1
        if last < 0 and at_seq is None:
            raise UsageError(f"the session {id} has no events, so it cannot be forked")
        if at_seq is not None and (at_seq < 0 or at_seq != last):
            raise UsageError(f"the session {id} has no event {at_seq}; `lsp-harness events {id}` shows their numbers")
        log = SessionLog(self._folder, state=state, id=self._new_id())
        count = state.next_seq
        log.append(SessionForked(id, last))
        close_orphans(log)
        return OpenedSession(log, count)

    def _new_id(self) -> str:
        """Return an id that comes after all others, also if the clock has been ahead: the last session has the last."""
        new = make_ulid()
        # without a folder there are no sessions, and after the last moment of all ids there is no other one
        with suppress(OSError, HarnessError, ValueError):
            newest = max(filter(is_ulid, os.listdir(self.folder)), default="")
            if newest >= new:
                return make_ulid(read_milliseconds(newest) + 1)
        return new

    def _close_torn_line(self, log: SessionLog) -> int:
        """Prepare a log whose last line has no end. Return the size of the line, or 0 if it is a whole event."""
        with open_regular(log.path) as file:
            size = file.seek(0, 2)
            start = max(0, size - TAIL_BYTES)
            file.seek(start)
            tail = file.read(size - start)
        if not tail or tail.endswith(b"\n"):
            return 0
        last_line = tail[tail.rfind(b"\n") + 1 :]
        log.end_torn_line()
        # an event of which only the end of the line is missing counts
        return 0 if decode_line(last_line) else len(last_line)


def short_ids(ids: Collection[str]) -> dict[str, str]:
    """Return id → the end of it that no other id has. The beginnings of ids are times, which are much alike."""
    counts = Counter(id[-length:] for id in ids for length in range(SHORT_LENGTH, len(id) + 1))
    # a name may also be the beginning of an id
    counts.update(id[:length] for id in ids for length in range(SHORT_LENGTH, len(id)))
    return {
        id: next((id[-length:] for length in range(SHORT_LENGTH, len(id)) if counts[id[-length:]] == 1), id)
        for id in ids
    }


def _resolve(root: str) -> str:
    """Return a folder without links, or an empty text without a folder."""
    return os.path.realpath(root) if root else ""


def close_orphans(log: SessionLog) -> None:
    """Append an end for each call, question, task and turn that a killed process left open."""
    state = log.state
    for turn, call in list(state.open_models.items()):
        log.append(ModelCancelled(call.name), turn=turn)
    for call_id, call in list(state.open_calls.items()):
        message = "the process ended while this call ran, so its result is unknown"
        log.append(ToolFailed(call_id, call.name, PROCESS_EXITED, message), turn=call.turn)
    for question in list(state.open_questions.values()):
        reason = "the process ended before anybody answered"
        decision = PermissionDecided(
            question.tool, question.tool, "deny", "nobody", reason, "", question.call_id, question.request_id
        )
        log.append(decision)
    for task_id in list(state.open_tasks):
        log.append(TaskCancelled(task_id, PROCESS_EXITED, is_background=True))
    for number, request_id in list(state.open_turns.items()):
        log.append(TurnStopped(number, "interrupted", PROCESS_EXITED, "", request_id), turn=number)
