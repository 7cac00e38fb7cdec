"""The Markdown document of a turn: the request, each candidate, each check and its findings.

Nothing is stored for it. It is made from the events of the turn, in memory or in the log of the session.
"""

import re
from collections.abc import Iterable, Iterator

from lsp_harness.config import paths
from lsp_harness.errors import FileError, UsageError
from lsp_harness.events.code_events import (
    CandidateGenerated,
    CandidateRejected,
    ChecksCompleted,
    ContextBuilt,
    EditApplied,
    EditProposed,
    EditStale,
    OutputRead,
    StateEntered,
)
from lsp_harness.events.event_codec import decode_event
from lsp_harness.events.session_events import InvocationReceived
from lsp_harness.kernel.log.log_reader import log_path, read_log
from lsp_harness.kernel.log.session_log import SessionLog
from lsp_harness.text.wording import fence_code
from lsp_harness.wire.event import Event
from lsp_harness.wire.verdict_words import STATUS_MARKS, explain_standing

DOCUMENT_NAME = re.compile(r"([0-9A-HJKMNP-TV-Z]{26})/(\d{1,6})")
"""`SESSION/TURN`. The id of a session is a ULID, so no path can be hidden in it."""
TITLES = {
    "fix": "Fix",
    "prepare": "Prepared fix",
    "check": "Check",
    "edit": "Edit",
    "docstring": "Docstring",
    "tests": "Tests",
    "explain": "Explanation",
}
"""Kind of a turn → the first word of its document."""


def make_document_name(log: SessionLog, turn: int) -> str:
    """Return the name of the document of a turn."""
    return f"{log.id}/{turn}"


def render_document(name: str, log: SessionLog | None) -> str:
    """Return the document of a turn as Markdown.

    Args:
        name: The name of the document.
        log: The log of this session, if there is one. Other sessions are read from disk.

    Raises:
        UsageError: There is no such document.
    """
    match = DOCUMENT_NAME.fullmatch(name)
    if not match:
        raise UsageError(f"there is no verdict {name!r}")
    session, turn = match[1], int(match[2])
    warning = ""
    if log and log.id == session:
        events = log.turns.get(turn, [])
    else:
        reader = read_log(log_path(paths.sessions_folder(), session))
        try:
            events = [event for event in reader if event.turn == turn]
        except FileError:
            events = []
        warning = reader.warning
    if not events:
        raise UsageError("this verdict is no longer in the session log")
    return "\n".join([*_render_events(events), *([f"\n({warning}.)"] if warning else [])]) + "\n"


def _render_events(events: Iterable[Event]) -> Iterator[str]:
    shown_numbers: set[int] = set()
    prompts: dict[int, ContextBuilt] = {}
    for envelope in events:
        match decode_event(envelope.type, envelope.data):
            case InvocationReceived(kind=kind, text=text, path=path):
                yield f"# {TITLES.get(kind, 'Work')}: {_one_line(text)}"
                yield ""
                yield f"`{path}`, {envelope.ts}"
            case OutputRead(summary=summary):
                yield f"\nFrom the output of a tool: {_one_line(summary)}"
            case ContextBuilt() as prompt:
                prompts |= dict.fromkeys(prompt.candidates, prompt)
            case CandidateGenerated() as candidate:
                shown_numbers.add(candidate.candidate)
                yield from _render_candidate(candidate, prompts.get(candidate.candidate))
            case ChecksCompleted() as checks:
                yield from _render_checks(checks, has_heading=checks.candidate not in shown_numbers)
            case CandidateRejected(reason=reason):
                yield f"\nRejected: {_one_line(reason)}"
            case EditProposed(summary=summary, diff=diff):
                yield f"\n## Proposed: {_one_line(summary)}\n"
                yield from fence_code(diff, "diff")
            case EditApplied():
                yield f"\nApplied {envelope.ts}."
            case EditStale():
                yield "\nNot offered, because the document changed in the meantime."
            case StateEntered(state="FAILED" | "CANCELLED" as state, reason=reason):
                yield f"\n## {state.capitalize()}{': ' + _one_line(reason) if reason else ''}"
            case _:
                pass


def _render_candidate(candidate: CandidateGenerated, prompt: ContextBuilt | None) -> Iterator[str]:
    yield f"\n## Candidate {candidate.candidate}: {candidate.kind}"
    yield ""
    yield (
        f"temperature {candidate.temperature:g}, seed {candidate.seed}; {candidate.evaluated} tokens evaluated, "
        f"{candidate.reused} reused, {candidate.generated} generated"
    )
    if prompt and prompt.sections:
        sections = ", ".join(f"{name} {tokens}" for name, tokens in prompt.sections.items())
        context = f" of a context of {prompt.context:,}" if prompt.context else ""
        yield ""
        yield f"its prompt: {sections}; {prompt.answer} tokens{context} are reserved for the answer"
    if candidate.text:
        yield ""
        yield from fence_code(candidate.text, "")


def _render_checks(checks: ChecksCompleted, *, has_heading: bool) -> Iterator[str]:
    # imported late, because the checks import the parser, and the server starts without it
    from lsp_harness.verify.checks import check_titles

    yield "\n## Checks" if has_heading else ""
    if has_heading:
        yield ""
    yield f"**{_one_line(explain_standing(checks.outcomes))}**"
    yield ""
    yield "| check | outcome | ms |"
    yield "| --- | --- | --- |"
    titles = check_titles()
    for report in checks.outcomes:
        remark = "; ".join(_one_line(part) for part in (report.extent, report.reason) if part)
        still = ", still wrong" if report.is_unresolved else ""
        mark = STATUS_MARKS.get(report.status, "")
        outcome = f"{mark} {report.status}{still}" + (f": {remark}" if remark else "")
        yield f"| {titles.get(report.check, report.check)} | {outcome} | {report.ms:g} |"
    if lines := [line for report in checks.outcomes for line in report.lines]:
        yield ""
        yield from fence_code("\n".join(lines), "text")


def _one_line(text: str) -> str:
    return " ".join(text.split())
