"""The turns of a session: how they begin and end, wait for each other, and take texts that were sent for later."""

import ast
import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from lsp_harness.chat import loop
from lsp_harness.chat.conversation_steps import CallResult, ModelOutput
from lsp_harness.errors import EngineError, NoAnswer, UsageError
from lsp_harness.events.model_events import ModelStarted, ToolCall
from lsp_harness.events.session_events import SessionStarted
from lsp_harness.events.tool_events import ToolStarted
from lsp_harness.kernel.driver import SteeredSession, begin_step
from lsp_harness.kernel.ingress import Ingress
from lsp_harness.kernel.limits import Budget, Ending, Limits
from lsp_harness.kernel.log.log_reader import read_log
from lsp_harness.kernel.log.session_store import SessionStore
from lsp_harness.kernel.log.turn import Turn
from lsp_harness.kernel.projections.session_state import SessionState
from lsp_harness.kernel.session import Session
from lsp_harness.wire.event import Event

CALL = (ToolCall("c1", "read", {}),)


class StepDriver:
    """A driver whose steps are functions of the turn."""

    name = "test"
    is_exclusive = True

    def __init__(self, *steps: Callable[[Turn], Any]) -> None:
        self.steps = list(steps)
        self.prompts: list[list[str]] = []
        self.results: list[CallResult] = []

    async def run(self, turn: Turn, session: SteeredSession, budget: Budget) -> Ending:
        return await loop.run_turn(self, turn, session, budget)

    async def should_compact(self, state: SessionState) -> bool:
        return False

    async def compact(self, state: SessionState, turn: Turn) -> None: ...

    async def build_prompt(self, state: SessionState, turn: Turn) -> list[str]:
        self.prompts.append([message.text for message in state.conversation.messages])
        return self.prompts[-1]

    async def call_model(self, prompt: list[str], turn: Turn) -> ModelOutput:
        output = self.steps.pop(0)(turn)
        if asyncio.iscoroutine(output):
            output = await output
        assert isinstance(output, ModelOutput)
        return output

    async def execute_tool_calls(self, output: ModelOutput, turn: Turn) -> Sequence[CallResult]:
        return self.results


class OneStepDriver:
    """A driver without a loop."""

    name = "test"
    is_exclusive = True

    async def run(self, turn: Turn, session: SteeredSession, budget: Budget) -> Ending:
        return begin_step(0, turn, session, budget) or Ending("completed", "pipeline_done", "x")


def answer(text: str = "done") -> Callable[[Turn], ModelOutput]:
    return lambda turn: ModelOutput(text)


def call(turn: Turn) -> ModelOutput:
    return ModelOutput("", CALL)


@pytest.fixture
def session(tmp_path: Path):
    session = Session(SessionStore(tmp_path).create(), SessionStarted("/w", "test"))
    yield session
    session.log.close()


def list_event_types(session: Session) -> list[str]:
    return [event.type for event in read_log(session.log.path)]


def turn_ends(session: Session) -> list[tuple[int, str, str]]:
    return [
        (event.data["number"], event.data["reason"], event.data["detail"])
        for event in read_log(session.log.path)
        if event.type == "turn.stopped"
    ]


async def test_a_turn_has_its_events_in_the_right_order(session: Session) -> None:
    stopped = await session.submit(Ingress("message", "hello", request_id="r1"), StepDriver(answer("hi")))
    assert list_event_types(session) == [
        "session.started",
        "invocation.received",
        "turn.started",
        "step.started",
        "turn.stopped",
    ]
    assert (stopped.reason, stopped.detail, stopped.text, stopped.request_id) == (
        "completed",
        "no_tool_calls",
        "hi",
        "r1",
    )


async def fail(turn: Turn) -> ModelOutput:
    turn.append(ModelStarted("m"))
    raise EngineError("the engine is away")


def make_endless_call(started: asyncio.Event) -> Callable[[Turn], Any]:
    async def wait(turn: Turn) -> ModelOutput:
        turn.append(ToolStarted("c1", "bash"))
        started.set()
        await asyncio.Event().wait()
        raise AssertionError

    return wait


async def test_a_turn_can_end_for_each_reason(session: Session) -> None:
    session.limits = Limits(max_steps=2)
    await session.submit(Ingress("message", "a"), StepDriver(answer()))
    await session.submit(Ingress("message", "b"), OneStepDriver())
    await session.submit(Ingress("message", "c"), StepDriver(call, call, call))
    denied = StepDriver(call)
    denied.results = [CallResult("c1", is_error=True, ends_turn=True)]
    await session.submit(Ingress("message", "d"), denied)
    with pytest.raises(EngineError):
        await session.submit(Ingress("message", "e"), StepDriver(fail))
    started = asyncio.Event()
    running = asyncio.ensure_future(session.submit(Ingress("message", "f"), StepDriver(make_endless_call(started))))
    await started.wait()
    assert session.requests.interrupt()
    assert (await running).reason == "interrupted"
    started = asyncio.Event()
    running = asyncio.ensure_future(session.submit(Ingress("message", "g"), StepDriver(make_endless_call(started))))
    await started.wait()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    session.limits = Limits(max_seconds=1e-9)
    await session.submit(Ingress("message", "h"), StepDriver(call, call))
    assert turn_ends(session)[:7] == [
        (0, "completed", "no_tool_calls"),
        (1, "completed", "pipeline_done"),
        (2, "max_turns", "max_steps"),
        (3, "denied", "denied"),
        (4, "error", "the engine is away"),
        (5, "interrupted", "cancelled"),
        (6, "cancelled", "cancelled"),
    ]
    assert turn_ends(session)[7][1] == "budget_exceeded"
    # nothing is left open, whatever ended the turn
    assert (session.state.open_calls, session.state.open_models, session.state.open_turns) == ({}, {}, {})


async def test_the_time_limit_of_a_turn_ends_its_running_call(session: Session) -> None:
    session.limits = Limits(max_seconds=0.01)
    stopped = await session.submit(Ingress("message", "a"), StepDriver(make_endless_call(asyncio.Event())))
    assert (stopped.reason, stopped.detail) == ("budget_exceeded", "the turn took longer than 0.01 seconds")
    session.limits = Limits()
    assert (await session.submit(Ingress("message", "b"), StepDriver(answer()))).reason == "completed"


async def test_another_timeout_is_not_the_time_limit_of_the_turn(session: Session) -> None:
    async def too_slow() -> None:
        raise TimeoutError("the server is slow")

    session.limits = Limits(max_seconds=60)
    with pytest.raises(TimeoutError):
        await session.submit(Ingress("message", "a"), StepDriver(lambda turn: too_slow()))
    assert turn_ends(session)[0][1] == "error"


async def test_max_steps_is_the_number_of_model_calls(session: Session) -> None:
    session.limits = Limits(max_steps=3)
    driver = StepDriver(*[call] * 9)
    await session.submit(Ingress("message", "go on"), driver)
    assert len(driver.prompts) == list_event_types(session).count("step.started") == 3


async def test_turns_run_in_the_order_of_their_submission(session: Session) -> None:
    drivers = [StepDriver(answer(str(n))) for n in range(3)]
    await asyncio.gather(*(session.submit(Ingress("message", str(n)), d) for n, d in enumerate(drivers)))
    flow = [event.type for event in read_log(session.log.path) if event.type.startswith("turn.")]
    assert flow == ["turn.started", "turn.stopped"] * 3
    assert [text for _, _, text in sorted((n, r, t) for n, r, t in turn_ends(session))] == ["no_tool_calls"] * 3


async def test_steering_reaches_the_next_step_of_the_running_turn(session: Session) -> None:
    def steer(turn: Turn) -> ModelOutput:
        session.enqueue("steer", "no, the other file")
        return ModelOutput("", CALL)

    driver = StepDriver(steer, answer())
    await session.submit(Ingress("message", "read it"), driver)
    assert driver.prompts == [["read it"], ["read it", "no, the other file"]]


async def test_steering_during_the_last_answer_continues_the_turn(session: Session) -> None:
    def steer(turn: Turn) -> ModelOutput:
        session.enqueue("steer", "also the tests")
        return ModelOutput("done")

    driver = StepDriver(steer, answer("both done"))
    stopped = await session.submit(Ingress("message", "do it"), driver)
    assert stopped.text == "both done"
    assert len(driver.prompts) == 2


async def test_a_follow_up_begins_its_own_turn_after_the_running_one(session: Session) -> None:
    next_driver = StepDriver(answer("second"))
    session.run_next = lambda ingress: session.submit(ingress, next_driver)
    stopped = asyncio.Event()
    session.log.listeners.append(
        lambda event: stopped.set() if event.type == "turn.stopped" and event.turn == 1 else None
    )

    def queue(turn: Turn) -> ModelOutput:
        session.enqueue("follow_up", "and then this")
        return ModelOutput("first")

    await session.submit(Ingress("message", "this"), StepDriver(queue))
    await stopped.wait()
    assert next_driver.prompts == [["this", "and then this"]]
    assert session.state.queue == {}


async def test_a_queued_text_can_be_changed_and_removed_until_it_is_used(session: Session) -> None:
    first, second = session.enqueue("follow_up", "a"), session.enqueue("steer", "b")
    session.queue.edit(first, "c")
    session.queue.remove(second)
    assert [item.text for item in session.state.queue.values()] == ["c"]
    with pytest.raises(UsageError, match="has taken effect or was withdrawn"):
        session.queue.edit(second, "d")
    with pytest.raises(UsageError, match="is empty"):
        session.enqueue("steer", " ")


async def test_a_background_task_that_ends_begins_a_turn(session: Session) -> None:
    session.run_next = lambda ingress: session.submit(ingress, StepDriver(answer()))
    session.report_task_end("t1", "tests ended")
    await session.finish_waiting()
    assert list_event_types(session)[:3] == ["session.started", "invocation.auto", "turn.started"]


@pytest.mark.parametrize("count", [1, 2])
async def test_a_task_that_ends_after_the_last_step_begins_one_turn(session: Session, count: int) -> None:
    driver = StepDriver(answer("I see"))
    session.run_next = lambda ingress: session.submit(ingress, driver)

    def end_tasks(event: Event) -> None:
        if event.type == "turn.stopped" and event.turn == 0:
            for number in range(count):
                session.report_task_end(f"t{number}", "tests ended")

    session.log.listeners.append(end_tasks)
    await session.submit(Ingress("message", "x"), StepDriver(answer()))
    await session.finish_waiting()
    assert list_event_types(session).count("invocation.auto") == 1
    assert session.is_idle


async def test_a_task_that_ends_before_a_later_step_begins_no_turn(session: Session) -> None:
    def end_task(turn: Turn) -> ModelOutput:
        session.report_task_end("t1", "tests ended")
        return ModelOutput("", CALL)

    session.run_next = lambda ingress: session.submit(ingress, StepDriver(answer()))
    await session.submit(Ingress("message", "x"), StepDriver(end_task, answer()))
    await session.finish_waiting()
    assert "invocation.auto" not in list_event_types(session)


async def test_no_turn_begins_by_itself_after_an_interrupt(session: Session) -> None:
    session.run_next = lambda ingress: session.submit(ingress, StepDriver(answer()))
    started = asyncio.Event()
    running = asyncio.ensure_future(session.submit(Ingress("message", "x"), StepDriver(make_endless_call(started))))
    await started.wait()
    session.report_task_end("t2", "more tests ended")
    session.requests.interrupt()
    await running
    await session.finish_waiting()
    assert "invocation.auto" not in list_event_types(session)


async def test_a_turn_that_is_stopped_before_its_first_step_has_no_effect(session: Session) -> None:
    started: list[Ingress] = []

    async def run(ingress: Ingress) -> None:
        started.append(ingress)

    session.run_next = run
    session.report_task_end("t1", "tests ended")
    assert not session.is_idle
    await session.stop()
    assert session.is_idle
    await session.finish_waiting()
    assert started == []


async def test_the_outcome_of_a_request_is_no_error_event(session: Session) -> None:
    async def refuse(turn: Turn) -> ModelOutput:
        raise NoAnswer("no candidate passed")

    with pytest.raises(NoAnswer):
        await session.submit(Ingress("edit", "x"), StepDriver(refuse))
    assert "error" not in list_event_types(session)
    assert turn_ends(session) == [(0, "error", "no candidate passed")]


async def test_a_turn_about_a_private_file_writes_no_file(session: Session) -> None:
    heard: list[str] = []
    session.log.listeners.append(lambda event: heard.append(event.type))
    await session.submit(Ingress("edit", "x", is_saved=False), StepDriver(answer()))
    assert heard == ["invocation.received", "turn.started", "step.started", "turn.stopped"]
    assert not session.log.path.exists()


async def test_closing_a_session_ends_its_running_turn(session: Session) -> None:
    started = asyncio.Event()
    running = asyncio.ensure_future(session.submit(Ingress("message", "x"), StepDriver(make_endless_call(started))))
    await started.wait()
    await session.aclose()
    assert (await running).reason == "interrupted"


def test_the_loop_fits_on_one_screen() -> None:
    source = Path(loop.__file__).read_text()
    [function] = [node for node in ast.parse(source).body if isinstance(node, ast.AsyncFunctionDef)]
    assert function.name == "run_turn"
    assert (function.end_lineno or 0) - function.lineno < 60
    assert len(source.splitlines()) <= 60


def test_a_request_is_recorded_in_one_place_of_the_source() -> None:
    package = Path(loop.__file__).parents[1]
    places = [
        path.relative_to(package).as_posix()
        for path in package.rglob("*.py")
        if "InvocationReceived(" in path.read_text() and "class InvocationReceived" not in path.read_text()
    ]
    assert [place for place in places if "case InvocationReceived(" not in (package / place).read_text()] == [
        "kernel/ingress.py"
    ]
