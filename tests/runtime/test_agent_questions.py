"""Questions of agents: the gate answers those about permissions, by keys where nothing better is there."""

import asyncio
from contextlib import suppress

import pytest

from lsp_harness.runtime import pty_connection, question_desk
from lsp_harness.runtime.agent_errors import AgentError
from lsp_harness.runtime.connection import QuestionAnswer
from tests.runtime.conftest import AgentBench

ADDRESS_END = "&state=end"


@pytest.mark.parametrize("reports", ["always", "asked", "never"])
@pytest.mark.parametrize("allows", [True, False])
async def test_the_gate_decides_about_a_permission(bench: AgentBench, reports: str, allows: bool):
    bench.gate.allows = allows
    agent = await bench.start("fake", "--reports", reports)
    reply = await agent.send("/permit write made.txt")
    assert reply.response == f"● write was {'allowed' if allows else 'denied'}"
    assert (bench.work / "made.txt").exists() == allows
    (question,) = bench.gate.asked
    assert (question.kind, question.delivery) == ("permission", "keys")
    assert question.options[0] == "Yes"
    decided = await bench.wait_for_event("permission_decided", agent)
    assert decided.data["decision"] == ("allow" if allows else "deny")
    assert "approval_undelivered" not in bench.events(agent)
    assert agent.open_questions == []


@pytest.mark.parametrize("allows", [True, False])
async def test_the_gate_decides_about_trust_instead_of_the_default(bench: AgentBench, allows: bool):
    bench.gate.allows = allows
    agent = await bench.spawn("fake", "--trust", "--reports", "never")
    if allows:
        await bench.wait(agent, lambda state: state.status == "ready")
    else:
        await bench.wait(agent, lambda state: state.status == "error")
        assert "not trusted" in agent.state.message


@pytest.mark.parametrize("allows", [True, False])
async def test_a_key_that_a_dialog_loses_is_pressed_again(
    bench: AgentBench, allows: bool, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(pty_connection, "ENTER_WAIT_S", 0.2)
    bench.gate.allows = allows
    agent = await bench.spawn("fake", "--trust", "--ignore-enter", "2", "--reports", "never")
    await bench.wait(agent, lambda state: state.status == ("ready" if allows else "error"))
    assert "approval_undelivered" not in bench.events(agent)
    assert len(bench.gate.asked) == 1


async def test_an_answer_that_does_not_arrive_is_an_event(bench: AgentBench, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(question_desk, "ACKNOWLEDGE_S", 0.5)
    bench.gate.allows = True
    agent = await bench.start("fake", "--stuck", "--reports", "always")
    agent.press(b"/permit write made.txt\r")
    event = await bench.wait_for_event("approval_undelivered", agent)
    assert event.data["questionId"] == agent.open_questions[0].id
    assert agent.state.status == "blocked"


async def test_a_question_is_answered_by_a_person(bench: AgentBench):
    agent = await bench.start("fake", "--reports", "always")
    sending = asyncio.ensure_future(agent.send("/question Which colour?"))
    event = await bench.wait_for_event("question", agent)
    assert event.data["question"] == "Which colour?"
    await agent.answer(event.data["questionId"], QuestionAnswer(True, text="blue"))
    assert (await sending).response == "● The answer is blue"
    assert bench.gate.asked == []
    with pytest.raises(AgentError):
        await agent.answer(event.data["questionId"], QuestionAnswer(True, text="red"))


@pytest.mark.parametrize("columns", [80, 120])
async def test_a_login_event_has_the_complete_address(bench: AgentBench, columns: int):
    agent = await bench.spawn("fake", "--login", "--reports", "always", columns=columns)
    event = await bench.wait_for_event("login_required", agent)
    assert event.data["loginUrl"].startswith("https://login.example.com/")
    assert event.data["loginUrl"].endswith(ADDRESS_END)
    assert agent.state.status == "authenticating"
    assert "agent_ready" not in bench.events(agent)


async def test_an_unknown_dialog_blocks_the_agent(bench: AgentBench):
    agent = await bench.start("fake", "--reports", "always")
    agent.press(b"/theme\r")
    event = await bench.wait_for_event("blocking_prompt", agent)
    assert event.data["options"] == ["Dark", "Light"]
    assert bench.gate.asked == []
    agent.press(b"\x1b[B\r")
    await bench.wait(agent, lambda state: state.status == "ready")
    assert agent.open_questions == []
    assert "● The style is Light" in agent.read_lines(10)


async def test_a_person_in_the_terminal_may_be_faster(bench: AgentBench):
    waiting = asyncio.Event()

    async def never(agent: object, question: object) -> QuestionAnswer:
        waiting.set()
        await asyncio.Event().wait()
        raise AssertionError

    bench.gate.decide = never  # pyright: ignore[reportAttributeAccessIssue]
    agent = await bench.start("fake", "--reports", "always")
    sending = asyncio.ensure_future(agent.send("/permit write made.txt"))
    await asyncio.wait_for(waiting.wait(), 30)
    agent.press(b"\r")
    assert (await sending).response == "● write was allowed"
    assert agent.open_questions == []
    assert "permission_decided" not in bench.events(agent)


async def test_a_gate_that_fails_denies(bench: AgentBench):
    async def fail(agent: object, question: object) -> QuestionAnswer:
        raise RuntimeError("broken")

    bench.gate.decide = fail  # pyright: ignore[reportAttributeAccessIssue]
    agent = await bench.start("fake", "--reports", "always")
    assert (await agent.send("/permit write made.txt")).response == "● write was denied"


async def test_each_of_the_seven_events_is_sent_by_a_real_program(bench: AgentBench):
    agent = await bench.start("fake", "--reports", "always")
    await agent.send("hello")
    agent.press(b"/question Which colour?\r")
    question = await bench.wait_for_event("question", agent)
    await agent.answer(question.data["questionId"], QuestionAnswer(True, text="blue"))
    await bench.wait(agent, lambda state: state.status == "ready")
    agent.press(b"/login\r")
    await bench.wait_for_event("login_required", agent)
    await agent.stop()
    with suppress(AgentError):
        await bench.spawn("fake", "--exit", "1")
    await bench.wait_for_event("agent_error")
    names = [event.event for event in bench.pool.feed.read()]
    for name in ("agent_ready", "agent_stopped", "agent_error", "login_required", "message", "question"):
        assert names.count(name) == 1, name
    # the second program was started, too
    assert names.count("agent_started") == 2
    for event in bench.pool.feed.read():
        assert event.data["agent"]["id"] == event.agent_id
