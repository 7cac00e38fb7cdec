"""Messages to agents: when they are sent, and what comes back."""

import asyncio
import sys
from collections.abc import Callable

import pytest

from lsp_harness.config.runtime_schema import AgentSetting
from lsp_harness.runtime import pty_connection
from lsp_harness.runtime.adapters.custom import CustomAgent
from lsp_harness.runtime.agent_errors import (
    AgentBlocked,
    AgentBusy,
    AgentNotReady,
    AgentTimeout,
    AuthRequired,
    InvalidSpec,
    UnsentText,
)
from lsp_harness.runtime.states.screen_reader import ScreenReader
from tests.runtime.conftest import FAKE_CLI, AgentBench


@pytest.mark.parametrize("reports", ["always", "asked", "never"])
async def test_the_answer_is_the_text_that_the_agent_printed(bench: AgentBench, reports: str):
    agent = await bench.start("fake", "--reports", reports)
    for text in ("hello", "hello", "a longer message " * 10):
        reply = await agent.send(text)
        assert "".join(reply.response.split()) == "".join(f"● You said: {text}".split())
        assert reply.submitted
    many = await agent.send("/lines 100")
    assert many.response.split("\n") == [f"line {number}" for number in range(1, 101)]


async def test_an_idle_screen_before_the_work_is_no_answer(bench: AgentBench):
    # the screen settles after a second
    agent = await bench.start("fake", "--reports", "never", "--late-work", "1.3")
    assert (await agent.send("hello")).response == "● You said: hello"


async def test_work_that_is_too_short_to_be_seen(bench: AgentBench, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(pty_connection, "SIGN_WAIT_S", 1.5)
    agent = await bench.start("fake", "--reports", "never", "--hidden-work")
    assert (await agent.send("hello")).response == "● You said: hello"


async def test_lines_of_one_message_are_pasted(bench: AgentBench):
    agent = await bench.start()
    reply = await agent.send("first\nsecond\n\nfourth")
    assert [line.strip() for line in reply.response.split("\n")] == ["● You said: first", "second", "", "fourth"]


class FakeClaude(CustomAgent):
    """The fake agent, whose screens are read by the rules of claude."""

    def _create_reader(self) -> ScreenReader:
        return ScreenReader("claude", "2.1.332")


@pytest.mark.parametrize("reports", ["always", "never"])
async def test_a_message_is_not_appended_to_an_unsent_text(
    bench: AgentBench, reports: str, monkeypatch: pytest.MonkeyPatch
):
    # the rules of claude do not know how the fake agent works
    monkeypatch.setattr(pty_connection, "SIGN_WAIT_S", 0.5)
    bench.pool.registry.add(
        FakeClaude(AgentSetting(name="drafted", command=sys.executable, args=(str(FAKE_CLI), "--reports", reports)))
    )
    agent = await bench.start("drafted")
    agent.press(b"a draft ")
    await bench.wait_for_text(agent, "a draft")
    for queue in (False, True) if reports == "always" else (False,):
        with pytest.raises(UnsentText, match="a draft") as raised:
            await agent.send("hello", queue=queue)
        assert "force" in raised.value.resolution
    assert "hello" not in "\n".join(agent.read_lines(50))
    reply = await agent.send("hello", force=True)
    assert "You said: a draft hello" in reply.response
    await bench.wait(agent, lambda state: state.status == "ready")
    assert "You said: again" in (await agent.send("again")).response


async def test_a_message_with_control_keys_is_refused(bench: AgentBench):
    agent = await bench.start("echo")
    reply = await agent.send("a\x1b[201~\x03\x04b\r\nc")
    assert reply.response == "a[201~b\nc"
    for text in ("", "  \n "):
        with pytest.raises(InvalidSpec):
            await agent.send(text)


async def test_a_busy_agent_refuses_a_message(bench: AgentBench):
    agent = await bench.start()
    first = asyncio.ensure_future(agent.send("/until told"))
    await bench.wait(agent, lambda state: state.status == "busy")
    with pytest.raises(AgentBusy):
        await agent.send("second")
    (bench.work / "told").touch()
    assert "Worked" in (await first).response
    assert "second" not in "\n".join(agent.read_lines(50))


async def test_messages_wait_for_their_turn(bench: AgentBench):
    agent = await bench.start()
    first = asyncio.ensure_future(agent.send("/until told"))
    await bench.wait(agent, lambda state: state.status == "busy")
    others = [asyncio.ensure_future(agent.send(text, queue=True)) for text in ("second", "third")]
    await asyncio.sleep(0)
    assert len(agent.fields()["queue"]) == 2
    (bench.work / "told").touch()
    replies = [await first, *(await asyncio.gather(*others))]
    assert [reply.queued for reply in replies] == [False, True, True]
    assert [reply.response for reply in replies] == ["● Worked", "● You said: second", "● You said: third"]


async def test_a_message_for_an_agent_that_starts_waits_too(bench: AgentBench):
    agent = await bench.spawn("fake", "--slow-start", "0.5")
    with pytest.raises(AgentNotReady):
        await agent.send("now")
    reply = await agent.send("later", queue=True)
    assert (reply.response, reply.queued) == ("● You said: later", True)


@pytest.mark.parametrize("reports", ["always", "never"])
async def test_an_agent_is_usable_after_a_timeout(bench: AgentBench, reports: str):
    agent = await bench.start("fake", "--reports", reports)
    with pytest.raises(AgentTimeout):
        await agent.send("/until told", timeout_s=0.6)
    (bench.work / "told").touch()
    await bench.wait(agent, lambda state: state.status == "ready")
    assert (await agent.send("again")).response == "● You said: again"


async def test_a_message_that_waits_too_long_is_withdrawn(bench: AgentBench):
    agent = await bench.start()
    first = asyncio.ensure_future(agent.send("/until told"))
    await bench.wait(agent, lambda state: state.status == "busy")
    with pytest.raises(AgentTimeout, match="withdrawn"):
        await agent.send("never typed", timeout_s=0.1, queue=True)
    (bench.work / "told").touch()
    await first
    assert (await agent.send("next")).response == "● You said: next"
    assert "never typed" not in "\n".join(agent.read_lines(50))


@pytest.mark.parametrize("reports", ["always", "never"])
async def test_an_interrupt_ends_the_work(bench: AgentBench, reports: str):
    agent = await bench.start("fake", "--reports", reports)
    sending = asyncio.ensure_future(agent.send("/slow 3600"))
    await bench.wait_for_text(agent, "Thinking")
    await agent.interrupt()
    assert "Interrupted" in (await sending).response
    await bench.wait(agent, lambda state: state.status == "ready")


async def test_lost_enter_keys_are_pressed_again(bench: AgentBench):
    agent = await bench.start("fake", "--ignore-enter", "1")
    reply = await agent.send("hello")
    assert reply.submitted
    assert reply.response == "● You said: hello"


async def test_enter_is_not_pressed_for_ever(bench: AgentBench):
    agent = await bench.start("fake", "--ignore-enter", "50")
    reply = await agent.send("hello")
    assert (reply.sent, reply.submitted, reply.response) == (True, False, "")


async def test_an_agent_without_an_echo_gets_its_message(bench: AgentBench):
    agent = await bench.start("fake", "--no-echo")
    assert (await agent.send("hello")).response == "● You said: hello"


@pytest.mark.parametrize("reports", ["always", "never"])
async def test_no_text_is_typed_into_a_dialog(bench: AgentBench, reports: str):
    agent = await bench.start("fake", "--reports", reports, "--stuck")
    agent.press(b"/theme\r")
    await bench.wait(agent, lambda state: state.status == "blocked")
    for force in (False, True):
        with pytest.raises(AgentBlocked):
            await agent.send("hello", force=force)
    assert "hello" not in "\n".join(agent.read_lines(50))


async def test_an_agent_that_needs_a_login_refuses_a_message(bench: AgentBench):
    agent = await bench.spawn("fake", "--login", "--reports", "always")
    await bench.wait(agent, lambda state: state.status == "authenticating")
    with pytest.raises(AuthRequired):
        await agent.send("hello")
    agent.press(b"code\r")
    await bench.wait(agent, lambda state: state.status == "ready")
    assert (await agent.send("hello")).response == "● You said: hello"


async def test_stopping_an_agent_ends_its_messages(bench: AgentBench):
    agent = await bench.start()
    sending = [asyncio.ensure_future(agent.send("/slow 3600")), asyncio.ensure_future(agent.send("more", queue=True))]
    await bench.wait(agent, lambda state: state.status == "busy")
    await agent.stop()
    results = await asyncio.gather(*sending, return_exceptions=True)
    assert [type(result) for result in results] == [AgentNotReady, AgentNotReady]


async def test_text_that_looks_like_a_dialog_is_an_answer(bench: AgentBench):
    agent = await bench.start("plain", "--reports", "always")
    text = "Do you want to proceed? ❯ 1. Yes 2. No"
    reply = await agent.send(f"/say {text}")
    assert reply.response == text
    assert "permission_request" not in bench.events(agent)


async def test_the_time_of_a_message_is_that_of_the_pool(make_bench: Callable[..., AgentBench]):
    bench = make_bench(default_timeout_s=0.4)
    agent = await bench.start()
    with pytest.raises(AgentTimeout):
        await agent.send("/slow 3600")
