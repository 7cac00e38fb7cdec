"""A session that is killed with SIGKILL at many points, and continued each time.

    python -m benchmarks.chaos --points 200 [--seed 1]

After each kill, the log must have every event that the client has seen, without a gap; nothing may be left open, and
queued texts must still wait. Then the client sends again what had no answer. The answers and the files must be those of
a session that was not killed.
"""

import argparse
import json
import os
import random
import shutil
import signal
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lsp_harness.errors import HarnessError
from lsp_harness.events.event_codec import encode_frame
from lsp_harness.kernel.log.log_reader import decode_line, read_history
from lsp_harness.kernel.log.session_store import SessionStore
from lsp_harness.kernel.projections.session_state import SessionState, project_session
from lsp_harness.wire.event import Event
from tests.chaos.played_session import (
    BACKGROUND_FILE,
    FOLLOW_UP,
    FURTHER,
    MARK,
    PROMPTS,
    STEPS,
    WINDOW_TOKENS,
    KillPoint,
    play,
    write_workspace,
)

Frame = dict[str, Any]
CHOSEN_TYPES = ("session.started", "session.forked", "compaction.", "task.", "tool.", "queue.", "model.", "turn.")
"""Beginnings of event types at which points are placed, beside the random ones."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The end of a process that played prompts: its frames, and whether it was killed."""

    frames: list[Frame]
    is_killed: bool

    @property
    def session_id(self) -> str:
        """The id of the session, or an empty text if the client never learned it."""
        return next((str(frame["session_id"]) for frame in self.frames if frame["type"] == "ready"), "")


@dataclass
class Report:
    """The result of all points.

    Attributes:
        points: The number of points.
        kinds: Kind of a point → the number of processes that it killed.
        failures: A sentence for each point that failed.
    """

    points: int = 0
    kinds: Counter[str] = field(default_factory=Counter[str])
    failures: list[str] = field(default_factory=list[str])


class Playground:
    """A folder with the sessions and the workspace of one point."""

    def __init__(self, folder: Path) -> None:
        self.workspace = folder / "workspace"
        self._state = folder / "state"
        write_workspace(self.workspace)
        os.environ["XDG_STATE_HOME"] = str(self._state)
        self.store = SessionStore()

    def run(self, prompts: Sequence[int], point: KillPoint | None = None, resume: str = "") -> Outcome:
        """Play prompts in a forked process, and return what came out of it."""
        options = {
            "cwd": str(self.workspace),
            "bare": True,
            "driver": "chat",
            "context_tokens": WINDOW_TOKENS,
            "permission_mode": "trust",
            "resume": resume,
            "source": "sdk",
        }
        point = point or KillPoint()
        reader, writer = os.pipe()
        process = os.fork()
        if not process:
            os.close(reader)
            status = 1
            try:
                play(options, prompts, point, writer)
                status = 0
            except BaseException as error:  # noqa: BLE001 - the other process must never get here
                sys.stderr.write(f"the played session failed: {type(error).__name__}: {error}\n")
            finally:
                os._exit(status)
        os.close(writer)
        frames: list[Frame] = []
        with os.fdopen(reader, "rb") as lines:
            for line in lines:
                if line.endswith(b"\n"):
                    frames.append(json.loads(line))
                if point == KillPoint("frames", len(frames)):
                    with suppress(ProcessLookupError):
                        os.kill(process, signal.SIGKILL)
        _, status = os.waitpid(process, 0)
        return Outcome(frames, os.WIFSIGNALED(status))

    def events(self, id: str) -> list[Event]:
        """Return all events of a session."""
        return list(read_history(self.store.folder, id))

    def files(self) -> dict[str, str]:
        """Return the texts of the workspace, without the file that only a background task writes.

        Such a task ends with its process or with the next one; whether it came so far is not promised.
        """
        files = sorted(file for file in self.workspace.iterdir() if file.is_file() and file.name != BACKGROUND_FILE)
        return {file.name: file.read_text() for file in files}


def find_answers(events: Sequence[Event]) -> dict[int, str]:
    """Return the answer to each prompt that has one."""
    numbers: dict[int | None, int] = {}
    answers: dict[int, str] = {}
    for event in events:
        if event.type == "invocation.received" and str(event.data.get("text")).startswith(MARK):
            numbers[event.turn] = int(event.data["text"][len(MARK)])
        elif event.type == "turn.stopped" and event.data["reason"] == "completed" and event.turn in numbers:
            answers[numbers[event.turn]] = event.data["text"]
    return answers


def check_log(playground: Playground, id: str, frames: Sequence[Frame]) -> Iterator[str]:
    """Open the session of a killed process. Yield a sentence for each broken promise."""
    path = playground.store.path(id)
    before = [event for line in path.read_bytes().splitlines() if (event := decode_line(line))]
    queue = project_session(before).queue
    opened = playground.store.open(id)
    state: SessionState = opened.log.state
    opened.log.close()
    events = playground.events(id)
    if [event.seq for event in events] != list(range(len(events))):
        yield "the numbers of the events have a gap"
    for name in ("open_turns", "open_calls", "open_models", "open_questions", "open_tasks"):
        if getattr(state, name):
            yield f"{name} is not empty: {getattr(state, name)}"
    if state.queue != queue:
        yield f"the queue was {queue} and is {state.queue}"
    for frame in frames:
        if frame.get("session_id") != id or frame.get("seq") is None:
            continue
        shown = encode_frame(events[frame["seq"]], frame.get("id")) if frame["seq"] < len(events) else None
        fields = ("type", "text", "content", "output", "status", "call_id", "task_id", "item_id")
        if shown is None or any(shown.get(key) != frame.get(key) for key in fields):
            yield f"the event {frame['seq']} that the client saw is lost: {frame}"


def run_point(folder: Path, point: KillPoint, reference: tuple[dict[int, str], dict[str, str]]) -> tuple[bool, str]:
    """Kill a session at a point and continue it. Return whether it was killed, and what is wrong."""
    playground = Playground(folder)
    outcome = playground.run(PROMPTS, point)
    ids = playground.store.ids()
    try:
        problem = "; ".join(check_all(playground, outcome, ids, reference))
    except (HarnessError, OSError, AssertionError, KeyError) as error:
        problem = f"{type(error).__name__}: {error}"
    return outcome.is_killed, problem


def check_all(
    playground: Playground,
    outcome: Outcome,
    ids: Sequence[str],
    reference: tuple[dict[int, str], dict[str, str]],
) -> Iterator[str]:
    """Yield a sentence for each broken promise after a kill."""
    if point_failed := [frame for frame in outcome.frames if frame["type"] == "error" and not frame.get("recoverable")]:
        yield f"the session reported {point_failed[0]}"
    for id in ids:
        yield from check_log(playground, id, outcome.frames)
    # the fork, if there is one, is newer than the session
    id = outcome.session_id if outcome.session_id in ids else ids[0] if ids else ""
    events = playground.events(id) if id else []
    answered = find_answers(events)
    queued = [item.text for item in project_session(events).queue.values()]
    missing = [number for number in (*PROMPTS, FOLLOW_UP) if number not in answered and f"{MARK}{number}" not in queued]
    again = playground.run([*sorted(missing), FURTHER], resume=id)
    if again.is_killed or not again.frames or again.frames[-1]["type"] != "written":
        yield "the continued session did not end by itself"
        return
    events = playground.events(again.session_id)
    if [event.seq for event in events] != list(range(len(events))):
        yield "the numbers of the events have a gap after the session was continued"
    if find_answers(events) != {**reference[0], FURTHER: STEPS[FURTHER][-1]}:
        yield f"the answers are {find_answers(events)}"
    if playground.files() != reference[1]:
        changed = {name: text for name, text in playground.files().items() if reference[1].get(name) != text}
        yield f"the files differ: {changed}, {sorted(reference[1].keys() - playground.files().keys())} are missing"


def choose_points(count: int, written: Sequence[str], calls: int, frames: int, seed: int) -> list[KillPoint]:
    """Return points of all kinds: half of them anywhere, the others at chosen types of events."""
    draw = random.Random(seed)
    points: list[KillPoint] = []
    for number in range(count):
        share = draw.choice((0.0, 1.0, draw.random(), draw.random()))
        match number % 6:
            case 0 | 1:
                points.append(KillPoint("append", draw.randint(1, len(written)), share))
            case 2 | 3:
                wanted = CHOSEN_TYPES[number // 6 % len(CHOSEN_TYPES)]
                places = [place for place, type in enumerate(written, 1) if type.startswith(wanted)]
                points.append(KillPoint("append", draw.choice(places), share))
            case 4:
                points.append(KillPoint("frames", draw.randint(1, frames - 1)))
            case _:
                points.append(KillPoint("model", draw.randint(1, calls)))
    return points


def run_points(folder: Path, count: int, seed: int) -> Report:
    """Play the session without a kill, and then once for each point."""
    calm = Playground(folder / "calm")
    outcome = calm.run(PROMPTS)
    last: Frame = outcome.frames[-1] if outcome.frames else {"type": "nothing"}
    assert last["type"] == "written", f"without a kill, the session ends with {last}"
    written: list[str] = last["types"]
    answers = find_answers(calm.events(outcome.session_id))
    expected = {number: STEPS[number][-1] for number in (*PROMPTS, FOLLOW_UP)}
    assert answers == expected, f"without a kill, the answers are {answers}"
    reference = (answers, calm.files())
    report = Report(count)
    points = choose_points(count, written, written.count("model.started"), len(outcome.frames), seed)
    for number, point in enumerate(points):
        place = folder / str(number)
        place.mkdir()
        is_killed, problem = run_point(place, point, reference)
        report.kinds[point.kind] += is_killed
        if problem:
            report.failures.append(f"{point}: {problem[:600]}")
        else:
            shutil.rmtree(place)
    return report


def summarize(report: Report) -> Mapping[str, Any]:
    """Return the numbers of a report."""
    return {
        "points": report.points,
        "passed": report.points - len(report.failures),
        "killed": dict(report.kinds),
    }


def main() -> int:
    """Print the numbers, and return 1 if a point failed."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--points", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "calm").mkdir()
        report = run_points(Path(folder), given.points, given.seed)
    print(json.dumps(summarize(report)))
    print("\n".join(report.failures))
    return 1 if report.failures else 0


if __name__ == "__main__":
    raise SystemExit(main())
