"""Tests of a running answer: it continues while the user types its text, and ends otherwise."""

import asyncio
import random
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from lsp_harness.completion.completer import Completer
from lsp_harness.config.schema import Completion
from lsp_harness.errors import EngineError, RequestSuperseded
from lsp_harness.inference.request import Chunk, Infill, ModelRequest, Stop, Usage
from lsp_harness.inference.scripted_engine import ScriptedEngine
from lsp_harness.kernel.results import Suggestion
from lsp_harness.syntax.tree import parse
from tests.completion.test_completer import AREA, type_text
from tests.support import markup
from tests.support.desk import Desk


class ManualTimer:
    """A timer whose delayed calls are made by the test."""

    def __init__(self) -> None:
        self.calls: list[Callable[[], None]] = []

    def __call__(self, seconds: float, call: Callable[[], None]) -> None:
        self.calls.append(call)

    def fire(self) -> None:
        calls, self.calls = self.calls, []
        for call in calls:
            call()


class ScriptedStream(ScriptedEngine):
    """An engine whose answers are written by the test. `ended` counts the finished requests."""

    def __init__(self) -> None:
        super().__init__([])
        self.says: list[asyncio.Queue[Chunk | Exception]] = []
        self.ended = 0

    async def stream(self, request: ModelRequest) -> AsyncIterator[Chunk]:
        self.foreground_requests.append(request)
        queue = asyncio.Queue[Chunk | Exception]()
        self.says.append(queue)
        try:
            while True:
                chunk = await queue.get()
                if isinstance(chunk, Exception):
                    raise chunk
                yield chunk
                if chunk.stop:
                    return
        finally:
            self.ended += 1


class Typist:
    """A user who types in a document, and the requests at the cursor."""

    def __init__(self, source: str = AREA) -> None:
        src = markup.parse(source, "a.py")
        self.document, self.offset = src.document, src.cursor
        self.engine, self.timer = ScriptedStream(), ManualTimer()
        self.completer = Desk(Completer(self.engine, Completion(), call_later=self.timer))

    async def type(self, text: str) -> None:
        self.document, self.offset = type_text(self.document, self.offset, text)
        self.completer.move(self.document, self.offset)
        await settle()

    async def ask(self) -> "asyncio.Task[Suggestion | None]":
        place = (self.document, parse(self.document), self.offset, "a.py")
        task = asyncio.ensure_future(self.completer.complete(*place))
        await settle()
        return task

    async def say(self, text: str = "", stop: Stop | None = None, *, request: int = -1) -> None:
        self.engine.says[request].put_nowait(Chunk(text, stop, Usage(evaluated=5, generated=1)))
        await settle()


async def settle() -> None:
    """Let everything run that can."""
    for _ in range(30):
        await asyncio.sleep(0)


async def cancel_and_wait(task: "asyncio.Task[Any]") -> None:
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await settle()


async def test_a_newer_request_continues_the_running_answer() -> None:
    user = Typist()
    older = await user.ask()
    await user.say("3.")
    await user.type("3")
    newer = await user.ask()
    with pytest.raises(RequestSuperseded):
        await older
    await user.say("14 * r", "eos")
    result = await newer
    assert result
    assert (result.text, result.start) == (".14 * r", user.offset)
    assert len(user.engine.foreground_requests) == 1
    assert (result.stats["in_flight"], result.stats["evaluated"]) == (True, 5)
    assert "typed_along" not in result.stats


async def test_typed_text_may_become_the_beginning_of_the_answer() -> None:
    user = Typist()
    await user.ask()
    await user.type("pi")
    newer = await user.ask()
    await user.say("pi *")
    await user.say(" r", "eos")
    result = await newer
    assert result
    assert (result.text, len(user.engine.foreground_requests)) == (" * r", 1)


async def test_an_answer_that_differs_from_the_typed_text_is_requested_again() -> None:
    user = Typist()
    await user.ask()
    await user.type("pi")
    newer = await user.ask()
    await user.say("p")
    assert (len(user.engine.foreground_requests), user.engine.ended) == (1, 0)
    await user.say("ow(r, 2)")
    assert (len(user.engine.foreground_requests), user.engine.ended) == (2, 1)
    await user.say(" * r", "eos")
    result = await newer
    assert result
    assert result.text == " * r"
    assert "in_flight" not in result.stats


async def test_an_older_request_gets_its_whole_answer() -> None:
    user = Typist()
    older = await user.ask()
    await user.type("x")
    await user.say("3 *")
    await user.say(" r", "eos")
    result = await older
    assert result
    assert result.text == "3 * r"


async def test_typing_another_text_ends_the_answer_with_the_next_request() -> None:
    user = Typist()
    older = await user.ask()
    await user.say("3.")
    await user.type("x")
    newer = await user.ask()
    with pytest.raises(RequestSuperseded):
        await older
    assert (len(user.engine.foreground_requests), user.engine.ended) == (2, 1)
    await user.say(" * r", "eos")
    assert await newer


async def test_a_change_elsewhere_ends_the_answer() -> None:
    user = Typist()
    await user.ask()
    user.document, _ = type_text(user.document, 0, "# new\n")
    user.offset += 6
    await user.ask()
    assert (len(user.engine.foreground_requests), user.engine.ended) == (2, 1)


# -- with nobody waiting
async def test_an_answer_survives_a_cancellation_before_the_next_key() -> None:
    user = Typist()
    task = await user.ask()
    await user.say("3.")
    await cancel_and_wait(task)
    await user.type("3")
    newer = await user.ask()
    await user.say("14 * r", "eos")
    result = await newer
    assert result
    assert (result.text, len(user.engine.foreground_requests)) == (".14 * r", 1)


async def test_an_answer_survives_a_cancellation_after_a_matching_key() -> None:
    user = Typist()
    older = await user.ask()
    await user.say("3.")
    await user.type("3")
    await cancel_and_wait(older)
    assert user.engine.ended == 0
    newer = await user.ask()
    user.timer.fire()
    await settle()
    assert user.engine.ended == 0, "somebody waits for it again"
    await user.say("14 * r", "eos")
    result = await newer
    assert result
    assert (result.text, len(user.engine.foreground_requests)) == (".14 * r", 1)


async def test_an_answer_that_is_not_requested_in_time_is_generated_again() -> None:
    user = Typist()
    older = await user.ask()
    await user.say("3.")
    await user.type("3")
    await cancel_and_wait(older)
    user.timer.fire()
    await settle()
    assert user.engine.ended == 1
    await user.ask()
    assert len(user.engine.foreground_requests) == 2


async def test_a_different_key_ends_an_answer_without_a_waiting_request() -> None:
    user = Typist()
    older = await user.ask()
    await user.say("3.")
    await user.type("3")
    await cancel_and_wait(older)
    await user.type("x")
    assert user.engine.ended == 1


@pytest.mark.parametrize("stop", ["eos", "deadline"])
async def test_an_answer_that_ends_without_a_waiting_request_serves_the_next_one(stop: Stop) -> None:
    user = Typist()
    older = await user.ask()
    await user.say("3.")
    await user.type("3")
    await cancel_and_wait(older)
    await user.say("14 * r", stop)
    result = await (await user.ask())
    assert result
    assert (result.text, len(user.engine.foreground_requests)) == (".14 * r", 1)


@pytest.mark.parametrize(
    ("keys", "behind", "said", "rest"),
    [("(", ")", "(r, 2)", "r, 2"), ("(x[", "])", "(x[0], 2)", "0"), ('"', '"', '"area"', "area")],
)
async def test_brackets_that_the_editor_closes_are_no_change_elsewhere(
    keys: str, behind: str, said: str, rest: str
) -> None:
    user = Typist("pow<|>\n" if keys != '"' else "x = <|>\n")
    older = await user.ask()
    await user.say(said[:1])
    user.document, end = type_text(user.document, user.offset, keys + behind)
    user.offset = end - len(behind)
    user.completer.move(user.document, user.offset)
    await cancel_and_wait(older)
    newer = await user.ask()
    await user.say(said[1:], "eos")
    result = await newer
    assert result
    assert (result.text, len(user.engine.foreground_requests)) == (rest, 1)


async def test_typing_the_whole_answer_starts_a_new_request() -> None:
    user = Typist()
    older = await user.ask()
    await user.say("3")
    await user.type("3 * r")
    await cancel_and_wait(older)
    newer = await user.ask()
    await user.say(" * r", "eos")
    assert len(user.engine.foreground_requests) == 2
    await user.say(" / 2", "eos")
    result = await newer
    assert result
    assert result.text == " / 2"


async def test_a_repeated_request_at_the_same_place_shares_one_question() -> None:
    user = Typist()
    older, newer = await user.ask(), await user.ask()
    with pytest.raises(RequestSuperseded):
        await older
    await user.say("3 * r", "eos")
    result = await newer
    assert result
    assert (result.text, len(user.engine.foreground_requests)) == ("3 * r", 1)


async def test_closing_the_document_or_the_front_end_ends_the_answer() -> None:
    for end in (lambda user: user.completer.close(user.document.uri), lambda user: user.completer.stop_background()):
        user = Typist()
        older = await user.ask()
        await user.type("3")
        await cancel_and_wait(older)
        end(user)
        await settle()
        assert user.engine.ended == 1


async def test_a_failing_engine_is_reported_to_the_newest_request() -> None:
    user = Typist()
    await user.ask()
    await user.type("3")
    newer = await user.ask()
    user.engine.says[-1].put_nowait(EngineError("out of memory"))
    with pytest.raises(EngineError, match="out of memory"):
        await newer
    await user.ask()
    assert len(user.engine.foreground_requests) == 2


# -- whatever the order
class SteadyModel(ScriptedStream):
    """A model that always continues to the same line, or with `+ x`; the test releases each letter."""

    LINE = "alpha + beta_gamma + delta + epsilon"

    def __init__(self) -> None:
        super().__init__()
        self.left = ""

    async def stream(self, request: ModelRequest) -> AsyncIterator[Chunk]:
        assert isinstance(request, Infill)
        self.left = self.wants(request.context.prefix.rsplit("return ", 1)[1])
        async for chunk in super().stream(request):
            yield chunk

    def wants(self, there: str) -> str:
        return self.LINE[len(there) :] if self.LINE.startswith(there) else "+ x"

    def letter(self) -> None:
        if self.left:
            letter, self.left = self.left[0], self.left[1:]
            self.says[-1].put_nowait(Chunk(letter, None if self.left else "eos"))


@pytest.mark.parametrize("seed", range(40))
async def test_an_answer_is_the_same_as_that_of_a_new_request_at_any_timing(seed: int) -> None:
    draw, user, model = random.Random(seed), Typist(), SteadyModel()
    begin, tasks = user.offset, list[asyncio.Task[Any]]()
    user.completer = Desk(Completer(model, Completion(), call_later=user.timer))
    for _ in range(80):
        there = user.offset - begin
        match draw.choice(["type", "ask", "letter", "letter", "letter", "take back", "time"]):
            case "type" if there < len(model.LINE) - 8 and not user.document.data[: user.offset].endswith(b"q"):
                await user.type(model.LINE[there] if draw.random() < 0.95 else "q")
            case "ask":
                tasks.append(await user.ask())
            case "letter":
                model.letter()
            case "take back" if tasks:
                tasks[-1].cancel()
            case "time":
                user.timer.fire()
            case _:
                pass
        await settle()
    tasks.append(await user.ask())
    while not tasks[-1].done():
        model.letter()
        await settle()
    *earlier, result = await asyncio.gather(*tasks, return_exceptions=True)
    assert all(
        item is None or isinstance(item, Suggestion | RequestSuperseded | asyncio.CancelledError) for item in earlier
    )
    assert isinstance(result, Suggestion), user.document.data
    assert result.text == model.wants(user.document.data[begin : user.offset].decode())
