"""Lists of saved sessions. Only their logs are read, so nothing else can be out of date."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lsp_harness.disk.file_reading import open_regular
from lsp_harness.errors import FileError, UsageError
from lsp_harness.kernel.log.log_reader import decode_line, read_last_event, read_lines, read_log
from lsp_harness.kernel.log.session_store import SessionStore
from lsp_harness.wire.event import Event

TITLE_CHARS = 70
TEXT_KEYS = ("text", "output", "diff", "summary", "message")
"""Fields of events in which words are looked for."""
MATCH_CHARS = 60
LONG_LOG_BYTES = 2_000_000
"""Size from which a log is not read as a whole for its row in a list."""
BLOCK_BYTES = 1 << 20
TURN_START = b',"type":"turn.started","data":'


@dataclass(frozen=True, slots=True)
class SessionRow:
    """One session in a list.

    Attributes:
        id: The id of the session.
        started_at: The time of the first event, in UTC.
        folder: The workspace folder.
        driver: The driver of the session: `chat` or `code`.
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


def list_rows(
    store: SessionStore, limit: int | None = None, folder: Path | None = None, ids: Sequence[str] | None = None
) -> list[SessionRow]:
    """Return the last sessions, the newest first. Logs that cannot be read are left out.

    Args:
        store: The folder of all sessions.
        limit: The largest number of sessions.
        folder: Only the sessions of this folder, or of the nearest one above that has some.
        ids: Only these sessions, the oldest first.
    """
    rows: list[SessionRow] = []
    chosen = store.ids() if ids is None else ids
    for id in reversed(store.ids_of_folder(folder, chosen) if folder else chosen):
        if limit is not None and len(rows) >= limit:
            break
        if row := _read_row(store, id):
            rows.append(row)
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
        match = _find_match(store.path(id), wanted)
        if match and (row := _read_row(store, id)):
            found.append((row, match))
    return found


def _find_match(path: Path, wanted: list[str]) -> str:
    """Return the place of the first event that contains all words. Lines that cannot contain them are not decoded."""
    plain_words = [word.encode() for word in wanted if word.isascii() and word.isalnum()]
    with suppress(FileError, UsageError):
        for line in read_lines(path):
            # other letters may become ASCII letters when case is ignored
            if line.isascii() and not all(word in line.lower() for word in plain_words):
                continue
            if (event := decode_line(line)) and (text := _matching_text(event, wanted)):
                return text
    return ""


def _read_row(store: SessionStore, id: str) -> SessionRow | None:
    """Return the row of a session, or None if it cannot be read. Of a long log, only the ends are decoded."""
    path = store.path(id)
    first: Event | None = None
    started, title, turns, is_long = dict[str, Any](), "", set[int](), False
    try:
        is_long = path.stat().st_size > LONG_LOG_BYTES
        last = read_last_event(path)
        for event in read_log(path):
            first = first or event
            if event.type == "session.started":
                started = started or event.data
            elif event.type in ("invocation.received", "invocation.auto"):
                title = title or _make_title(event.data)
            if event.turn is not None:
                turns.add(event.turn)
            if is_long and title and (started or event.turn is not None):
                break
        turn_count = _count_turns(path) if is_long else len(turns)
    except (FileError, UsageError, OSError):
        return None
    if first is None:
        return None
    begin, end = first.seq or 0, last.seq if last and last.seq is not None else first.seq or 0
    nothing: dict[str, Any] = {}
    forked = first.data if first.type == "session.forked" else nothing
    seq = forked.get("at_seq")
    return SessionRow(
        id,
        first.ts,
        str(started.get("root", "")),
        str(started.get("driver", "")),
        str(started.get("model", "")),
        turn_count,
        end - begin + 1,
        _shorten(title, TITLE_CHARS),
        str(forked.get("parent") or started.get("parent") or ""),
        seq if isinstance(seq, int) else None,
    )


def _make_title(request: Mapping[str, Any]) -> str:
    """Return the words of a request, and the file that a request without a person is about."""
    text, path = str(request.get("text", "")), str(request.get("path") or "")
    return f"{path}: {text}" if path else text


def _count_turns(path: Path) -> int:
    """Return the number of turns that began in a log. Quotes within texts are escaped, so no text looks like one."""
    count, rest = 0, b""
    with open_regular(path) as file:
        while block := file.read(BLOCK_BYTES):
            data = rest + block
            count += data.count(TURN_START)
            rest = data[-len(TURN_START) + 1 :]
    return count


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
