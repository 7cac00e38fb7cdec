"""`lsp-harness session`: what a session has come to, read off its log."""

from dataclasses import asdict
from typing import Annotated

from cyclopts import Parameter

from lsp_harness.cli.say import AsJson, as_json, say
from lsp_harness.config import paths
from lsp_harness.errors import UsageError
from lsp_harness.session.log import read
from lsp_harness.session.summary import summary


def session(
    id: Annotated[str, Parameter(help="The name of its folder, or the beginning of it; the last one by default.")] = "",
    /,
    *,
    json: AsJson = False,
) -> int:
    """Show what was asked for in a session, what became of it, and what is still wrong."""
    folder = paths.state() / "sessions"
    known = sorted(file.parent for file in folder.glob("*/events.jsonl"))
    found = [one for one in known if one.name.startswith(id)]
    if not found:
        raise UsageError(f"there is no session {id!r}" if id else "there is no session yet: nothing was asked for")
    if id and len(found) > 1:
        raise UsageError(f"{len(found)} sessions begin with {id!r}; give more of the name")
    told = summary(read(found[-1] / "events.jsonl"))
    if json:
        as_json({"id": found[-1].name, **asdict(told)})
    else:
        say("\n".join([f"{found[-1].name}, {told.turns} turns", *told.lines]))
    return 0
