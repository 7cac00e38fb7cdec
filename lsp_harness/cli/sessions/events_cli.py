"""`lsp-harness events` and `schema`: the events of a session, at once or as they happen, and their JSON schema."""

import asyncio
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from lsp_harness.cli.console import JsonOption, say
from lsp_harness.errors import UsageError
from lsp_harness.events.event_schema import render
from lsp_harness.events.event_type import EVENT_CLASSES
from lsp_harness.kernel.log.log_reader import follow_log, read_history
from lsp_harness.kernel.log.session_store import SessionStore
from lsp_harness.wire.event import Event, encode

SHOWN_CHARS = 160


def events(
    id: Annotated[
        str,
        Parameter(help="The name of a session, its beginning or its end. The default is the last one here."),
    ] = "",
    /,
    *,
    types: Annotated[str, Parameter(help="The types of events to show, with commas, such as `tool.started`.")] = "",
    since: Annotated[int, Parameter(help="The number of the event after which to begin.")] = -1,
    follow: Annotated[bool, Parameter(negative="", help="Wait for new events until Ctrl-C.")] = False,
    json: JsonOption = False,
) -> int:
    """Show the events of a session, one in each line.

    Another process may be writing the session; it is not disturbed.
    """
    store = SessionStore()
    name = store.find(id, Path.cwd())
    wanted = {type.strip() for type in types.split(",") if type.strip()}
    if unknown := wanted - EVENT_CLASSES.keys():
        raise UsageError(f"there is no type of event {min(unknown)!r}; `lsp-harness schema` names them")
    last = since
    for event in read_history(store.folder, name):
        if event.seq is not None and event.seq > since:
            last = event.seq
            _show(event, wanted, json=json)
    if follow:
        asyncio.run(_follow(follow_log(store.path(name), last), wanted, json=json))
    return 0


async def _follow(new_events: AsyncIterator[Event], wanted: set[str], *, json: bool) -> None:
    async for event in new_events:
        _show(event, wanted, json=json)


def _show(event: Event, wanted: set[str], *, json: bool) -> None:
    if wanted and event.type not in wanted:
        return
    if json:
        say(encode(event))
        return
    turn = "-" if event.turn is None else str(event.turn)
    fields = ", ".join(f"{key}={_shorten(value)}" for key, value in event.data.items())
    say(f"{event.seq:>5}  {turn:>3}  {event.type:<20}  {_cut(fields)}")


def _shorten(value: Any) -> str:
    text = value if isinstance(value, str) else str(value)
    return " ".join(text.split())


def _cut(text: str) -> str:
    return text if len(text) <= SHOWN_CHARS else f"{text[: SHOWN_CHARS - 1]}…"


def schema() -> int:
    """Print the JSON schema of the events in the logs of sessions."""
    sys.stdout.write(render())
    return 0
