"""`lsp-harness sessions`: list, show, search, fork, export and undo the saved sessions."""

import asyncio
import sys
from collections.abc import Sequence
from contextlib import aclosing, suppress
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import cyclopts
from cyclopts import Parameter

from lsp_harness.cli.console import JsonOption, console, print_json, say, warn
from lsp_harness.config.load import load
from lsp_harness.errors import HarnessError, UsageError
from lsp_harness.harness.sessions.session_export import ExportFormat, export_events, render_transcript
from lsp_harness.harness.sessions.session_list import SessionRow, find_sessions, list_rows, list_tree
from lsp_harness.harness.sessions.session_undo import undo_saved
from lsp_harness.inference.backends.backend import estimate_counts
from lsp_harness.inference.target import is_remote
from lsp_harness.session.log.log_reader import read_history, read_log
from lsp_harness.session.log.session_store import SessionStore
from lsp_harness.session.projections.session_state import project_session
from lsp_harness.session.projections.summary import BUDGET_TOKENS, Summary
from lsp_harness.text.wording import format_count

SHOWN_SESSIONS = 20
SHOWN_CHARS = 300
app = cyclopts.App(name="sessions", help="List, show, search, fork and export saved sessions, and undo their edits.")

SessionId = Annotated[str, Parameter(help="The name of a session, or its beginning. The default is the last session.")]


@app.command(name="list")
def list_sessions(
    *,
    all: Annotated[
        bool, Parameter(negative="", help=f"List all sessions instead of the last {SHOWN_SESSIONS}.")
    ] = False,
    json: JsonOption = False,
) -> int:
    """List the saved sessions, the last one first."""
    rows = list_rows(SessionStore(), None if all else SHOWN_SESSIONS)
    _print_rows(rows, json=json)
    return 0


@app.command
def show(
    id: SessionId = "",
    /,
    *,
    all: Annotated[bool, Parameter(negative="", help="Show whole texts and outputs.")] = False,
    summary: Annotated[
        bool, Parameter(negative="", help=f"Show a summary of at most {BUDGET_TOKENS} tokens instead of the messages.")
    ] = False,
    json: JsonOption = False,
) -> int:
    """Show the requests, tools, answers and edits of a session."""
    store = SessionStore()
    name = store.find(id)
    reader = read_log(store.path(name))
    events = list(read_history(store.folder, name))
    state = project_session(events)
    # reading the log itself counts the lines that were left out
    for _ in reader:
        pass
    if reader.warning:
        warn(reader.warning)
    if json:
        print_json({"id": name, **asdict(state.summary)})
        return 0
    say(f"{name}, {format_count(state.summary.turns, 'turn')}")
    if summary:
        lines = state.summary.all_lines if all else asyncio.run(_shorten_summary(state.summary))
        say("\n".join(lines))
        if lines != state.summary.all_lines:
            say("(--all shows more)")
        return 0
    for line in render_transcript(events, None if all else SHOWN_CHARS):
        say(line)
    return 0


@app.command
def search(words: str, /, *, json: JsonOption = False) -> int:
    """Find the sessions whose requests, answers or outputs contain all words."""
    if not words.strip():
        raise UsageError("write the words to look for")
    rows = find_sessions(SessionStore(), words)
    if json:
        print_json([{**asdict(row), "match": match} for row, match in rows])
    for row, match in rows if not json else ():
        say(f"{row.id}  {row.started_at[:16]}  {match}")
    if not rows and not json:
        say(f"no session contains {words!r}")
    return 0


@app.command
def tree(*, json: JsonOption = False) -> int:
    """Show which sessions continue others (forks), and which are subagents of others."""
    rows = list_tree(SessionStore())
    if json:
        print_json([{"depth": depth, **asdict(row)} for depth, row in rows])
        return 0
    for depth, row in rows:
        at = f" after event {row.fork_seq}" if row.fork_seq is not None else ""
        say(f"{'  ' * depth}{row.id}{at}  {format_count(row.turns, 'turn')}  {row.title}")
    return 0


@app.command
def fork(
    id: SessionId = "",
    /,
    *,
    at: Annotated[int | None, Parameter(help="The number of the last event to keep. The default is the last.")] = None,
    json: JsonOption = False,
) -> int:
    """Begin a session that continues another one after one of its events. Nothing is copied."""
    store = SessionStore()
    opened = store.fork(store.find(id), at)
    opened.log.close()
    if json:
        print_json({"id": opened.log.id, "events": opened.event_count})
    else:
        say(f"{opened.log.id} continues after {format_count(opened.event_count, 'event')}")
        say(f'go on with: lsp-harness --session {opened.log.id} "…"')
    return 0


@app.command
def export(
    id: SessionId = "",
    /,
    *,
    format: Annotated[ExportFormat, Parameter(help="json: one list. lines: a line of JSON for each event.")] = "json",
    output: Annotated[Path | None, Parameter(help="The file to write. By default, standard output.")] = None,
) -> int:
    """Write the whole history of a session, with the events that it continues, in another form."""
    store = SessionStore()
    events = list(read_history(store.folder, store.find(id)))
    text = export_events(events, format)
    if output is None:
        say(text)
        return 0
    try:
        output.write_text(f"{text}\n", encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{output} cannot be written: {error.strerror}; name another file") from error
    say(f"{format_count(len(events), 'event')} written to {output}")
    return 0


@app.command
def undo(
    id: SessionId = "",
    /,
    *,
    turn: Annotated[
        int | None, Parameter(help="The turn to undo. The default is the last one that changed files.")
    ] = None,
    force: Annotated[
        bool, Parameter(negative="", help="Also restore files that somebody changed after the turn.")
    ] = False,
    json: JsonOption = False,
) -> int:
    """Give the files that a turn changed the texts that they had before it."""
    store = SessionStore()
    session_id = store.find(id)
    result = asyncio.run(undo_saved(store, session_id, turn, force=force))
    if json:
        print_json({"session_id": session_id, **asdict(result)})
        return 1 if result.skipped else 0
    for path in result.paths:
        say(f"restored {path}")
    for path, reason in result.skipped.items():
        warn(f"{path} is not restored: {reason}")
    if not result.paths:
        say(f"no file of turn {result.turn} was restored")
    return 1 if result.skipped else 0


def _print_rows(rows: Sequence[SessionRow], *, json: bool) -> None:
    if json:
        print_json([asdict(row) for row in rows])
        return
    if not rows:
        say("there is no session yet; one begins with the first prompt, fix or edit")
        return
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for name in ("session", "started", "turns", "folder", "first request"):
        table.add_column(name)
    for row in rows:
        table.add_row(row.id, row.started_at[:16].replace("T", " "), str(row.turns), row.folder, row.title)
    console().print(table)


async def _shorten_summary(result: Summary) -> list[str]:
    return (await result.text(BUDGET_TOKENS, count_tokens)).splitlines()


async def count_tokens(texts: Sequence[str]) -> list[int]:
    """Return the number of tokens of each text. If no engine has the model loaded, the numbers are estimates."""
    from lsp_harness.inference.client import EngineClient
    from lsp_harness.inference.models.model_files import resolve_model
    from lsp_harness.inference.running_engines import HEALTH_TIMEOUT_S, is_listening, query_health
    from lsp_harness.inference.supervisor import engine_address

    config = load(Path.cwd())[0]
    # counting is no reason to start an engine, or to send a summary to a remote server
    if is_remote(config.engine) or config.engine.script:
        return estimate_counts(texts)
    try:
        socket = engine_address(resolve_model(config.model.path), config).socket
    except HarnessError:
        return estimate_counts(texts)
    if not is_listening(socket):
        return estimate_counts(texts)
    if await query_health(socket) is not None:
        with suppress(HarnessError, TimeoutError):
            async with asyncio.timeout(HEALTH_TIMEOUT_S), aclosing(EngineClient(config)) as engine:
                return await engine.count(texts)
    sys.stderr.write("tokens are estimated: the engine does not answer (lsp-harness engine status)\n")
    return estimate_counts(texts)
