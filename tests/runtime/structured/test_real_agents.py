"""The real agents of other makers against a fake of their models: states, questions, answers and ends."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from lsp_harness.runtime.agent_errors import AuthRequired
from lsp_harness.runtime.agent_spec import AgentSpec
from lsp_harness.runtime.connection import (
    AgentEnded,
    AgentQuestion,
    AnswerReceived,
    Connection,
    QuestionAnswer,
    QuestionWithdrawn,
    StateClaimed,
)
from tests.support.fake_model_server import FakeModelServer
from tests.support.real_agents import AgentRun, make_spec, require_agent

pytestmark = pytest.mark.timeout(180)
NAMES = ("claude", "codex", "gemini", "opencode")


@pytest.fixture
def fake_model_server() -> Iterator[FakeModelServer]:
    with FakeModelServer() as server:
        yield server


@pytest.fixture
def run(tmp_path: Path) -> AgentRun:
    folder = tmp_path / f"agent-{tmp_path.name}"
    folder.mkdir(mode=0o700)
    return AgentRun(folder)


async def start(name: str, run: AgentRun, url: str, *arguments: str) -> Connection:
    adapter = require_agent(name)
    spec = make_spec(name, run, url)
    spec = replace(spec, args=(*spec.args, *arguments))
    order = run.make_order(adapter, spec, adapter.transports[0])
    connection = adapter.connect(order, run.observe)
    await connection.start()
    await run.wait_for(StateClaimed, lambda observed: observed.claim.activity == "idle")
    return connection


async def ask(connection: Connection, run: AgentRun, message: str) -> str:
    """Send a message, and return the answer once the agent is ready again."""
    assert await connection.submit(message)
    return await answer_of(run)


async def answer_of(run: AgentRun) -> str:
    answer = await run.wait_for(AnswerReceived, lambda observed: observed.is_whole)
    await run.wait_for(StateClaimed, lambda observed: observed.claim.activity in ("idle", "error"))
    return answer.text


@pytest.mark.parametrize("name", NAMES)
async def test_a_turn_without_a_terminal_is_answered(
    name: str, run: AgentRun, fake_model_server: FakeModelServer
) -> None:
    connection = await start(name, run, fake_model_server.url)
    assert (
        await ask(connection, run, "SAY the exact answer, ünïcode — and all") == "the exact answer, ünïcode — and all"
    )
    assert await ask(connection, run, "SAY a second one") == "a second one"
    assert run.find_processes()
    assert await connection.stop() == []
    assert run.find_processes() == []
    assert run.observed(AgentEnded)


@pytest.mark.parametrize("name", NAMES)
async def test_a_permission_is_denied_and_then_allowed(
    name: str, run: AgentRun, fake_model_server: FakeModelServer
) -> None:
    connection = await start(name, run, fake_model_server.url)
    made = run.workdir / "made.txt"

    assert await connection.submit(f"RUN touch {made.name} && echo done")
    question = await run.wait_for(AgentQuestion)
    assert question.kind == "permission"
    assert f"touch {made.name} && echo done" in str(question.input["command"])
    await connection.answer(question, QuestionAnswer(is_allowed=False, reason="denied by the gate"))
    assert (await run.wait_for(QuestionWithdrawn)).question_id == question.id
    # opencode ends the turn at a denial
    assert "REFUSED" in (answer := await answer_of(run)) or (name == "opencode" and not answer)
    assert not made.exists()

    assert await connection.submit(f"RUN touch {made.name} && echo done")
    question = await run.wait_for(AgentQuestion)
    await connection.answer(question, QuestionAnswer(is_allowed=True))
    answer = await answer_of(run)
    assert answer.startswith("RAN ")
    assert "done" in answer
    assert made.exists()
    assert await connection.stop() == []
    assert run.find_processes() == []


ASKED = {"question": "Which colour?", "header": "Colour"}
OPTIONS = [{"label": "Red", "description": "warm"}, {"label": "Blue", "description": "cold"}]
QUESTIONS = {
    "claude": ("AskUserQuestion", [{**ASKED, "multiSelect": False, "options": OPTIONS}]),
    "codex": ("request_user_input", [{**ASKED, "id": "colour", "options": OPTIONS}]),
}
"""The tool by which an agent asks the person, and its questions."""


@pytest.mark.parametrize("name", QUESTIONS)
async def test_a_question_to_the_person_gets_the_answer(
    name: str, run: AgentRun, fake_model_server: FakeModelServer
) -> None:
    # codex asks in its plan mode only, or with this setting
    more = ("-c", "features.default_mode_request_user_input=true") if name == "codex" else ()
    connection = await start(name, run, fake_model_server.url, *more)
    tool, questions = QUESTIONS[name]
    assert await connection.submit(f"USE {tool} {json.dumps({'questions': questions})}")
    question = await run.wait_for(AgentQuestion)
    assert (question.kind, question.text, question.options[:2]) == ("question", "Which colour?", ("Red", "Blue"))
    await connection.answer(question, QuestionAnswer(is_allowed=True, text="Blue"))
    answer = await answer_of(run)
    assert answer.startswith("RAN "), answer
    assert "Blue" in answer
    assert "Red" not in answer
    await connection.stop()


@pytest.mark.parametrize("name", NAMES)
async def test_an_interrupted_turn_ends_and_the_next_one_is_answered(
    name: str, run: AgentRun, fake_model_server: FakeModelServer
) -> None:
    connection = await start(name, run, fake_model_server.url)
    assert await connection.submit("WAIT")
    await run.wait_for(AnswerReceived)
    await connection.interrupt()
    await answer_of(run)
    assert await ask(connection, run, "SAY after that") == "after that"
    await connection.stop()
    assert run.find_processes() == []


@pytest.mark.parametrize("name", ["claude", "codex", "gemini"])
async def test_an_agent_without_credentials_does_not_start(name: str, run: AgentRun) -> None:
    adapter = require_agent(name)
    order = run.make_order(adapter, AgentSpec(name, run.workdir), adapter.transports[0])
    connection = adapter.connect(order, run.observe)
    with pytest.raises(AuthRequired) as raised:
        await connection.start()
    assert raised.value.resolution
    assert run.activities == []
    assert run.find_processes() == []


@pytest.mark.parametrize("name", NAMES)
async def test_an_invalid_key_is_reported(name: str, run: AgentRun, fake_model_server: FakeModelServer) -> None:
    connection = await start(name, run, fake_model_server.url)
    fake_model_server.status = 401
    assert await connection.submit("SAY something")
    state = await run.wait_for(StateClaimed, lambda observed: observed.claim.activity in ("blocked", "error"))
    assert state.claim.message
    await connection.stop()
    assert run.find_processes() == []
