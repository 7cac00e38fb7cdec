"""The form of the events in the log."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lsp_harness.cli.proposal_output import VerdictTable
from lsp_harness.events.code_events import (
    CandidateGenerated,
    CandidateRejected,
    CheckReport,
    ChecksCompleted,
    ChoiceFailed,
    ChoiceMade,
    ContextBuilt,
    EditApplied,
    EditProposed,
    EditStale,
    OutputRead,
    RecordedEdit,
    StateEntered,
)
from lsp_harness.events.event_codec import EVENT_CLASSES, decode_event, encode_event
from lsp_harness.events.event_type import SessionEvent, UnknownEvent
from lsp_harness.events.session_events import IndexUpdated, InvocationReceived
from lsp_harness.harness.verification.verdict_document import render_document
from lsp_harness.kernel.log.session_log import SessionLog

REPORT = CheckReport("lint", "failed", "", 1.5, ("LINT: F401 unused",))
EVENTS: list[tuple[SessionEvent, str, list[str]]] = [
    (InvocationReceived("edit", "use pi", "a.py"), "invocation.received", ["kind", "text", "path"]),
    (InvocationReceived("fix", "bad", "a.py", "ruff"), "invocation.received", ["kind", "text", "path", "source"]),
    (StateEntered("LOCATE"), "state.entered", ["state"]),
    (StateEntered("FAILED", 1, "no answer"), "state.entered", ["state", "round", "reason"]),
    (OutputRead("pytest", "1 failed"), "output.read", ["tool", "summary"]),
    (
        ContextBuilt({"code": 7}, 9, 20, 0, (1, 2), "fill 1"),
        "context.built",
        ["sections", "prompt", "answer", "context", "candidates", "template"],
    ),
    (
        CandidateGenerated(1, "fill", 0.3, 2, "x", 3, 4, 5, (RecordedEdit(0, 1, "x"),)),
        "candidate.generated",
        ["candidate", "kind", "temperature", "seed", "text", "evaluated", "reused", "generated", "edits"],
    ),
    (CandidateRejected(1, "it changes nothing"), "candidate.rejected", ["candidate", "reason"]),
    (
        ChecksCompleted("h", False, (REPORT,), 1),
        "verify.completed",
        ["hash", "passed", "outcomes", "candidate", "standing", "words"],
    ),
    (ChecksCompleted("h", True, ()), "verify.completed", ["hash", "passed", "outcomes", "standing", "words"]),
    (EditProposed("h", "-a\n+b", "passes"), "edit.proposed", ["hash", "diff", "summary"]),
    (EditApplied("1"), "edit.applied", ["proposal"]),
    (EditStale("h"), "edit.stale", ["hash"]),
    (ChoiceMade(2, {1: 0.5, 2: 0.4}, True), "choice.made", ["candidate", "costs", "agreed"]),
    (ChoiceFailed("timeout"), "choice.failed", ["reason"]),
    (IndexUpdated("src", 3, 40, 120), "index.updated", ["folder", "paths", "files", "ms"]),
    (UnknownEvent("a.new.type", {"x": [1]}), "a.new.type", ["x"]),
]


@pytest.mark.parametrize(("event", "type", "keys"), EVENTS, ids=[type for _, type, _ in EVENTS])
def test_each_type_of_event_is_encoded_with_its_keys_and_decoded(
    event: SessionEvent, type: str, keys: list[str]
) -> None:
    encoded_type, data = encode_event(event)
    assert (encoded_type, list(data)) == (type, keys)
    assert decode_event(encoded_type, data) == event


@pytest.mark.parametrize("type", EVENT_CLASSES)
@settings(max_examples=20, deadline=None)
@given(data=st.data())
def test_each_event_can_be_read_back_from_its_line(type: str, data: st.DataObject) -> None:
    event = data.draw(st.builds(EVENT_CLASSES[type]))
    encoded_type, fields = encode_event(event)
    read_fields = json.loads(json.dumps(fields))
    assert encoded_type == type
    assert json.dumps(encode_event(decode_event(encoded_type, read_fields))[1]) == json.dumps(fields)


def test_a_report_has_the_keys_of_the_log() -> None:
    _, data = encode_event(ChecksCompleted("h", False, (REPORT,)))
    assert data["outcomes"] == [
        {
            "check": "lint",
            "status": "failed",
            "reason": "",
            "ms": 1.5,
            "said": ["LINT: F401 unused"],
            "extent": "",
            "is_opinion": False,
            "is_unresolved": False,
        }
    ]


VALUES = [None, True, -3, 1.5, float("nan"), "x", [], [None, 2], {"a": "b"}, [{"check": 3, "status": None, "said": 7}]]
KEYS = sorted({key for _, _, keys in EVENTS for key in keys} | {"check", "status", "said", "ms"})


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.sampled_from(sorted({type for _, type, _ in EVENTS})),
            st.dictionaries(st.sampled_from(KEYS), st.sampled_from(VALUES)),
        ),
        min_size=1,
        max_size=8,
    )
)
def test_no_reader_fails_on_the_events_of_another_version(rows: list[tuple[str, dict[str, Any]]]) -> None:
    log, verdicts = SessionLog(is_saved=False), VerdictTable()
    log.listeners.append(verdicts)
    turn = log.turn()
    for type, data in rows:
        turn.append(UnknownEvent(type, data))
    verdicts.render()
    assert log.summary.turns <= len(rows)
    assert render_document(f"{log.id}/{turn.number}", log)
