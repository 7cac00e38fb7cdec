"""Tests that the second prompt of a turn evaluates few tokens, because its changes are at the end."""

from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing
from pathlib import Path

import pytest

from lsp_harness.coding.instruct import Instruct
from lsp_harness.coding.plan.plan_choice import build_messages as ask_about_item
from lsp_harness.coding.plan.understanding import build_messages as ask_for_intent
from lsp_harness.coding.turn.turn_context import TurnContext
from lsp_harness.config.schema import Config, EngineSettings, ModelSettings
from lsp_harness.events.plan_events import PlannedItem
from lsp_harness.inference.client import EngineClient
from lsp_harness.inference.request import ChatRequest, Sampling, Usage
from lsp_harness.kernel.log.session_log import SessionLog
from lsp_harness.text.document import Document
from lsp_harness.text.position import Span
from lsp_harness.verify.check import CheckTools
from lsp_harness.verify.ruff_linter import Ruff

MAX_EVALUATED = 0.3
"""Most tokens of the second prompt that are evaluated, as a part of all its tokens."""
CODE = "def area(radius):\n" + "".join(f"    side_{n} = radius * {n}\n" for n in range(40)) + "    return side_1\n"

Messages = Sequence[tuple[str, str]]


@pytest.fixture
async def engine(home: Path, tiny_model: Path) -> AsyncIterator[EngineClient]:
    config = Config(
        model=ModelSettings(str(tiny_model), context_length=4096), engine=EngineSettings(threads=1, idle_seconds=60)
    )
    async with aclosing(EngineClient(config)) as engine:
        yield engine


async def evaluate(engine: EngineClient, messages: Messages) -> Usage:
    request = ChatRequest(messages, Sampling(n_predict=1))
    *_, last = [chunk async for chunk in engine.stream(request)]
    return last.usage


async def check_reuse(engine: EngineClient, first: Messages, second: Messages) -> None:
    assert first != second
    cold, warm = await evaluate(engine, first), await evaluate(engine, second)
    # the first one is not known yet
    assert cold.evaluated > 500
    assert warm.evaluated < MAX_EVALUATED * (warm.evaluated + warm.reused)


async def test_only_the_end_of_the_second_question_is_evaluated(engine: EngineClient) -> None:
    await check_reuse(engine, *[await ask_for_intent(engine, text) for text in ("sort the rows", "why is it slow?")])


async def test_only_the_end_of_the_second_item_is_evaluated(engine: EngineClient) -> None:
    items = [PlannedItem("a.py", name, 1, "caller", f"uses area: {name}(area(2))") for name in ("show", "report")]
    await check_reuse(engine, *[await ask_about_item(engine, "let area take a unit", "area", item) for item in items])


async def test_only_the_feedback_of_a_retry_is_evaluated(engine: EngineClient, tmp_path: Path) -> None:
    file = tmp_path / "a.py"
    document = Document.from_text(file.as_uri(), CODE, language="python")
    where = (document, file, tmp_path, "a.py")
    turn = SessionLog(is_saved=False).turn()
    context = TurnContext(engine, Config(), CheckTools(Ruff()), turn, *where, lambda progress: None)
    source = await Instruct(context, Span(0, len(CODE)), "return the right side").create_source()
    prompts = [await source.build_prompt(feedback) for feedback in ((), ("LINT: F821 Undefined name `sid`",))]
    await check_reuse(engine, *[prompt.messages for prompt in prompts])
