"""A turn of the session as a document: what was asked, each candidate, and each check with its outcome.

The document is rendered from the events of the turn, those in memory or those in the file of the session.
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

DOCUMENT_NAME = re.compile(r"([0-9A-HJKMNP-TV-Z]{26})/(\d{1,6})")
"""`SESSION/TURN`. The id of a session is a ULID, so that no path can be hidden in it."""
TITLES = {
    "fix": "Fix",
    "check": "Check",
    "edit": "Edit",
    "docstring": "Docstring",
    "tests": "Tests",
    "explain": "Explanation",
}
"""The title of a document, by the kind of the turn."""


def document_name(log: SessionLog, turn: int) -> str:
    """Return the name of the document of a turn."""
    return f"{log.id}/{turn}"


def render_turn(name: str, log: SessionLog | None) -> str:
    """Return the document of a turn, in Markdown.

    Args:
        name: The name of the document.
        log: The log of this session. Other sessions are read from their files.

    Raises:
        UsageError: There is no document of this name.
    """
    match = DOCUMENT_NAME.fullmatch(name)
    if not match:
        raise UsageError(f"there is no verdict {name!r}")
    session, turn = match[1], int(match[2])
    warning = ""
    if log and log.id == session:
        events = log.turns.get(turn, [])
    else:
        file = paths.state_folder() / "sessions" / session / "events.jsonl"
        record = read(file)
        try:
            events = [event for event in record if event.turn == turn]
        except FileError:
            events = []
        warning = record.said
    if not events:
        raise UsageError("this verdict is no longer in the session log")
    return "\n".join([*_lines(events), *([f"\n({warning}.)"] if warning else [])]) + "\n"


def _lines(events: Iterable[Event]) -> Iterator[str]:
    generated: set[int] = set()
    contexts: dict[int, dict[str, Any]] = {}
    for event in events:
        data = event.data
        match event.type:
            case "invocation.received":
                yield f"# {TITLES.get(str(data.get('kind')), 'Work')}: {_one_line(data.get('text'))}"
                yield ""
                yield f"`{data.get('path', '')}`, {event.ts}"
            case "output.read":
                yield f"\nFrom the output of a tool: {_one_line(data.get('summary'))}"
            case "context.built":
                contexts |= dict.fromkeys(data.get("candidates", ()), data)
            case "candidate.generated":
                generated.add(data["candidate"])
                yield from _candidate_lines(data, contexts.get(data["candidate"], {}))
            case "verify.completed":
                yield from _check_lines(data, has_heading=data.get("candidate") not in generated)
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
                reason = f": {_one_line(data['reason'])}" if data.get("reason") else ""
                yield f"\n## {str(data['state']).capitalize()}{reason}"
            case _:
                pass


def _candidate_lines(data: dict[str, Any], context: dict[str, Any]) -> Iterator[str]:
    yield f"\n## Candidate {data['candidate']}: {data.get('kind', '')}"
    yield ""
    yield (
        f"temperature {data.get('temperature', 0):g}, seed {data.get('seed', 0)}; {data.get('evaluated', 0)} tokens "
        f"evaluated, {data.get('reused', 0)} reused, {data.get('generated', 0)} generated"
    )
    if sections := context.get("sections"):
        sizes = ", ".join(f"{name} {tokens}" for name, tokens in sections.items())
        size = f" of a context of {context['context']:,}" if context.get("context") else ""
        yield ""
        yield f"its prompt: {sizes}; {context.get('answer', 0)} tokens{size} are reserved for the answer"
    if text := str(data.get("text", "")):
        yield ""
        yield from fence_code(text, "")


def _check_lines(data: dict[str, Any], *, has_heading: bool) -> Iterator[str]:
    yield "\n## Checks" if has_heading else ""
    if has_heading:
        yield ""
    yield "| check | outcome | ms |"
    yield "| --- | --- | --- |"
    outcomes: list[dict[str, Any]] = data.get("outcomes") or []
    titles = check_titles()
    for outcome in outcomes:
        name = str(outcome.get("check"))
        status = str(outcome.get("status"))
        reason = f": {_one_line(outcome['reason'])}" if outcome.get("reason") else ""
        yield f"| {titles.get(name, name)} | {STATUS_MARKS.get(status, '')} {status}{reason} | {outcome.get('ms', 0):g} |"
    printed = [line for outcome in outcomes for line in outcome.get("said", ())]
    if printed:
        yield ""
        yield from fence_code("\n".join(map(str, printed)), "text")


def _one_line(text: object) -> str:
    return " ".join(str(text or "").split())
