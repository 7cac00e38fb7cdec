"""The driver that a session takes if nobody names one, and the measurement of the model that decides."""

import json
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lsp_harness.chat.chat_model import Model
from lsp_harness.config.schema import Config
from lsp_harness.events.session_events import TurnStopped
from lsp_harness.inference.models import measured_abilities
from lsp_harness.inference.models.catalogue import cards
from lsp_harness.inference.models.measured_abilities import MeasuredAbilities, find_abilities, keep_abilities
from lsp_harness.inference.scripted_engine import ScriptedEngine
from lsp_harness.sessions import session_opening
from lsp_harness.sessions.ability_measurement import QUESTIONS, WORDS, AbilityMeasurement, Ask, measure_abilities
from lsp_harness.sessions.open_session import OpenSession
from lsp_harness.sessions.session_opening import open_session
from lsp_harness.sessions.session_options import SessionOptions
from tests.sessions.conftest import OpenScripted, ask, make_tool_call, say

RIGHT_WORDS = [say(intent) for _, intent in WORDS]
RIGHT_HOLES = [say("first + second"), say("index++")]


def answer_with(*texts: str) -> tuple[Ask, list[str]]:
    """Return a function that answers questions with these texts, and the list of the questions."""
    asked, replies = list[str](), iter(texts)

    async def answer(folder: str, question: str) -> TurnStopped:
        assert (Path(folder) / "shop.py").exists()
        asked.append(question)
        return TurnStopped(0, "completed", "end_turn", next(replies), None)

    return answer, asked


async def test_a_model_that_passes_all_prompts_has_all_abilities():
    answer, asked = answer_with("It is in shop.py.", "load", "The door is turquoise.")
    found = await AbilityMeasurement(ScriptedEngine([*RIGHT_WORDS, *RIGHT_HOLES]), answer).run()
    assert found == MeasuredAbilities(words=True, holes=True, tools=True)
    assert asked == [question for question, _ in QUESTIONS]
    assert found.sentence == "completes, fixes, edits one function at a time, chats with tools"


@pytest.mark.parametrize(
    "text",
    [
        "The function apply_voucher defines it.",
        '{"name": "grep", "arguments": {"pattern": "apply_voucher", "path": "shop.py"}}',
        "<tool_call> shop.py",
    ],
)
async def test_a_model_that_prints_calls_or_guesses_has_no_tools(text: str):
    answer, asked = answer_with(text)
    found = await AbilityMeasurement(ScriptedEngine([*RIGHT_WORDS, *RIGHT_HOLES]), answer).run()
    # the first wrong answer ends the measurement
    assert (found, len(asked)) == (MeasuredAbilities(words=True, holes=True, tools=False), 1)
    assert found.sentence == "completes, fixes, edits one function at a time; does not chat"


async def test_wrong_words_and_holes_are_seen():
    answer, asked = answer_with()
    found = await AbilityMeasurement(ScriptedEngine([say("other"), say("pass")]), answer).run()
    assert (found, asked) == (MeasuredAbilities(words=False, holes=False, tools=False), [])
    assert found.sentence.endswith("; does not complete and does not understand every prompt and does not chat")


@pytest.fixture
def measured_file(tmp_path: Path, tiny_model: Path, monkeypatch: pytest.MonkeyPatch) -> Config:
    """Return settings that name a model file that nobody has measured."""
    monkeypatch.setenv("LSP_HARNESS_HOME", str(tmp_path / "home"))
    config = Config()
    return replace(config, model=replace(config.model, path=str(tiny_model)))


async def test_the_result_of_a_measurement_is_kept(measured_file: Config):
    answer, asked = answer_with("It is in shop.py.", "load", "The door is turquoise.")
    model = Model("tiny", ScriptedEngine([*RIGHT_WORDS, *RIGHT_HOLES]))
    assert find_abilities(measured_file) is None
    first = await measure_abilities(measured_file, model, answer)
    assert first == find_abilities(measured_file)
    assert len(asked) == len(QUESTIONS)


def test_a_damaged_file_of_abilities_is_measured_again(measured_file: Config):
    keep_abilities(measured_file, MeasuredAbilities(words=True, holes=False, tools=False))
    assert find_abilities(measured_file) == MeasuredAbilities(words=True, holes=False, tools=False)
    measured_abilities._abilities_file().write_text("[]")  # pyright: ignore[reportPrivateUsage]
    assert find_abilities(measured_file) is None


def test_the_catalogue_knows_the_default_model():
    default = next(model for model in cards() if model.name == Config().model.path)
    assert default.measured == ("words", "holes")


@pytest.mark.parametrize(
    ("engine", "is_measured"), [({"script": "x.json"}, False), ({"url": "http://a"}, False), ({}, True)]
)
def test_only_files_are_measured(engine: dict[str, str], is_measured: bool):
    config = Config()
    chosen = replace(config, engine=replace(config.engine, **engine))
    assert measured_abilities.can_be_measured(chosen) == is_measured


Open = Callable[..., Awaitable[OpenSession]]


@pytest.fixture
def open_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Open:
    """Return a function that opens a session whose model has these abilities."""
    monkeypatch.setenv("LSP_HARNESS_HOME", str(tmp_path / "home"))

    async def open(
        abilities: MeasuredAbilities | None, *, replies: Sequence[dict[str, Any]] = (), **options: object
    ) -> OpenSession:
        monkeypatch.setattr(session_opening, "find_abilities", lambda config: abilities)
        (tmp_path / "replies.json").write_text(json.dumps([*replies]))
        given = {"cwd": str(tmp_path), "provider": f"scripted:{tmp_path / 'replies.json'}", **options}
        return await open_session(SessionOptions.from_mapping(given))

    return open


SMALL, LARGE = (
    MeasuredAbilities(words=True, holes=True, tools=False),
    MeasuredAbilities(words=True, holes=True, tools=True),
)


@pytest.mark.parametrize(
    ("abilities", "options", "driver"),
    [
        (SMALL, {}, "code"),
        (LARGE, {}, "chat"),
        (None, {}, "chat"),
        (SMALL, {"driver": "chat"}, "chat"),
        (LARGE, {"driver": "code"}, "code"),
        (SMALL, {"system_prompt": "You sing."}, "chat"),
        (SMALL, {"json_schema": {"type": "object"}}, "chat"),
    ],
)
async def test_the_driver_fits_the_model(
    open_measured: Open, abilities: MeasuredAbilities | None, options: dict[str, object], driver: str
):
    opened = await open_measured(abilities, **options)
    try:
        assert opened.options.driver == driver
        opened.record_start()
        assert opened.session.state.started
        assert opened.session.state.started.driver == driver
    finally:
        await opened.aclose()


async def test_a_saved_session_keeps_its_driver(open_measured: Open):
    opened = await open_measured(SMALL, replies=[say("other")])
    await ask(opened, "good morning to you")
    await opened.aclose()
    opened = await open_measured(LARGE, resume=opened.session.id)
    assert opened.options.driver == "code"
    await opened.aclose()


async def test_a_lent_model_is_not_measured(open_scripted: OpenScripted):
    opened = await open_scripted(make_tool_call("read", path="geo.py"), say("PI is 3."))
    assert (await ask(opened, "what is PI?")).text == "PI is 3."
