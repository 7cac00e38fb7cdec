"""Lists of saved sessions. Only their logs are read, so nothing else can be out of date."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from lsp_harness.errors import FileError, UsageError
from lsp_harness.session.log.log_reader import read_log
from lsp_harness.session.log.session_store import SessionStore
from lsp_harness.wire.event import Event

TITLE_CHARS = 70
TEXT_KEYS = ("text", "output", "diff", "summary", "message")
"""Fields of events in which words are looked for."""
MATCH_CHARS = 60


@dataclass(frozen=True, slots=True)
class SessionRow:
    """One session in a list.

    Attributes:
        id: The id.
        started_at: The time of the first event, in UTC.
        folder: The workspace folder.
        driver: The driver.
        model: The model.
        turns: The number of turns.
        events: The number of events in its own log.
        title: The first request, shortened.
        parent: The session that it continues, or whose subagent it is.
        fork_seq: The event of the parent after which it continues.
    """

    id: str
    started_at: str
    folder: str
    driver: str
    model: str
    turns: int
    events: int
    title: str
    parent: str = ""
    fork_seq: int | None = None


def list_rows(store: SessionStore, limit: int | None = None) -> list[SessionRow]:
    """Return the last sessions, the newest first. Logs that cannot be read are left out."""
    rows: list[SessionRow] = []
    for id in reversed(store.ids()):
        if limit is not None and len(rows) >= limit:
            break
        if events := _read(store, id):
            rows.append(_row(id, events))
    return rows


def list_tree(store: SessionStore) -> list[tuple[int, SessionRow]]:
    """Return the sessions below those that they continue or belong to, with their depth."""
    rows = list(reversed(list_rows(store)))
    ids = {row.id for row in rows}
    children: dict[str, list[SessionRow]] = {}
    for row in rows:
        children.setdefault(row.parent if row.parent in ids else "", []).append(row)

    def walk(parent: str, depth: int) -> Iterator[tuple[int, SessionRow]]:
        for row in children.get(parent, ()):
            yield depth, row
            yield from walk(row.id, depth + 1)

    return list(walk("", 0))


def find_sessions(store: SessionStore, words: str) -> list[tuple[SessionRow, str]]:
    """Return the sessions with an event that contains all words, and the place of the first one."""
    wanted = words.casefold().split()
    found: list[tuple[SessionRow, str]] = []
    for id in reversed(store.ids()):
        events = _read(store, id)
        match = next((text for event in events if (text := _matching_text(event, wanted))), None)
        if match:
            found.append((_row(id, events), match))
    return found


def _read(store: SessionStore, id: str) -> list[Event]:
    try:
        return list(read_log(store.path(id)))
    except (FileError, UsageError):
        return []


def _row(id: str, events: list[Event]) -> SessionRow:
    first = events[0]
    nothing: dict[str, Any] = {}
    started = next((event.data for event in events if event.type == "session.started"), nothing)
    forked = first.data if first.type == "session.forked" else nothing
    requests = (event for event in events if event.type in ("invocation.received", "invocation.auto"))
    title = next((str(event.data.get("text", "")) for event in requests), "")
    turns = {event.turn for event in events if event.turn is not None}
    seq = forked.get("at_seq")
    return SessionRow(
        id,
        first.ts,
        str(started.get("root", "")),
        str(started.get("driver", "")),
        str(started.get("model", "")),
        len(turns),
        len(events),
        _shorten(title, TITLE_CHARS),
        str(forked.get("parent") or started.get("parent") or ""),
        seq if isinstance(seq, int) else None,
    )


def _matching_text(event: Event, wanted: list[str]) -> str:
    for key in TEXT_KEYS:
        text = event.data.get(key)
        if isinstance(text, str) and all(word in text.casefold() for word in wanted):
            start = max(0, text.casefold().find(wanted[0]) - MATCH_CHARS // 2)
            return _shorten(text[start : start + MATCH_CHARS * 2], MATCH_CHARS * 2)
    return ""


def _shorten(text: str, limit: int) -> str:
    line = " ".join(text.split())
    return line if len(line) <= limit else f"{line[: limit - 1]}…"
