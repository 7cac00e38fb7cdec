"""Continuing, forking and finding sessions on disk."""

import errno
import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lsp_harness.errors import FileError, UsageError
from lsp_harness.events.code_events import CandidateRejected
from lsp_harness.events.event_codec import EVENT_CLASSES
from lsp_harness.events.event_type import SessionEvent, UnknownEvent
from lsp_harness.events.model_events import ModelCompleted, ModelStarted, ToolCall
from lsp_harness.events.session_events import (
    ErrorOccurred,
    InvocationReceived,
    QueueAdded,
    SessionStarted,
    TurnStarted,
)
from lsp_harness.events.tool_events import PermissionRequested, TaskStarted, ToolCompleted, ToolStarted
from lsp_harness.kernel.log.log_reader import read_history, read_log
from lsp_harness.kernel.log.session_log import SessionLog
from lsp_harness.kernel.log.session_store import SessionStore, close_orphans, short_ids
from lsp_harness.kernel.projections.session_state import SessionState, project_session
from lsp_harness.text.ulid import make_ulid, read_milliseconds


@pytest.fixture
def store(tmp_path: Path) -> SessionStore:
    return SessionStore(tmp_path)


def begin(store: SessionStore, *events: SessionEvent) -> SessionLog:
    """Return the log of a session with an unfinished turn that has these events."""
    log = store.create()
    log.append(SessionStarted("/w", "chat"))
    turn = log.turn()
    for event in (InvocationReceived("message", "hello"), TurnStarted(turn.number, "chat"), *events):
        turn.append(event)
    return log


def close_as_if_killed(log: SessionLog) -> str:
    """Close a log as a killed process leaves it, and return the id of the session."""
    log.close()
    return log.id


def test_a_killed_turn_is_closed_and_the_numbers_go_on(store: SessionStore) -> None:
    call = ToolCall("c1", "bash", {"command": "sleep 9"})
    id = close_as_if_killed(
        begin(store, ModelCompleted("m", tool_calls=(call,)), ToolStarted("c1", "bash"), TaskStarted("t1", "shell"))
    )
    opened = store.open(id)
    assert opened.event_count == 6
    events = list(read_log(store.path(id)))
    assert [event.seq for event in events] == list(range(len(events)))
    closing = [(event.type, event.data.get("reason")) for event in events[6:]]
    assert closing == [
        ("tool.failed", "process_exited"),
        ("task.cancelled", "process_exited"),
        ("turn.stopped", "interrupted"),
    ]
    assert opened.log.turn().number == 1
    opened.log.close()


def test_a_model_call_and_a_question_without_an_answer_are_closed(store: SessionStore) -> None:
    id = close_as_if_killed(begin(store, ModelStarted("m"), PermissionRequested("q1", "bash")))
    opened = store.open(id)
    types = [event.type for event in read_log(store.path(id))][5:]
    assert types == ["model.cancelled", "permission.decided", "turn.stopped"]
    state = opened.log.state
    assert (state.open_calls, state.open_models, state.open_questions, state.open_turns) == ({}, {}, {}, {})
    opened.log.close()


def test_a_session_that_is_opened_twice_in_a_row_is_closed_once(store: SessionStore) -> None:
    id = close_as_if_killed(begin(store, ToolStarted("c1", "bash")))
    store.open(id).log.close()
    size = store.path(id).stat().st_size
    store.open(id).log.close()
    assert store.path(id).stat().st_size == size


def test_a_torn_last_line_stays_and_the_repair_is_recorded(store: SessionStore) -> None:
    id = close_as_if_killed(begin(store))
    path = store.path(id)
    whole = path.read_bytes()
    path.write_bytes(whole[:-7])
    opened = store.open(id)
    opened.log.close()
    assert path.read_bytes().startswith(whole[:-7] + b"\n")
    events = list(read_log(path))
    assert [event.seq for event in events] == list(range(len(events)))
    assert "log.repaired" in [event.type for event in events]


def test_an_event_whose_line_has_no_end_counts(store: SessionStore) -> None:
    id = close_as_if_killed(begin(store))
    path = store.path(id)
    path.write_bytes(path.read_bytes()[:-1])
    opened = store.open(id)
    opened.log.close()
    assert opened.event_count == 3
    assert "log.repaired" not in [event.type for event in read_log(path)]


def test_a_session_has_one_writer(store: SessionStore) -> None:
    log = begin(store)
    with pytest.raises(UsageError, match="is open in the process"):
        store.open(log.id)
    log.close()
    store.open(log.id).log.close()


def test_a_session_is_found_by_the_beginning_of_its_name(store: SessionStore) -> None:
    with pytest.raises(UsageError, match="there is no session yet"):
        store.find("")
    ids = [close_as_if_killed(begin(store)) for _ in range(2)]
    assert store.find(ids[0]) == ids[0]
    assert store.find("") == ids[1]
    with pytest.raises(UsageError, match="there is no session 'nothing'"):
        store.find("nothing")
    with pytest.raises(UsageError, match="2 sessions begin with"):
        store.find(ids[0][:4])
    with pytest.raises(UsageError, match="there is no session"):
        store.open("nothing")


def test_a_session_is_found_by_the_end_of_its_name(store: SessionStore) -> None:
    ids = [close_as_if_killed(begin(store)) for _ in range(30)]
    names = short_ids(ids)
    assert len(set(names.values())) == 30
    for id, name in names.items():
        assert id.endswith(name)
        assert store.find(name.lower()) == id
    assert short_ids(["AAAABBBBBB", "CCCCBBBBBB", "BBBBBBDDDD"]) == {
        "AAAABBBBBB": "ABBBBBB",
        "CCCCBBBBBB": "CBBBBBB",
        "BBBBBBDDDD": "BBDDDD",
    }


def test_the_sessions_of_a_folder_are_found_first(store: SessionStore, tmp_path: Path) -> None:
    def begin_in(folder: Path) -> str:
        folder.mkdir(exist_ok=True)
        log = store.create()
        log.append(SessionStarted(str(folder), "chat", "m", "ask", "1"))
        log.close()
        return log.id

    here, inner, other = tmp_path / "here", tmp_path / "here" / "inner", tmp_path / "other"
    first, last = begin_in(here), begin_in(other)
    inner.mkdir()
    assert store.find("") == last
    assert store.find("", here) == store.find("", inner) == store.find("01", here, is_strict=True) == first
    assert store.find(last, here, is_strict=True) == store.find(last[-8:], here) == last
    with pytest.raises(UsageError, match=f"belongs to {other}"):
        store.find(last[-8:], here, is_strict=True)
    with pytest.raises(UsageError, match="no session of this folder"):
        store.find("", tmp_path, is_strict=True)
    nested = begin_in(inner)
    assert store.ids_of_folder(inner) == [nested]
    assert store.ids_of_folder(here) == [first]


@pytest.mark.parametrize("ahead_ms", [1, 10 * 86_400_000, 10**12])
def test_the_last_session_is_the_last_one_also_if_the_clock_was_ahead(store: SessionStore, ahead_ms: int) -> None:
    now = read_milliseconds(make_ulid())
    ahead = SessionLog(store.folder, id=make_ulid(now + ahead_ms))
    ahead.append(SessionStarted("/w", "chat"))
    ahead.close()
    for _ in range(2):
        assert close_as_if_killed(begin(store)) == store.find("")
    assert close_as_if_killed(store.fork(ahead.id).log) == store.find("")


def test_sessions_can_be_made_after_the_last_possible_id(store: SessionStore) -> None:
    last = SessionLog(store.folder, id="7ZZZZZZZZZZZZZZZZZZZZZZZZZ")
    last.append(SessionStarted("/w", "chat"))
    last.close()
    assert close_as_if_killed(begin(store)) in store.ids()


def test_a_fork_copies_no_events_and_does_not_change_the_original(store: SessionStore) -> None:
    log = begin(store)
    for number in range(20):
        log.append(CandidateRejected(number, "no"), turn=0)
    original = log.path.read_bytes()
    first, second = store.fork(log.id, 5), store.fork(log.id, 12)
    for forked in (first, second):
        forked.log.turn().append(InvocationReceived("message", "another way"))
    assert log.path.read_bytes() == original
    assert first.log.path.stat().st_size < len(original)
    for forked, at in ((first, 5), (second, 12)):
        history = list(read_history(store.folder, forked.log.id))
        assert [event.seq for event in history] == list(range(len(history)))
        assert [event.session_id for event in history[: at + 1]] == [log.id] * (at + 1)
        assert history[at + 1].data == {"parent": log.id, "at_seq": at}
    log.close()
    first.log.close()
    reopened = store.open(first.log.id)
    assert reopened.log.state == project_session(read_history(store.folder, first.log.id))
    # a fork of a fork at an event of the first session
    second.log.close()
    third = store.fork(second.log.id, 3)
    assert [event.seq for event in read_history(store.folder, third.log.id)][:5] == [0, 1, 2, 3, 4]
    assert list(store.lineage(third.log.id)) == [third.log.id, second.log.id, log.id]
    third.log.close()
    reopened.log.close()


def test_an_error_names_the_removed_origin_of_a_fork(store: SessionStore, tmp_path: Path) -> None:
    origin = close_as_if_killed(begin(store))
    fork = store.fork(origin)
    fork.log.close()
    store.path(origin).rename(tmp_path / "gone")
    with pytest.raises(FileError, match=f"the session {fork.log.id} continues {origin}, whose folder was removed"):
        store.open(fork.log.id)


def test_a_log_is_not_written_through_a_link(store: SessionStore, tmp_path: Path) -> None:
    id, target = close_as_if_killed(begin(store)), tmp_path / "other"
    target.write_text("not a log\n")
    store.path(id).unlink()
    store.path(id).symlink_to(target)
    with pytest.raises(FileError, match="is a link, not the log of a session"):
        store.open(id)
    # and a log that is open already does not follow a link either
    log = SessionLog(store.folder, id=id)
    log.append(SessionStarted())
    log.close()
    assert target.read_text() == "not a log\n"


def test_a_lock_that_is_a_link_does_not_empty_its_target(store: SessionStore, tmp_path: Path) -> None:
    id, target = close_as_if_killed(begin(store)), tmp_path / "other"
    target.write_text("not a lock\n")
    lock = store.path(id).with_name("lock")
    lock.unlink()
    lock.symlink_to(target)
    store.open(id).log.close()
    assert target.read_text() == "not a lock\n"


def test_a_damaged_number_does_not_repeat_numbers(store: SessionStore) -> None:
    id = close_as_if_killed(begin(store))
    lines = store.path(id).read_text()
    store.path(id).write_text(lines + json.dumps({**json.loads(lines.splitlines()[0]), "seq": -5}) + "\n")
    opened = store.open(id)
    opened.log.close()
    assert opened.event_count == 3


def test_an_empty_session_cannot_be_forked(store: SessionStore) -> None:
    log = store.create()
    log.acquire()
    log.close()
    with pytest.raises(UsageError, match="has no events"):
        store.fork(log.id)
    with pytest.raises(UsageError, match="has no event -1"):
        store.fork(log.id, -1)
    assert store.ids() == [log.id]


@pytest.mark.parametrize("damage", [{"turn": "x"}, {"turn": 1.5}, {"turn": []}])
def test_a_line_with_a_wrong_number_of_a_turn_is_left_out(store: SessionStore, damage: dict[str, object]) -> None:
    log = store.create()
    log.append(SessionStarted())
    log.close()
    line = json.loads(log.path.read_text())
    log.path.write_text(log.path.read_text() + json.dumps({**line, "seq": 1, **damage}) + "\n")
    opened = store.open(log.id)
    assert opened.event_count == 1
    opened.log.close()


def test_a_session_is_continued_on_a_full_disk(store: SessionStore, monkeypatch: pytest.MonkeyPatch) -> None:
    log = store.create()
    log.append(SessionStarted())
    log.close()
    log.path.write_bytes(log.path.read_bytes() + b'{"v":1,"id":')

    def write(descriptor: int, data: bytes) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("lsp_harness.kernel.log.session_log.write_all", write)
        opened = store.open(log.id)
        assert opened.event_count == 1
        opened.log.append(ErrorOccurred("not kept"))
    # as soon as there is room, events are whole lines again
    opened.log.append(ErrorOccurred("kept"))
    opened.log.close()
    assert [event.data.get("message") for event in read_log(log.path)] == [None, "kept"]


def test_a_fork_in_the_middle_of_a_call_closes_the_call_only_in_the_fork(store: SessionStore) -> None:
    log = begin(store, ToolStarted("c1", "bash"))
    log.append(ToolCompleted("c1", "bash", "done"), turn=0)
    forked = store.fork(log.id, 3)
    assert [event.type for event in read_log(forked.log.path)] == ["session.forked", "tool.failed", "turn.stopped"]
    with pytest.raises(UsageError, match="has no event 99; `lsp-harness events"):
        store.fork(log.id, 99)
    log.close()
    forked.log.close()


def test_a_session_that_continues_itself_is_reported_as_damaged(store: SessionStore, tmp_path: Path) -> None:
    ids = ["A" * 26, "B" * 26]
    for id, parent in zip(ids, reversed(ids), strict=True):
        log = SessionLog(tmp_path, id=id)
        log.append(UnknownEvent("session.forked", {"parent": parent, "at_seq": 0}))
        log.close()
    with pytest.raises(UsageError, match="continues itself"):
        store.open(ids[0])


any_event = st.sampled_from(list(EVENT_CLASSES.values())).flatmap(st.builds)


@settings(max_examples=60, deadline=None)
@given(events=st.lists(any_event, max_size=12), cut=st.integers(0, 12))
def test_the_state_of_a_beginning_and_the_rest_is_the_state_of_all(events: list[SessionEvent], cut: int) -> None:
    log = SessionLog(is_saved=False)
    turns = [log.turn(), log.turn()]
    envelopes = [turns[number % 2].append(event) for number, event in enumerate(events)]
    whole = project_session(envelopes)
    state = project_session(envelopes[:cut])
    for event in envelopes[cut:]:
        state.apply(event)
    assert repr(state) == repr(whole)


@settings(max_examples=60, deadline=None)
@given(events=st.lists(any_event, max_size=12))
def test_no_call_question_or_task_is_open_after_the_orphans_are_closed(events: list[SessionEvent]) -> None:
    log = SessionLog(is_saved=False)
    turn = log.turn()
    for event in events:
        turn.append(event)
    close_orphans(log)
    state = log.state
    assert (state.open_calls, state.open_models, state.open_questions, state.open_tasks) == ({}, {}, {}, {})
    assert state.open_turns == {}


def test_a_queued_text_survives_until_it_is_used(store: SessionStore) -> None:
    log = begin(store, QueueAdded("i1", "follow_up", "and then this"))
    opened = store.open(close_as_if_killed(log))
    assert [item.text for item in opened.log.state.queued("follow_up")] == ["and then this"]
    opened.log.turn().append(InvocationReceived("follow_up", "and then this", item_id="i1"))
    assert opened.log.state.queue == {}
    opened.log.close()


def test_the_state_reads_neither_the_clock_nor_a_file(monkeypatch: pytest.MonkeyPatch) -> None:
    log = SessionLog(is_saved=False)
    envelopes = [log.turn().append(InvocationReceived("message", "hello"))]

    def refuse(*args: object, **names: object) -> None:
        raise AssertionError("a projection reads only events")

    monkeypatch.setattr("builtins.open", refuse)
    monkeypatch.setattr("time.time", refuse)
    monkeypatch.setattr("time.monotonic", refuse)
    assert project_session(envelopes).conversation.messages[0].text == "hello"
    assert SessionState() == project_session([])
