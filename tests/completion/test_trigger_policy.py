"""Tests of the rules of the quiet gate with their golden files, and of the settings that switch them off."""

from dataclasses import fields, replace
from pathlib import Path

import pytest

from lsp_harness.completion.completer import Completer
from lsp_harness.completion.trigger_policy import MIN_PROBABILITY, TRIGGER_RULES, TriggerPolicy
from lsp_harness.config.schema import Completion, Quiet
from tests.harness.tools import Script
from tests.support.desk import Desk
from tests.support.quiet import Scenario, read

FILES = sorted((Path(__file__).parent / "quiet").glob("*.txt"))
ALL = [scenario for path in FILES for scenario in read(path)]
ON = Quiet(min_probability=0.5)
NAMES = [rule.name for rule in TRIGGER_RULES]


def test_every_rule_has_a_setting_and_a_file_with_both_answers() -> None:
    assert {path.stem for path in FILES} == {*NAMES, MIN_PROBABILITY}
    assert {*NAMES, MIN_PROBABILITY, "debounce_ms"} == {field.name for field in fields(Quiet)}
    assert all(rule.reason for rule in TRIGGER_RULES)
    for path in FILES:
        assert {path.stem in (result.rules or ()) for result in read(path)} == {True, False}


async def find_silent_rule(scenario: Scenario, quiet: Quiet) -> str:
    """Return the rule that suppressed the suggestion at any step, or an empty text if it was shown."""
    tokens = scenario.model or [("x", 1.0)]
    completer = Desk(Completer(Script({"tokens": tokens}), Completion(outline_tokens=0), TriggerPolicy(quiet)))
    cursor = scenario.cursor()
    scenario.live(completer.opened(cursor.document).history)
    suggestion = await completer.complete(cursor.document, cursor.tree, cursor.offset, cursor.path, automatic=True)
    assert (suggestion is None) is ("quiet" in completer.last_figures)
    return completer.last_figures.get("quiet", "")


@pytest.mark.parametrize("scenario", ALL, ids=lambda one: f"{one.file}: {one.name}")
async def test_a_scenario_is_answered_by_its_rules(scenario: Scenario) -> None:
    # in front of another word or text, the letter that stands for a model's answer is not what would be shown
    result = scenario.rule(TriggerPolicy(ON)) or (await find_silent_rule(scenario, ON) if scenario.model else "")
    assert result in (scenario.rules or ("",))
    assert scenario.rules is None or result


@pytest.mark.parametrize(
    "scenario", [one for one in ALL if one.rules == (one.file,)], ids=lambda one: f"{one.file}: {one.name}"
)
async def test_a_rule_is_silent_if_its_setting_is_off(scenario: Scenario) -> None:
    off = replace(ON, **{scenario.file: 0.0 if scenario.file == MIN_PROBABILITY else False})
    assert scenario.rule(TriggerPolicy(off)) != scenario.file
    if scenario.model:
        assert await find_silent_rule(scenario, off) == ""


@pytest.mark.parametrize("scenario", [one for one in ALL if one.silent], ids=lambda one: f"{one.file}: {one.name}")
async def test_an_explicit_request_passes_all_triggers(scenario: Scenario) -> None:
    cursor = scenario.cursor()
    engine = Script({"tokens": scenario.model or [("x", 1.0)]})
    completer = Desk(Completer(engine, Completion(outline_tokens=0), TriggerPolicy(ON)))
    scenario.live(completer.opened(cursor.document).history)
    await completer.complete(cursor.document, cursor.tree, cursor.offset, cursor.path)
    assert "quiet" not in completer.last_figures
    assert len(engine.foreground_requests) == 1
