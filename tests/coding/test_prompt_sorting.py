"""The choice of what a prompt asks for, the decisions about a plan, and the ceilings of their prompts."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from lsp_harness.coding.plan import plan_choice, understanding
from lsp_harness.coding.plan.parameter_rename import ParameterRename, parse_rename
from lsp_harness.coding.plan.understanding import EXAMPLES, INTENTS, understand_prompt
from lsp_harness.config.schema import Config
from lsp_harness.harness.sessions.model_choice import create_model
from lsp_harness.inference.request import ChatRequest
from lsp_harness.inference.scripted_engine import ScriptedEngine, prompt_text
from lsp_harness.session.events.plan_events import PlannedItem

FOLDER = Path(__file__).parent
LABELLED = ("labelled_prompts.json", "held_out_prompts.json")
ITEM = PlannedItem("app.py", "main", 3, "caller", "uses load: load(path)")


def sentences(name: str) -> list[tuple[str, str]]:
    return [(text, intent) for text, intent in json.loads((FOLDER / name).read_text())]


async def count_letters(texts: Sequence[str]) -> list[int]:
    """Count a token for every two characters, which is more than any model needs."""
    return [len(text) // 2 for text in texts]


def test_the_examples_are_not_among_the_measured_sentences():
    measured = [text for name in LABELLED for text, _ in sentences(name)]
    assert not {text for text, _ in EXAMPLES} & {*measured}
    assert len(measured) == len({*measured}) == 60
    assert {intent for name in LABELLED for _, intent in sentences(name)} == {*INTENTS}


@pytest.mark.parametrize(("answer", "intent"), [("fix", "fix"), ("gener", "other"), ("", "other"), ("Edit", "other")])
async def test_an_answer_is_one_of_the_words_or_asks_back(answer: str, intent: str):
    engine = ScriptedEngine([{"text": answer}])
    assert await understand_prompt(engine, "repair it", 0.3) == intent
    [request] = engine.foreground_requests
    assert isinstance(request, ChatRequest)
    assert (request.sampling.temperature, request.sampling.n_predict) == (0.3, 5)
    assert all(f'"{word}"' in request.sampling.grammar for word in INTENTS)


async def test_a_secret_in_a_prompt_is_not_sent():
    secret = "ghp_" + "a1B2" * 9
    engine = ScriptedEngine([{"text": "edit"}, {"text": "keep"}])
    await understand_prompt(engine, f"use the token {secret} in login", 0.1)
    await plan_choice.confirm_item(engine, f"use the token {secret} in login", "login", ITEM)
    assert secret not in "".join(map(prompt_text, engine.foreground_requests))


@pytest.mark.parametrize("text", ["x" * 100_000, "add a check " * 20_000, "\n" * 9_000, "", "日本" * 40_000])
async def test_prompts_stay_below_their_ceilings(text: str):
    messages = await understanding.build_messages(text, count_letters)
    assert sum(await count_letters([content for _, content in messages])) <= understanding.MAX_TOKENS
    item = PlannedItem("a.py", text, 1, "caller", f"uses {text}: {text}")
    messages = await plan_choice.build_messages(text, "load", item, count_letters)
    assert sum(await count_letters([content for _, content in messages])) <= plan_choice.MAX_TOKENS


@pytest.mark.parametrize(
    ("task", "rename"),
    [
        ("rename the parameter path of read_rows to file", ParameterRename("read_rows", "path", "file")),
        ("Rename argument `a` in `Shape.scale()` to `b`.", ParameterRename("Shape.scale", "a", "b")),
        ("please rename the parameter x of the function f to y", ParameterRename("f", "x", "y")),
        ("rename the parameter x of f to y and check it", None),
        ("rename f to g", None),
        ("let f take y", None),
    ],
)
def test_only_a_pure_rename_needs_no_model(task: str, rename: ParameterRename | None):
    assert parse_rename(task) == rename


@pytest.mark.model
@pytest.mark.timeout(400)
async def test_a_real_model_answers_with_one_of_the_words_below_the_ceiling():
    engine = create_model(Config(), "", "").engine
    try:
        for text, _ in [*sentences(LABELLED[1]), ("\x00{]" * 40, ""), ("fix " * 2_000, "")]:
            assert await understand_prompt(engine, text, 0.1) in INTENTS
        messages = await understanding.build_messages("edit this " * 4_000, engine.count)
        [tokens] = await engine.count([await engine.chat_prompt(messages)])
        # the template adds a few tokens to each message
        assert tokens <= understanding.MAX_TOKENS + 8 * len(messages)
    finally:
        await engine.aclose()
