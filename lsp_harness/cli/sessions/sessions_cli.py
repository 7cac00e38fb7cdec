"""`lsp-harness sessions`: list, show, search, fork, export, undo and delete the saved sessions."""

import asyncio
import sys
from collections.abc import Mapping, Sequence
from contextlib import aclosing, suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from time import time
from typing import Annotated

import cyclopts
from cyclopts import Parameter

from lsp_harness.cli.console import JsonOption, console, print_json, say, warn
from lsp_harness.cli.sessions.terminal_person import read_answer
from lsp_harness.cli.sessions.terminal_question import NO, YES
from lsp_harness.cli.sessions.undo_question import ask_undo, is_dialog
from lsp_harness.config.load import load
from lsp_harness.errors import HarnessError, StaleDocument, UsageError
from lsp_harness.inference.backends.backend import estimate_counts
from lsp_harness.inference.target import is_remote
from lsp_harness.kernel.log.log_reader import read_history, read_log
from lsp_harness.kernel.log.session_store import SessionStore, short_ids
from lsp_harness.kernel.projections.session_state import project_session
from lsp_harness.kernel.projections.summary import BUDGET_TOKENS, Summary
from lsp_harness.sessions.session_export import ExportFormat, export_events, render_transcript
from lsp_harness.sessions.session_list import SessionRow, find_sessions, list_rows, list_tree
from lsp_harness.sessions.session_removal import DAY_S, delete_sessions, find_idle
from lsp_harness.sessions.session_undo import (
    UndoResult,
    UndoWish,
    describe_undo,
    undo_fields,
    undo_saved,
)
from lsp_harness.text.wording import format_count

SHOWN_SESSIONS = 20
SHOWN_CHARS = 300
PRUNED_DAYS = 30
app = cyclopts.App(name="sessions", help="List, show, search, fork, export and delete sessions, and undo their edits.")

SessionId = Annotated[
    str, Parameter(help="The name of a session, its beginning or its end. The default is the last one here.")
]


AllFolders = Annotated[bool, Parameter(negative="", help="Also the sessions of other folders.")]


@app.command(name="list")
def list_sessions(
    *,
    all: Annotated[bool, Parameter(negative="", help="List all sessions of all folders.")] = False,
    count: Annotated[int, Parameter(help="The largest number of sessions of this folder; 0 is no limit.")] = (
        SHOWN_SESSIONS
    ),
    json: JsonOption = False,
) -> int:
    """List the saved sessions of this folder, the last one first."""
    if count < 0:
        raise UsageError("--count must be 0 or more")
    store = SessionStore()
    rows = list_rows(store) if all else list_rows(store, count or None, Path.cwd())
    _print_rows(rows, short_ids(store.ids()), json=json, is_all=all)
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
    name = store.find(id, Path.cwd())
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
def search(*words: str, json: JsonOption = False) -> int:
    """Find the sessions whose requests, answers or outputs contain all words."""
    wanted = " ".join(words)
    if not wanted.strip():
        raise UsageError("the words to look for are missing; write: lsp-harness sessions search WORDS")
    rows = find_sessions(SessionStore(), wanted)
    if json:
        print_json([{**asdict(row), "match": match} for row, match in rows])
    for row, match in rows if not json else ():
        say(f"{row.id}  {row.started_at[:16]}  {match}")
    if not rows and not json:
        say(f"no session contains {wanted!r}")
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
    opened = store.fork(store.find(id, Path.cwd()), at)
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
    events = list(read_history(store.folder, store.find(id, Path.cwd())))
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
def delete(ids: tuple[str, ...], /, *, json: JsonOption = False) -> int:
    """Delete sessions of this folder: their events, and with them the way to undo their edits.

    Parameters
    ----------
    ids
        The names of the sessions, their beginnings or their ends; of another folder, the whole names.
    """
    store, here = SessionStore(), Path.cwd()
    if not all(id.strip() for id in ids):
        raise UsageError("a name of a session is empty; lsp-harness sessions list shows the names")
    found = list(dict.fromkeys(store.find(id, here, is_strict=True) for id in ids))
    delete_sessions(store, found)
    print_json({"deleted": found}) if json else say(
        f"{format_count(len(found), 'session')} deleted: {', '.join(found)}"
    )
    return 0


@app.command
def prune(
    *,
    days: Annotated[int, Parameter(help="How long nothing was written to a session, so that it is deleted.")] = (
        PRUNED_DAYS
    ),
    all: AllFolders = False,
    dry_run: Annotated[bool, Parameter(negative="", help="Delete nothing, and show what would be deleted.")] = False,
    yes: Annotated[bool, Parameter(("--yes", "-y"), negative="", help="Do not ask.")] = False,
    json: JsonOption = False,
) -> int:
    """Delete the sessions of this folder that were not used for a long time.

    A session that is open stays, and one that a younger session continues. In a terminal, you see the sessions, and are
    asked. Elsewhere, write --yes.
    """
    if days < 0:
        raise UsageError("--days must be 0 or more")
    store = SessionStore()
    ids = store.ids() if all else store.ids_of_folder(Path.cwd())
    old, names = find_idle(store, ids, time() - days * DAY_S), short_ids(store.ids())
    rows = [row for row in list_rows(store, ids=old) if not json]
    if not json and old:
        _print_rows(rows, names, json=False, is_all=all)
    is_sure = yes or (bool(old) and not dry_run and is_dialog() and not json and asyncio.run(_confirm_deletion(old)))
    if is_sure and not dry_run:
        delete_sessions(store, old)
    elif old and not dry_run:
        warn("nothing was deleted" if is_dialog() else "nothing was deleted; to delete these sessions, write --yes")
    done = is_sure and not dry_run
    if json:
        print_json({"deleted": old if done else [], "found": old})
    elif done or not old:
        say(
            f"{format_count(len(old), 'session')} deleted"
            if old
            else f"no session is older than {format_count(days, 'day')}"
        )
    return 0 if done or dry_run or not old else 1


async def _confirm_deletion(ids: Sequence[str]) -> bool:
    """Ask the person at the terminal. Only an explicit yes counts."""
    while (line := await read_answer(f"Delete {format_count(len(ids), 'session')}? [y/n] ")) is not None:
        answer = line.strip().casefold()
        if answer in YES | NO:
            return answer in YES
        say("Write y or n.")
    return False


@Parameter(name="*")
@dataclass(frozen=True, slots=True)
class UndoFlags:
    """The options of an undo on the command line."""

    turn: Annotated[int | None, Parameter(help="The turn to undo. The default is the last one that changed files.")] = (
        None
    )
    file: Annotated[
        tuple[str, ...], Parameter(help="Only this file, relative to the folder. May be given several times.")
    ] = ()
    commands: Annotated[
        bool, Parameter(negative="", help="Also files that changed while commands of the turn ran.")
    ] = False
    force: Annotated[bool, Parameter(negative="", help="Also restore files that somebody changed after the turn.")] = (
        False
    )
    yes: Annotated[bool, Parameter(("--yes", "-y"), negative="", help="Do not ask.")] = False
    dry_run: Annotated[bool, Parameter(negative="", help="Change nothing, and show what would happen.")] = False
    all: AllFolders = False


@app.command
def undo(id: SessionId = "", /, *, flags: UndoFlags | None = None, json: JsonOption = False) -> int:
    """Give the files that a turn changed the texts that they had before it.

    In a terminal, you see what happens, and are asked. Elsewhere, name the session or write --yes.
    """
    given = flags or UndoFlags()
    wish = UndoWish(
        given.turn,
        given.file or None,
        with_commands=given.commands,
        force=given.force,
        is_preview=given.dry_run,
    )
    return _undo(id, wish, is_sure=given.yes or (bool(id) and not is_dialog()), all=given.all, json=json)


@app.command
def redo(
    id: SessionId = "",
    /,
    *,
    force: Annotated[
        bool, Parameter(negative="", help="Also restore files that somebody changed after the undo.")
    ] = False,
    yes: Annotated[bool, Parameter(("--yes", "-y"), negative="", help="Do not ask.")] = False,
    dry_run: Annotated[bool, Parameter(negative="", help="Change nothing, and show what would happen.")] = False,
    all: AllFolders = False,
    json: JsonOption = False,
) -> int:
    """Take the last undo of a session back."""
    wish = UndoWish(force=force, with_commands=True, is_redo=True, is_preview=dry_run)
    return _undo(id, wish, is_sure=yes or (bool(id) and not is_dialog()), all=all, json=json)


def _undo(id: str, wish: UndoWish, *, is_sure: bool, all: bool, json: bool) -> int:
    store, here = SessionStore(), Path.cwd()
    session_id = store.find(id, None if all else here, is_strict=not all)
    root = store.root(session_id)
    if not json and root and Path(root).resolve() != here.resolve():
        say(f"in {root}:")

    async def confirm(seen: UndoResult) -> UndoWish | None:
        return await ask_undo(wish, seen, write=say, read=read_answer)

    try:
        if not is_sure and not is_dialog() and not wish.is_preview:
            result = asyncio.run(undo_saved(store, session_id, replace(wish, is_preview=True)))
            warn("nothing was changed: nobody is there to answer; name the session, or write --yes")
        else:
            result = asyncio.run(undo_saved(store, session_id, wish, None if is_sure or json else confirm))
    except StaleDocument as error:
        # the texts of the files, which the person may want to compare
        result = asyncio.run(undo_saved(store, session_id, replace(wish, is_preview=True)))
        warn(f"nothing was restored: {error.message}")
        _print_undo(session_id, result, json=json)
        return 1
    _print_undo(session_id, result, json=json)
    if result.is_preview:
        return 0 if wish.is_preview else 1
    return 1 if result.skipped else 0


def _print_undo(session_id: str, result: UndoResult, *, json: bool) -> None:
    if json:
        print_json({"session_id": session_id, **undo_fields(result)})
        return
    for line in describe_undo(result):
        say(line)
    if result.commands:
        say("--commands takes back what changed while commands ran, too")


def _print_rows(rows: Sequence[SessionRow], names: Mapping[str, str], *, json: bool, is_all: bool) -> None:
    if json:
        print_json([{**asdict(row), "name": names[row.id]} for row in rows])
        return
    if not rows:
        say(
            "there is no session yet; one begins with the first prompt, fix or edit"
            if is_all
            else "there is no session of this folder; --all lists those of all folders"
        )
        return
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    # a name that is cut off could not be used
    table.add_column("session", no_wrap=True, min_width=max(len(names[row.id]) for row in rows))
    for name in ("started", "turns", *(("folder",) if is_all else ()), "first request"):
        table.add_column(name)
    for row in rows:
        folder = (row.folder,) if is_all else ()
        started = row.started_at[:16].replace("T", " ")
        table.add_row(names[row.id], started, str(row.turns), *folder, row.title)
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
