"""Tests of the session log: one line for each event, in order, readable only by the user."""

import errno
import json
import os
import stat
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lsp_harness.events.code_events import CandidateRejected, OutputRead, StateEntered
from lsp_harness.events.event_type import UnknownEvent
from lsp_harness.events.session_events import InvocationReceived
from lsp_harness.kernel.log.log_reader import read_log
from lsp_harness.kernel.log.session_log import SessionLog
from lsp_harness.wire.event import EVENT_VERSION, Event, decode, encode
from tests.files.test_secrets import TOKEN


def make_note(type: str, /, **data: Any) -> UnknownEvent:
    """Return an event of a type that only these tests know."""
    return UnknownEvent(type, data)


KEYS = ["v", "id", "seq", "ts", "session_id", "turn", "step", "cause", "type", "data"]


@pytest.fixture
def log(tmp_path: Path):
    log = SessionLog(tmp_path / "sessions")
    yield log
    log.close()


def read_rows(log: SessionLog) -> list[dict]:
    return [json.loads(line) for line in log.path.read_bytes().splitlines()]


def test_an_event_on_disk_has_exactly_these_keys(log: SessionLog) -> None:
    turn = log.turn()
    turn.append(InvocationReceived("fix", "x", "a.py"))
    turn.append(StateEntered("LOCATE"))
    assert [list(row) for row in read_rows(log)] == [KEYS, KEYS]
    assert {row["v"] for row in read_rows(log)} == {EVENT_VERSION} == {1}
    assert {row["session_id"] for row in read_rows(log)} == {log.id}


def test_the_numbers_have_no_gaps_over_turns_that_overlap(log: SessionLog) -> None:
    first, other = log.turn(), log.turn()
    for turn in (first, other, other, first, other):
        turn.append(make_note("x"))
    log.append(make_note("session.note"))
    assert [(row["seq"], row["turn"]) for row in read_rows(log)] == [(0, 0), (1, 1), (2, 1), (3, 0), (4, 1), (5, None)]


def test_events_name_their_cause_and_the_state_of_their_turn(log: SessionLog) -> None:
    turn = log.turn()
    first = turn.append(OutputRead("pytest", "1 failed"))
    turn.append(StateEntered("LOCATE", round=0))
    turn.append(CandidateRejected(1, "it changes nothing"))
    assert [(row["cause"], row["step"], row["type"], row["data"]) for row in read_rows(log)] == [
        (None, None, "output.read", {"tool": "pytest", "summary": "1 failed"}),
        (first.id, "LOCATE", "state.entered", {"state": "LOCATE", "round": 0}),
        (first.id, "LOCATE", "candidate.rejected", {"candidate": 1, "reason": "it changes nothing"}),
    ]


def test_only_the_user_can_read_the_log(log: SessionLog) -> None:
    log.turn().append(make_note("x"))
    assert stat.S_IMODE(log.path.stat().st_mode) == 0o600
    assert stat.S_IMODE(log.path.parent.stat().st_mode) == 0o700


def test_a_session_without_events_leaves_no_folder(log: SessionLog) -> None:
    log.turn()
    log.close()
    assert not log.path.parent.exists()


def test_a_torn_last_line_is_ignored(log: SessionLog) -> None:
    turn = log.turn()
    expected = [turn.append(make_note("x", n=n)) for n in range(3)]
    whole = log.path.read_bytes()
    for size in range(len(whole) - len(whole.splitlines(keepends=True)[-1]), len(whole)):
        log.path.write_bytes(whole[:size])
        assert list(read_log(log.path)) == expected[:2]
    log.path.write_bytes(whole)
    assert list(read_log(log.path)) == expected


def test_a_line_torn_inside_of_a_character_is_ignored_too(log: SessionLog) -> None:
    expected = log.turn().append(make_note("x", text="é"))
    whole = log.path.read_bytes()
    log.path.write_bytes(whole + whole[: whole.index("é".encode()) + 1])
    assert list(read_log(log.path)) == [expected]


def test_a_closed_log_continues_in_the_same_file(log: SessionLog) -> None:
    turn = log.turn()
    expected = [turn.append(make_note("x"))]
    log.close()
    expected.append(turn.append(make_note("y")))
    assert list(read_log(log.path)) == expected


def test_listeners_are_called_after_an_event_is_on_disk(log: SessionLog) -> None:
    calls: list[tuple[Event, int]] = []
    log.listeners.append(lambda event: calls.append((event, len(read_rows(log)))))
    turn = log.turn()
    expected = [turn.append(make_note("x")), turn.append(make_note("y", text="\u2028\n\x85"))]
    assert [event for event, _ in calls] == expected
    assert calls[0][1] == 1
    assert list(read_log(log.path)) == expected


def test_sessions_are_in_order_of_their_names(tmp_path: Path) -> None:
    ids = [SessionLog(tmp_path).id for _ in range(3)]
    assert len(set(ids)) == 3
    assert {len(id) for id in ids} == {26}


texts = st.text(st.characters(), max_size=8) | st.sampled_from(["\u2028", "\x85", "\r\n", "\x00", "é😀"])
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)
events = st.builds(
    Event,
    id=texts,
    seq=st.integers(0),
    ts=texts,
    session_id=texts,
    turn=st.none() | st.integers(0),
    step=st.none() | texts,
    cause=st.none() | texts,
    type=texts,
    data=st.dictionaries(texts, values, max_size=3),
)


@settings(max_examples=150, deadline=None)
@given(events)
def test_an_event_can_be_read_back_from_its_line(event: Event) -> None:
    line = encode(event)
    assert "\n" not in line
    assert "\r" not in line
    assert list(json.loads(line)) == KEYS
    assert decode(line) == event


def test_unknown_fields_of_a_newer_version_are_ignored() -> None:
    event = Event("id", 0, "ts", "s", None, None, None, "x", {"a": 1})
    line = json.dumps({**json.loads(encode(event)), "new": 1})
    assert decode(line) == event


def test_half_a_surrogate_pair_does_not_lose_the_event(log: SessionLog) -> None:
    log.turn().append(make_note("x", text="a\ud83d"))
    log.turn().append(make_note("y"))
    assert [(event.type, event.data) for event in read_log(log.path)] == [("x", {"text": "a?"}), ("y", {})]


def test_no_secret_is_written_in_any_field(log: SessionLog) -> None:
    event = log.turn().append(
        make_note("x", diff=f" a\n-key = '{TOKEN}'\n", deep={"list": [1, f"é {TOKEN}."]}, plain="ghp_short")
    )

    assert TOKEN not in log.path.read_text()
    assert event.data == {"diff": " a\n-key = '…'\n", "deep": {"list": [1, "é …."]}, "plain": "ghp_short"}


def test_an_unsaved_session_calls_its_listeners_and_writes_no_file(tmp_path: Path) -> None:
    log, calls = SessionLog(tmp_path / "sessions", is_saved=False), list[Event]()
    log.listeners.append(calls.append)
    log.turn().append(make_note("x"))
    log.turn().append(make_note("y"))

    assert [(event.seq, event.type) for event in calls] == [(0, "x"), (1, "y")]
    assert not (tmp_path / "sessions").exists()


def test_an_unsaved_turn_calls_its_listeners_and_leaves_no_gap_in_the_file(log: SessionLog) -> None:
    calls: list[Event] = []
    log.listeners.append(calls.append)
    log.turn().append(make_note("a"))
    unwritten = log.turn(is_saved=False)
    unwritten.append(make_note("b"))
    log.turn().append(make_note("c"))
    assert [event.type for event in calls] == ["a", "b", "c"]
    assert [event.type for event in log.turns[unwritten.number]] == ["b"]
    assert [(event.type, event.seq) for event in read_log(log.path)] == [("a", 0), ("c", 1)]


class LimitedDisk:
    """A disk with room for a number of bytes."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.room = 10**9
        self._write = os.write
        monkeypatch.setattr(os, "write", self.write)

    def write(self, descriptor: int, data: bytes) -> int:
        if not self.room:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        wrote = self._write(descriptor, bytes(data[: self.room]))
        self.room -= wrote
        return wrote


@pytest.mark.parametrize("room", [0, 1, 40, 150])
def test_a_full_disk_loses_only_the_events_without_room(
    log: SessionLog, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, room: int
) -> None:
    disk = LimitedDisk(monkeypatch)
    turn = log.turn()
    first = turn.append(make_note("x", n=1))
    disk.room = room
    turn.append(make_note("x", n=2))
    turn.append(make_note("x", n=3))
    disk.room = 10**9
    last = turn.append(make_note("x", n=4))
    record = read_log(log.path)
    assert [*record] == [first, last]
    assert record.skipped_lines == (1 if room else 0)
    [message] = [line for line in caplog.messages if str(log.path) in line]
    assert "what happens in this session is not kept" in message
    assert "set XDG_STATE_HOME" in message or "set LSP_HARNESS_HOME" in message


def test_a_partial_write_is_completed(log: SessionLog, monkeypatch: pytest.MonkeyPatch) -> None:
    write = os.write
    monkeypatch.setattr(os, "write", lambda descriptor, data: write(descriptor, bytes(data[:7])))
    turn = log.turn()
    expected = [turn.append(make_note("x", n=n)) for n in range(3)]
    assert [*read_log(log.path)] == expected


@pytest.mark.parametrize(
    "line",
    [
        b'{"v":1,"id":"01', b"\xff\xfe", b"[1, 2]", b"null", b"7", b'{"id": 3}', b"\0" * 4096, b"[" * 100_000,
        b'{"v":1,"id":"a","seq":0,"ts":"","session_id":"","type":"x","data":[]}',
    ],
)  # fmt: skip
def test_an_invalid_line_is_left_out_and_counted(log: SessionLog, line: bytes) -> None:
    turn = log.turn()
    expected = [turn.append(make_note("x", n=n)) for n in range(2)]
    lines = log.path.read_bytes().splitlines(keepends=True)
    log.path.write_bytes(line + b"\n" + lines[0] + line + b"\n\n" + lines[1] + line)
    record = read_log(log.path)
    assert [*record] == expected
    assert record.skipped_lines == 3
    assert record.warning.startswith(f"3 lines were left out of {log.path}")


def test_a_folder_that_cannot_be_made_costs_no_turn(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    log = SessionLog(tmp_path / "file")
    expected = log.turn().append(make_note("x"))
    assert log.turns[0] == [expected]
