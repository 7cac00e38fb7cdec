"""A session that a forked process plays: the same prompts, tools and answers each time, until something kills it."""

import asyncio
import json
import os
import signal
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lsp_harness.chat.tool_calls import CALL_END, CALL_START
from lsp_harness.inference.request import Chunk, ModelRequest, Usage
from lsp_harness.inference.scripted_engine import ScriptedEngine, prompt_text
from lsp_harness.kernel.log import session_log
from lsp_harness.sessions import model_choice
from lsp_harness.sessions.session_host import FrameQueue, serve_session
from lsp_harness.sessions.session_options import SessionOptions

Frame = dict[str, Any]
MARK = "PROMPT "
TASK_ENDED = "The background task"
FOLLOW_UP = 3
FURTHER = 9
BACKGROUND_FILE = "two.txt"
WINDOW_TOKENS = 3_000
"""The window of the model. In a smaller one, the tier `summarize_steps` moves the running prompt into the summary, and
this scripted model, which looks for the last `MARK`, would take an older prompt for it."""
TIMEOUT_S = 60


def call(tool: str, **arguments: Any) -> str:
    """Return a tool call as a model writes it."""
    return f"{CALL_START}\n{json.dumps({'name': tool, 'arguments': arguments})}\n{CALL_END}"


STEPS: Mapping[int, Sequence[str]] = {
    1: (
        call("read", path="notes.txt"),
        call("edit", path="notes.txt", old="first line", new="line one"),
        call("bash", command="printf one > one.txt"),
        "The first line is changed.",
    ),
    2: (
        call("bash", command="sleep 0.02; printf two > two.txt", execution="background"),
        call("read", path="big.txt"),
        "The task runs in the background.",
    ),
    FOLLOW_UP: (call("bash", command="printf three > three.txt"), "The follow-up is done."),
    4: (call("read", path="big.txt"), call("create", path="four.txt", text="four\n"), "The file is there."),
    5: (call("read", path="big.txt"), call("read", path="missing.txt"), "There is no such file."),
    6: (call("read", path="big.txt"), call("bash", command="printf six > six.txt"), "All is done."),
    FURTHER: ("Here I am again.",),
}
"""Number of a prompt → the calls and the answer of the model."""
PROMPTS = (1, 2, 4, 5, 6)
"""The prompts that the client sends, one after the other. The follow-up is sent while the first one runs."""


@dataclass(frozen=True, slots=True)
class KillPoint:
    """A point at which the process ends with SIGKILL.

    Attributes:
        kind: "append" (in the write of a line), "model" (in an answer), "frames" (from outside) or "" (never).
        number: The number of the write, of the model call or of the frame.
        share: The share of the line that is written, from 0 to 1.
    """

    kind: str = ""
    number: int = 0
    share: float = 0.0


class PlayingEngine(ScriptedEngine):
    """A model whose answer depends on nothing but the last prompt and the results after it."""

    def __init__(self, point: KillPoint) -> None:
        super().__init__([])
        self._point = point
        self._calls = 0

    async def stream(self, request: ModelRequest) -> AsyncIterator[Chunk]:
        text = choose_answer(prompt_text(request))
        self._calls += 1
        yield Chunk(text[: len(text) // 2])
        if self._point == KillPoint("model", self._calls):
            die()
        yield Chunk(text[len(text) // 2 :])
        yield Chunk("", "eos", Usage(1, generated=len(text.split())))


def choose_answer(prompt: str) -> str:
    """Return the next answer to a prompt."""
    at, ended = prompt.rfind(MARK), prompt.rfind(TASK_ENDED)
    if ended > at:
        return "I see."
    rest = prompt[at + len(MARK) :]
    steps = STEPS[int(rest[0])]
    return steps[min(rest.count("<tool_response>"), len(steps) - 1)]


def die() -> None:
    """End this process as a crash does."""
    os.kill(os.getpid(), signal.SIGKILL)


def write_workspace(folder: Path) -> None:
    """Write the files that the session works on."""
    folder.mkdir()
    (folder / "notes.txt").write_text("first line\nsecond line\n")
    (folder / "big.txt").write_text("".join(f"{number} " + "many words " * 8 + "\n" for number in range(20)))


def play(options: Mapping[str, Any], prompts: Sequence[int], point: KillPoint, descriptor: int) -> None:
    """Play prompts in this process, and write each frame as a line of JSON."""
    types: list[str] = []
    write = session_log.write_all

    def write_or_die(file: int, data: bytes) -> None:
        types.append(json.loads(data)["type"] if data.startswith(b"{") else "")
        if point.kind == "append" and point.number == len(types):
            os.write(file, data[: round(point.share * len(data))])
            die()
        write(file, data)

    session_log.write_all = write_or_die
    model_choice.make_engine = lambda config: PlayingEngine(point)

    def send(frame: Mapping[str, Any]) -> None:
        write(descriptor, (json.dumps(frame) + "\n").encode())

    asyncio.run(_Client(options, prompts, send).run())
    send({"type": "written", "types": types})


class _Client:
    def __init__(
        self, options: Mapping[str, Any], prompts: Sequence[int], send: Callable[[Mapping[str, Any]], None]
    ) -> None:
        self._options = options
        self._prompts = prompts
        self._send = send
        self._incoming: FrameQueue = asyncio.Queue()
        self._outgoing: FrameQueue = asyncio.Queue()
        self._running_tasks: set[str] = set()
        self._waits_for_follow_up = FOLLOW_UP in prompts

    async def run(self) -> None:
        async with asyncio.timeout(TIMEOUT_S):
            host = asyncio.ensure_future(
                serve_session(self._incoming, self._outgoing, SessionOptions.from_mapping(self._options))
            )
            await self._play()
            self._incoming.put_nowait({"command": "exit"})
            while await self._next() is not None:
                pass
            await host

    async def _play(self) -> None:
        sent_follow_up = False
        for number in self._prompts:
            if number == FOLLOW_UP and 1 in self._prompts:
                continue
            self._incoming.put_nowait({"prompt": f"{MARK}{number}", "id": str(number)})
            while frame := await self._next():
                if frame["type"] == "tool_start" and number == 1 and not sent_follow_up:
                    sent_follow_up = True
                    self._incoming.put_nowait({"command": "follow_up", "text": f"{MARK}{FOLLOW_UP}"})
                if frame["type"] == "turn_stop" and frame.get("id") == str(number):
                    break
        status = await self._ask("status")
        while status["queue"] or not status["is_idle"] or self._running_tasks:
            # the session has work left; each question lets it go on
            status = await self._ask("status")
        await self._ask("fork")

    async def _ask(self, command: str) -> Any:
        self._incoming.put_nowait({"command": command, "request_id": command})
        while frame := await self._next():
            if frame["type"] == "response" and frame.get("request_id") == command:
                return frame["result"]
        raise AssertionError(f"the session ended before {command}")

    async def _next(self) -> Mapping[str, Any] | None:
        frame = await self._outgoing.get()
        if frame is None:
            return None
        if frame["type"] == "task":
            (self._running_tasks.add if frame["status"] == "started" else self._running_tasks.discard)(frame["task_id"])
        self._send(frame)
        return frame
