"""A turn of the session as a document for a person: what was asked, each candidate, each check and what it said.

Nothing is kept for it: it is read off the events of the turn, those in memory or those of the session's file.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Any

from lsp_harness.config import paths
from lsp_harness.errors import FileError, UsageError
from lsp_harness.session.log import SessionLog, read
from lsp_harness.text.markdown import fence_code
from lsp_harness.verify.check_registry import check_titles
from lsp_harness.verify.finding import STATUS_MARKS
from lsp_harness.wire.event import Event

NAME = re.compile(r"([0-9A-HJKMNP-TV-Z]{26})/(\d{1,6})")
"""`SESSION/TURN`; a session's id is a ULID, so that no path can be hidden in it."""


def name_of(log: SessionLog, turn: int) -> str:
    return f"{log.id}/{turn}"


def document(name: str, log: SessionLog | None) -> str:
    """The Markdown of a turn. Raises UsageError where there is none of that name."""
    found = NAME.fullmatch(name)
    if not found:
        raise UsageError(f"there is no verdict {name!r}")
    session, turn = found[1], int(found[2])
    left_out = ""
    if log and log.id == session:
        events = log.turns.get(turn, [])
    else:
        file = paths.state_folder() / "sessions" / session / "events.jsonl"
        record = read(file)
        try:
            events = [event for event in record if event.turn == turn]
        except FileError:
            events = []
        left_out = record.said
    if not events:
        raise UsageError("this verdict is no longer in the session log")
    return "\n".join([*_lines(events), *([f"\n({left_out}.)"] if left_out else [])]) + "\n"


def _lines(events: Iterable[Event]) -> Iterator[str]:
    shown: set[int] = set()
    built: dict[int, dict[str, Any]] = {}
    for event in events:
        data = event.data
        match event.type:
            case "invocation.received":
                yield f"# {_TITLES.get(str(data.get('kind')), 'Work')}: {_one_line(data.get('text'))}"
                yield ""
                yield f"`{data.get('path', '')}`, {event.ts}"
            case "output.read":
                yield f"\nFrom the output of a tool: {_one_line(data.get('summary'))}"
            case "context.built":
                built |= dict.fromkeys(data.get("candidates", ()), data)
            case "candidate.generated":
                shown.add(data["candidate"])
                yield from _candidate(data, built.get(data["candidate"], {}))
            case "verify.completed":
                yield from _checks(data, alone=data.get("candidate") not in shown)
            case "candidate.rejected":
                yield f"\nRejected: {_one_line(data.get('reason'))}"
            case "edit.proposed":
                yield f"\n## Proposed: {_one_line(data.get('summary'))}\n"
                yield from fence_code(str(data.get("diff", "")), "diff")
            case "edit.applied":
                yield f"\nApplied {event.ts}."
            case "edit.stale":
                yield "\nNot offered, because the document changed in the meantime."
            case "state.entered" if data.get("state") in ("FAILED", "CANCELLED"):
                yield f"\n## {str(data['state']).capitalize()}{': ' + _one_line(data['reason']) if data.get('reason') else ''}"
            case _:
                pass


_TITLES = {
    "fix": "Fix",
    "check": "Check",
    "edit": "Edit",
    "docstring": "Docstring",
    "tests": "Tests",
    "explain": "Explanation",
}


def _candidate(data: dict[str, Any], built: dict[str, Any]) -> Iterator[str]:
    yield f"\n## Candidate {data['candidate']}: {data.get('kind', '')}"
    yield ""
    yield (
        f"temperature {data.get('temperature', 0):g}, seed {data.get('seed', 0)}; {data.get('evaluated', 0)} tokens "
        f"evaluated, {data.get('reused', 0)} reused, {data.get('generated', 0)} generated"
    )
    if sections := built.get("sections"):
        told = ", ".join(f"{name} {tokens}" for name, tokens in sections.items())
        room = f" of a context of {built['context']:,}" if built.get("context") else ""
        yield ""
        yield f"its prompt: {told}; {built.get('answer', 0)} tokens{room} are reserved for the answer"
    if text := str(data.get("text", "")):
        yield ""
        yield from fence_code(text, "")


def _checks(data: dict[str, Any], *, alone: bool) -> Iterator[str]:
    yield "\n## Checks" if alone else ""
    if alone:
        yield ""
    yield "| check | outcome | ms |"
    yield "| --- | --- | --- |"
    outcomes: list[dict[str, Any]] = data.get("outcomes") or []
    titles = check_titles()
    for outcome in outcomes:
        name = str(outcome.get("check"))
        status = str(outcome.get("status"))
        why = f": {_one_line(outcome['reason'])}" if outcome.get("reason") else ""
        yield f"| {titles.get(name, name)} | {STATUS_MARKS.get(status, '')} {status}{why} | {outcome.get('ms', 0):g} |"
    said = [line for outcome in outcomes for line in outcome.get("said", ())]
    if said:
        yield ""
        yield from fence_code("\n".join(map(str, said)), "text")


def _one_line(text: object) -> str:
    return " ".join(str(text or "").split())
