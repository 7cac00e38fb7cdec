"""Another process reads a session while it is written."""

import asyncio
import fcntl
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from lsp_harness.events.code_events import CandidateRejected
from lsp_harness.events.session_events import InvocationReceived, SessionStarted, TurnStarted
from lsp_harness.kernel.log.log_reader import follow_log
from lsp_harness.kernel.log.session_log import SessionLog
from lsp_harness.kernel.log.session_store import SessionStore
from lsp_harness.wire.event import Event

pytestmark = pytest.mark.process

EVENT_COUNT = 40


def begin(folder: Path) -> SessionLog:
    log = SessionStore(folder).create()
    log.append(SessionStarted("/w", "chat"))
    return log


@contextmanager
def follow_events(state: Path, id: str) -> Iterator[Iterator[dict[str, object]]]:
    """Yield the events that `lsp-harness events --follow --json` prints in its own process."""
    command = [sys.executable, "-m", "lsp_harness", "events", id, "--follow", "--json"]
    environment = {**os.environ, "XDG_STATE_HOME": str(state), "PYTHONUNBUFFERED": "1"}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, env=environment)
    assert process.stdout
    try:
        yield (json.loads(line) for line in process.stdout)
    finally:
        process.terminate()
        process.wait()
        process.stdout.close()


def test_another_process_shows_each_event_once_while_the_log_is_written(tmp_path: Path) -> None:
    log = begin(tmp_path / "lsp-harness" / "sessions")
    with follow_events(tmp_path, log.id) as shown:
        assert next(shown)["seq"] == 0
        for number in range(EVENT_COUNT):
            log.append(CandidateRejected(number, "no " * 50))
            if number % 10 == 0:
                # the reader has caught up, and now meets a line of which only a part is there
                assert [next(shown)["seq"] for _ in range(10 if number else 1)][-1] == number + 1
        rest = [next(shown)["seq"] for _ in range(EVENT_COUNT - 31)]
    assert rest == list(range(32, EVENT_COUNT + 1))
    # nobody took the lock or changed the file
    assert log.path.read_bytes().count(b"\n") == EVENT_COUNT + 1
    log.append(CandidateRejected(99, "still the writer"))
    log.close()


async def collect(path: Path, count: int, events: list[Event]) -> None:
    async for event in follow_log(path):
        events.append(event)
        if len(events) == count:
            return


async def test_a_line_is_read_when_it_is_complete(tmp_path: Path) -> None:
    log = begin(tmp_path)
    log.append(CandidateRejected(1, "first ü"))
    log.close()
    whole = log.path.read_bytes()
    lines = whole.splitlines(keepends=True)
    log.path.write_bytes(lines[0])
    events: list[Event] = []
    reading = asyncio.ensure_future(collect(log.path, 2, events))
    with log.path.open("ab", buffering=0) as file:
        for start in range(0, len(lines[1]), 40):
            assert [event.seq for event in events] in ([], [0])
            file.write(lines[1][start : start + 40])
            # the reader looks at the file between two pieces
            await asyncio.wait({reading}, timeout=0.06)
    await asyncio.wait_for(reading, 5)
    assert [event.seq for event in events] == [0, 1]
    assert log.path.read_bytes() == whole


async def test_a_reader_follows_a_repaired_log_without_a_lock(tmp_path: Path) -> None:
    store = SessionStore(tmp_path)
    log = begin(tmp_path)
    turn = log.turn()
    turn.append(InvocationReceived("message", "hello"))
    turn.append(TurnStarted(turn.number, "chat"))
    log.close()
    events: list[Event] = []
    with log.path.open("ab", buffering=0) as file:
        file.write(b'{"v":1,"id":"torn')
    size = log.path.stat().st_size
    reading = asyncio.ensure_future(collect(log.path, 6, events))
    await asyncio.wait({reading}, timeout=0.15)
    assert [event.seq for event in events] == [0, 1, 2]
    assert log.path.stat().st_size == size
    # the reader holds no lock, so a writer can continue the session
    opened = store.open(log.id)
    opened.log.append(CandidateRejected(1, "after the repair"))
    await asyncio.wait_for(reading, 5)
    assert [event.seq for event in events] == list(range(6))
    assert [event.type for event in events[3:]] == ["log.repaired", "turn.stopped", "candidate.rejected"]
    with (opened.log.folder / "lock").open("rb") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            is_writer = True
        else:
            is_writer = False
    assert is_writer
    opened.log.close()
