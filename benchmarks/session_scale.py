"""A session with very many events: writing, opening, forking, searching and listing it.

    python -m benchmarks.session_scale [--events 1000000]

Each figure stands beside a floor of the same run: the same lines written with plain `os.write`, and the same lines read
with plain `json.loads`.
"""

import argparse
import json
import os
import tempfile
import time
import tracemalloc
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from lsp_harness.events.event_type import SessionEvent
from lsp_harness.events.model_events import CompactionCompleted, ModelCompleted, ModelStarted, ToolCall
from lsp_harness.events.session_events import (
    InvocationReceived,
    SessionStarted,
    StepStarted,
    TurnStarted,
    TurnStopped,
)
from lsp_harness.events.tool_events import PermissionDecided, ToolCompleted, ToolStarted
from lsp_harness.kernel.log.session_log import SessionLog
from lsp_harness.kernel.log.session_store import SessionStore
from lsp_harness.sessions.session_list import find_sessions, list_rows

T = TypeVar("T")
TURN_EVENTS = 20
COMPACTION_TURNS = 50
OUTPUT = "def area(radius: float) -> float:\n    return 3.14159 * radius * radius\n" * 4


@dataclass(frozen=True, slots=True)
class Figure:
    """A measured time beside its floor, in seconds."""

    name: str
    seconds: float
    floor_s: float = 0.0
    note: str = ""

    def __str__(self) -> str:
        ratio = f"{self.seconds / self.floor_s:.1f} ×" if self.floor_s else ""
        return f"| {self.name} | {self.seconds:.3f} s | {ratio} | {self.note} |"


def turn_events(number: int) -> Iterator[SessionEvent]:
    """Yield the 20 events of a turn with four tool calls."""
    yield InvocationReceived("message", f"Please look at the file src/module{number % 300}.py and repair the area")
    yield TurnStarted(number, "chat")
    for step in range(4):
        call = ToolCall(f"call{number}-{step}", "read", {"path": f"src/module{number % 300}.py"})
        yield StepStarted(f"{number}.{step}", step)
        yield ModelStarted("qwen2.5-coder", 2048)
        yield ModelCompleted("qwen2.5-coder", "I read the file.", (call,) if step < 3 else ())
        if step == 3:
            continue
        yield ToolStarted(call.call_id, call.tool, call.input)
        yield ToolCompleted(call.call_id, call.tool, OUTPUT)
    yield TurnStopped(number, "completed", "no_tool_calls", "It is repaired.")
    if number % COMPACTION_TURNS == COMPACTION_TURNS - 1:
        yield CompactionCompleted("cut", 4000, 100, (number - 2) * TURN_EVENTS)
    else:
        yield PermissionDecided("read", "read", "allow", "mode", "", "", f"call{number}-3")


def write(log: SessionLog, events: int, *, is_synced: bool) -> float:
    """Append events, and return the seconds that it took."""
    start_s = time.process_time()
    log.append(SessionStarted("/w", "chat"))
    for number in range(events // TURN_EVENTS):
        turn = log.turn()
        for event in turn_events(number):
            turn.append(event)
        if is_synced:
            log.sync()
    return time.process_time() - start_s


def measure(run: Callable[[], T]) -> tuple[T, float]:
    """Return a result and the seconds that it took."""
    start_s = time.process_time()
    result = run()
    return result, time.process_time() - start_s


def copy_lines(path: Path, target: Path) -> float:
    """Write the lines of a log to a file, one by one, and return the seconds that it took."""
    lines = path.read_bytes().splitlines(keepends=True)
    descriptor = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    start_s = time.process_time()
    for line in lines:
        os.write(descriptor, line)
    seconds = time.process_time() - start_s
    os.close(descriptor)
    return seconds


def read_lines(path: Path) -> float:
    """Decode the lines of a log with nothing but `json.loads`, and return the seconds that it took."""
    start_s = time.process_time()
    with path.open("rb") as lines:
        for line in lines:
            json.loads(line)
    return time.process_time() - start_s


def run_in_own_process(run: Callable[[], object]) -> float:
    """Run a function in a forked process, and return the MiB by which its memory grew at most."""
    reader, writer = os.pipe()
    process = os.fork()
    if not process:
        tracemalloc.start()
        run()
        grown = tracemalloc.get_traced_memory()[1] / 1024
        os.write(writer, str(grown / 1024).encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as lines:
        grown_mib = float(lines.read() or "nan")
    os.waitpid(process, 0)
    return grown_mib


def run_all(folder: Path, events: int) -> list[Figure]:
    """Return all figures."""
    store, figures = SessionStore(folder / "sessions"), list[Figure]()
    log = store.create()
    seconds = write(log, events, is_synced=False)
    log.close()
    floor_s = copy_lines(log.path, folder / "copy.jsonl")
    figures.append(Figure("append", seconds, floor_s, f"{events / seconds:,.0f} events/s"))
    synced = SessionLog(folder / "synced")
    few = events // 10
    seconds = write(synced, few, is_synced=True)
    synced.close()
    figures.append(Figure("append a tenth, sync per turn", seconds, floor_s / 10, f"{few / seconds:,.0f} events/s"))
    floor_s = read_lines(log.path)
    opened, seconds = measure(lambda: store.open(log.id))
    opened.log.close()
    assert opened.event_count == log.state.next_seq
    kept = len(opened.log.state.conversation.messages)
    grown_mib = run_in_own_process(lambda: store.open(log.id))
    figures.append(Figure("open", seconds, floor_s, f"{grown_mib:,.0f} MiB more memory, {kept} messages kept"))
    forked, seconds = measure(lambda: store.fork(log.id, events // 2))
    forked.log.close()
    size = forked.log.path.stat().st_size
    figures.append(Figure("fork in the middle", seconds, floor_s / 2, f"{size:,} bytes written"))
    rows, seconds = measure(lambda: list_rows(store, 20))
    assert any(row.turns >= events // TURN_EVENTS for row in rows), rows
    figures.append(Figure("sessions list", seconds, 0, f"of a log with {log.path.stat().st_size / 1e6:,.0f} MB"))
    found, seconds = measure(lambda: find_sessions(store, "no such words anywhere"))
    assert not found
    figures.append(Figure("search without a hit", seconds, floor_s))
    found, seconds = measure(lambda: find_sessions(store, "repair the area"))
    assert found
    figures.append(Figure("search with a hit", seconds, floor_s))
    return figures


def main() -> int:
    """Print the figures as a table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--events", type=int, default=1_000_000)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        figures = run_all(Path(folder), given.events)
    print(f"{given.events:,} events")
    print("| what | time | to the floor | |\n|---|---:|---:|---|")
    print("\n".join(map(str, figures)))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
