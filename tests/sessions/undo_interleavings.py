"""Random interleavings of turns, commands, saves of a user, undo, redo and SIGKILL: no text of the user is lost.

    python -m tests.sessions.undo_interleavings --count 300 --seed 0

This process is the user, and its child is the process of a session with a scripted model. After each step, each file
has a whole text, an edit is made in the text of the user, and an undo or redo has left each text of the user where it
was. The exception is an undo that shall take more back (`with_commands`, `force`): then the text is in the checkpoints,
from which a redo restores it.
"""

import argparse
import asyncio
import json
import os
import random
import re
import select
import shutil
import signal
import sys
import tempfile
import traceback
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lsp_harness.chat.chat_model import Model
from lsp_harness.config import paths
from lsp_harness.errors import HarnessError
from lsp_harness.inference.scripted_engine import ScriptedEngine
from lsp_harness.kernel.checkpoints import content_store
from lsp_harness.kernel.checkpoints.file_state import content_digest
from lsp_harness.kernel.ingress import Ingress
from lsp_harness.kernel.log.session_store import SessionStore
from lsp_harness.process.process_table import list_processes
from lsp_harness.process.termination import OpenProcess
from lsp_harness.sessions.open_session import OpenSession
from lsp_harness.sessions.session_opening import open_session
from lsp_harness.sessions.session_options import SessionOptions
from lsp_harness.sessions.session_undo import UndoWish
from tests.sessions.conftest import make_tool_call, say

FILES = ("a.txt", "b.txt", "c.txt", "d/e.txt", "d/new.txt")
WHOLE = re.compile(r"T:(?:edit-\d+\+)*(?:user|command|create)-\d+\n")
"""A text that somebody wrote as a whole, perhaps with edits before it."""
STEP_LIMIT_S = 60.0
SHOWN_EACH = 20


@dataclass
class Step:
    """A step of the process of the session, and what the user does meanwhile.

    Attributes:
        kind: "edits", "foreground", "background", "undo" or "redo".
        calls: The tool calls of the turn.
        wish: What is undone.
        saves: The files that the user saves meanwhile, each with whether the file is replaced or written in place.
        kill_after_s: The time after which the process is killed, or None.
    """

    kind: str
    calls: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    wish: UndoWish = field(default_factory=UndoWish)
    saves: list[tuple[str, bool]] = field(default_factory=list[tuple[str, bool]])
    kill_after_s: float | None = None


class Interleaving:
    """One random interleaving in a folder of its own."""

    def __init__(self, folder: Path, seed: int, counts: Counter[str]) -> None:
        self.random = random.Random(seed)
        # one store of texts in every second interleaving
        self.has_git = seed % 2 == 0
        self.counts = counts
        self.root = folder / "root"
        # commands may only write in the folder
        self.ready, self.go = (self.root / "pipes" / name for name in ("ready", "go"))
        for place in (self.root, self.root / "d", self.ready.parent):
            place.mkdir()
        os.mkfifo(self.ready)
        os.mkfifo(self.go)
        self.number = 0
        self.texts_of_user: set[str] = set()
        self.waiting: list[tuple[Path, Path]] = []
        for name in FILES[:-1]:
            self.save(name, is_replaced=False)

    # -- the user
    def save(self, name: str, *, is_replaced: bool) -> str:
        """Save a new text, as an editor does."""
        self.number += 1
        text, file = f"T:user-{self.number}\n", self.root / name
        self.texts_of_user.add(text)
        if is_replaced:
            new = file.with_name(f".{file.name}.save")
            new.write_text(text)
            new.rename(file)
        else:
            file.write_text(text)
        self.counts["saves"] += 1
        return text

    def read(self) -> dict[str, str]:
        """Return the texts of the files that exist."""
        return {name: (self.root / name).read_text() for name in FILES if (self.root / name).exists()}

    # -- the plan
    def plan(self) -> list[Step]:
        """Return random steps."""
        steps = [self.choose() for _ in range(self.random.randint(4, 8))]
        return [*steps, Step("undo"), Step("redo"), Step("undo", wish=UndoWish(with_commands=True))]

    def choose(self) -> Step:
        """Return a random step."""
        kind = self.random.choices(["edits", "foreground", "background", "undo", "redo"], [4, 2, 2, 4, 2])[0]
        step = Step(kind)
        if kind == "edits":
            step.calls = [self.edit() for _ in range(self.random.randint(1, 3))]
        elif kind in ("foreground", "background"):
            step.calls = [*(self.edit() for _ in range(self.random.randint(0, 1))), self.command(kind)]
        else:
            step.wish = UndoWish(
                with_commands=self.random.random() < 0.3, force=self.random.random() < 0.15, is_redo=kind == "redo"
            )
        if kind == "foreground" or self.random.random() < 0.4:
            count = self.random.randint(0, 2)
            step.saves = [(self.random.choice(FILES[:4]), self.random.random() < 0.5) for _ in range(count)]
        if self.random.random() < 0.25:
            step.kill_after_s = self.random.random() * (0.4 if kind in ("undo", "redo") else 1.0)
        return step

    def edit(self) -> dict[str, Any]:
        """Return a call of an edit tool."""
        self.number += 1
        name = self.random.choice(FILES)
        if name == FILES[-1]:
            return make_tool_call("create", path=name, text=f"T:create-{self.number}\n")
        return make_tool_call("edit", path=name, old="T:", new=f"T:edit-{self.number}+")

    def command(self, kind: str) -> dict[str, Any]:
        """Return a call that runs a command, which waits for the user before it changes files."""
        self.number += 1
        changes = self.random.sample(
            [
                f"printf 'T:command-{self.number}\\n' > {self.random.choice(FILES[:4])}",
                f"printf 'T:command-{self.number}\\n' > d/new.txt",
                f"rm -f {self.random.choice(FILES[:4])}",
            ],
            2,
        )
        work = "; ".join(changes)
        if kind == "foreground":
            command = f"echo > {self.ready}; read line < {self.go}; {work}"
            return make_tool_call("bash", command=command, execution="inline")
        # its changes come between two later steps
        begin, end = self.ready.with_name(f"begin-{self.number}"), self.ready.with_name(f"end-{self.number}")
        os.mkfifo(begin)
        os.mkfifo(end)
        self.waiting.append((begin, end))
        return make_tool_call("bash", command=f"cat {begin} > /dev/null; {work}; echo > {end}", execution="background")

    def release_background(self) -> None:
        """Let one of the commands in the background that run change its files, and wait for it."""
        for begin, end in list(self.waiting):
            try:
                told = os.open(begin, os.O_WRONLY | os.O_NONBLOCK)
            except OSError:
                # it has not begun yet, or was ended
                continue
            self.waiting.remove((begin, end))
            ended = os.open(end, os.O_RDONLY | os.O_NONBLOCK)
            os.write(told, b"\n")
            os.close(told)
            assert select.select([ended], (), (), STEP_LIMIT_S)[0], "a command in the background does not end"
            os.close(ended)
            self.counts["changes in the background"] += 1
            return

    # -- the run
    def run(self) -> None:
        """Run it. Raises AssertionError."""
        steps = self.plan()
        while steps:
            steps = self.run_process(steps)

    def run_process(self, steps: list[Step]) -> list[Step]:
        """Run steps in one process. Return those that are left after it was killed."""
        reader, writer = os.pipe()
        goes, told = os.pipe()
        child = os.fork()
        if not child:
            os.close(reader)
            os.close(told)
            if not self.has_git:
                content_store.shutil.which = lambda name: None
            _be_session(self.root, steps, writer, goes)
        os.close(writer)
        os.close(goes)
        try:
            for number, step in enumerate(steps):
                self.counts[step.kind] += 1
                if not self.run_step(step, child, reader, told):
                    return steps[number + 1 :]
            return []
        except AssertionError:
            os.kill(child, signal.SIGKILL)
            raise
        finally:
            os.close(told)
            os.waitpid(child, 0)
            os.close(reader)

    def run_step(self, step: Step, child: int, reader: int, told: int) -> bool:
        """Let the child do a step, and check it. Return whether the child still runs."""
        if self.random.random() < 0.6:
            self.release_background()
        before = self.read()
        os.write(told, b"\n")
        ready = os.open(self.ready, os.O_RDONLY | os.O_NONBLOCK)
        go = os.open(self.go, os.O_RDWR | os.O_NONBLOCK)
        saved: dict[str, str] = {}
        is_killed, line = False, b""
        sources = [reader, ready] if step.kind == "foreground" else [reader]
        if step.kind != "foreground":
            saved |= self.save_all(step)
        try:
            while not line.endswith(b"\n"):
                limit_s = STEP_LIMIT_S if step.kill_after_s is None else step.kill_after_s
                found = select.select(sources, (), (), limit_s)[0]
                if ready in found and os.read(ready, 64):
                    saved |= self.save_all(step)
                    self.counts["commands with saves meanwhile"] += bool(step.saves)
                    os.write(go, b"\n")
                    sources = [reader]
                elif reader in found:
                    piece = os.read(reader, 65_536)
                    assert piece, "the process of the session has ended by itself"
                    line += piece
                elif not found:
                    assert step.kill_after_s is not None, f"the step {step} takes too long"
                    os.kill(child, signal.SIGKILL)
                    self.counts["kills"] += 1
                    is_killed = True
                    break
        finally:
            os.close(ready)
            os.close(go)
        if is_killed:
            _wait_for_end_of_tasks(self.root)
        result = json.loads(line) if line.endswith(b"\n") else {}
        assert "bug" not in result, result
        self.check(step, before, saved, result)
        return not is_killed

    def save_all(self, step: Step) -> dict[str, str]:
        """Do the saves of a step."""
        return {name: self.save(name, is_replaced=is_replaced) for name, is_replaced in step.saves}

    def check(self, step: Step, before: dict[str, str], saved: dict[str, str], result: dict[str, Any]) -> None:
        """Check the files after a step."""
        after = self.read()
        torn = {name: text for name, text in after.items() if not WHOLE.fullmatch(text)}
        assert not torn, f"{torn} after {step}"
        if step.kind == "edits":
            # an edit is made in the text of the user, or not at all
            for name, text in {**before, **saved}.items():
                is_there = after.get(name, "").endswith(text.removeprefix("T:"))
                assert text not in self.texts_of_user or is_there, f"{name}: {text!r} became {after.get(name)!r}"
        if step.kind not in ("undo", "redo"):
            return
        self.counts["restored files"] += len(result.get("paths", ()))
        self.counts["kept files"] += len(result.get("skipped", ()))
        wants_more = step.wish.with_commands or step.wish.force
        for name, text in {**before, **saved}.items():
            if text not in self.texts_of_user or after.get(name) == text:
                continue
            if name in saved and not wants_more:
                raise AssertionError(f"{name}: the save {text!r} is lost after {step}: {after.get(name)!r}, {result}")
            if not wants_more and not step.wish.is_redo:
                raise AssertionError(f"{name}: {text!r} became {after.get(name)!r} after {step}: {result}")
            assert _is_in_checkpoints(text), f"{name}: {text!r} is in no checkpoint after {step}"
            self.counts["texts that a redo brings back"] += 1


def _is_in_checkpoints(text: str) -> bool:
    digest = content_digest(text.encode())
    places = (f"**/{store}/{digest[:2]}/{digest[2:]}" for store in ("copies", "git/objects"))
    return any(file for place in places for file in (paths.state_folder() / "checkpoints").glob(place))


def _wait_for_end_of_tasks(root: Path) -> None:
    """Wait until the supervisors of a killed process have ended its commands: they work in the folder."""
    for row in list_processes():
        try:
            if Path(f"/proc/{row.pid}/cwd").resolve() == root and row.pid != os.getpid():
                process = OpenProcess(row.pid)
                asyncio.run(process.wait_for_end(STEP_LIMIT_S))
                process.close()
        except OSError:
            continue


# -- the process of the session
def _be_session(root: Path, steps: list[Step], writer: int, goes: int) -> None:
    """Do steps when the parent says so, and report each. Does not return."""
    status = 1
    try:
        asyncio.run(_serve(root, steps, writer, goes))
        status = 0
    except BaseException:  # noqa: BLE001 - the parent reports it
        os.write(writer, json.dumps({"bug": traceback.format_exc()}).encode() + b"\n")
    finally:
        os._exit(status)


async def _serve(root: Path, steps: list[Step], writer: int, goes: int) -> None:
    ids = SessionStore().ids()
    replies = [reply for step in steps if step.calls for reply in (*step.calls, say("done"))]
    options = SessionOptions(cwd=str(root), permission_mode="trust", resume=ids[-1] if ids else "", setting_sources=())
    opened = await open_session(options, models=[Model("scripted", ScriptedEngine(replies))])
    # a turn about the end of a command would take the replies of others
    opened.parts.on_task_end.clear()
    opened.record_start()
    for step in steps:
        if not await asyncio.to_thread(os.read, goes, 1):
            break
        os.write(writer, json.dumps(await _run_step(opened, step)).encode() + b"\n")
    await opened.aclose()


async def _run_step(opened: OpenSession, step: Step) -> dict[str, Any]:
    if step.calls:
        stopped = await opened.submit(Ingress("message", "go"), opened.create_driver())
        return {"reason": stopped.reason}
    try:
        result = await opened.undo(step.wish)
    except HarnessError as error:
        return {"error": error.message}
    return {"paths": list(result.paths), "skipped": dict(result.skipped)}


def main(count: int, seed: int) -> Counter[str]:
    """Run interleavings, and return what happened in them. Raises AssertionError, with the seed."""
    counts: Counter[str] = Counter()
    for number in range(seed, seed + count):
        folder = Path(tempfile.mkdtemp()).resolve()
        os.environ["LSP_HARNESS_HOME"] = str(folder / "home")
        try:
            Interleaving(folder, number, counts).run()
        except AssertionError as error:
            raise AssertionError(f"seed {number}, in {folder}: {error}") from error
        shutil.rmtree(folder)
        counts["interleavings"] += 1
        if counts["interleavings"] % SHOWN_EACH == 0:
            sys.stderr.write(f"{json.dumps(counts)}\n")
    return counts


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    sys.stdout.write(json.dumps(main(arguments.count, arguments.seed), indent=1) + "\n")
