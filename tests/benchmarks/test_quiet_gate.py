"""Tests of the rules of the quiet gate that need no model, on the scenarios."""

import pytest

from benchmarks.quiet.figures import Figures
from benchmarks.quiet.scenarios import HALVES, Half, read_scenarios
from lsp_harness.completion.trigger_policy import MIN_PROBABILITY, TriggerPolicy
from tests.support.quiet import Scenario

ALL = [scenario for half in HALVES for scenario in read_scenarios(half)]
TOO_QUIET = {"a letter too many at the end"}
"""Where the rules are wrong: a deletion may well be the last step before one goes on. No rule tells this from the
others."""
FIGURES: dict[Half, Figures] = {
    "chosen": Figures(silent_silent=21, silent_shown=3, shown_silent=0, shown_shown=24),
    "held": Figures(silent_silent=21, silent_shown=3, shown_silent=1, shown_shown=23),
}


@pytest.mark.parametrize("scenario", ALL, ids=lambda one: f"{one.file}: {one.name}")
def test_a_rule_without_a_model_answers_each_scenario_as_expected(scenario: Scenario) -> None:
    rule = scenario.rule(TriggerPolicy())
    if scenario.name in TOO_QUIET:
        assert (rule, scenario.silent) == ("after_deletion", False)
    elif scenario.rules == (MIN_PROBABILITY,):
        # only what the model writes can tell
        assert rule == ""
    else:
        assert rule in (scenario.rules or ("",))


@pytest.mark.parametrize("half", HALVES)
def test_the_rules_without_a_model_reach_their_recorded_figures(half: Half) -> None:
    found = [(scenario.silent, bool(scenario.rule(TriggerPolicy()))) for scenario in read_scenarios(half)]
    assert Figures.of(found) == FIGURES[half]


def test_there_are_enough_scenarios_of_both_kinds_in_enough_languages() -> None:
    assert len(ALL) >= 64
    assert len({(scenario.file, scenario.name) for scenario in ALL}) == len(ALL)
    assert len({scenario.path.rsplit(".")[-1] for scenario in ALL}) >= 6
    for half in HALVES:
        silent = sum(scenario.silent for scenario in read_scenarios(half))
        assert abs(silent / len(read_scenarios(half)) - 0.5) < 0.1
