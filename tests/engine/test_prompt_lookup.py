"""Tests of the source and the length of drafts."""

from lsp_harness.engine.decode.branch import PromptLookup
from lsp_harness.engine.decode.step_cost import StepCost

CPU = {1: 19.0, 2: 41.0, 4: 60.0, 8: 78.0, 16: 106.0}


def return_constant_cost(_: int) -> float:
    return 1.0


def test_a_draft_has_the_tokens_that_followed_the_same_tokens_earlier():
    assert PromptLookup(return_constant_cost).draft([1, 2, 3, 4, 5, 6, 7, 9, 1, 2, 3], 5) == [4, 5, 6, 7, 9]


def test_without_earlier_equal_tokens_there_is_no_draft():
    assert PromptLookup(return_constant_cost).draft([1, 2, 3, 4, 5, 6], 5) == []
    assert PromptLookup(return_constant_cost).draft([1, 2], 5) == []
    # the end itself is not such a place
    assert PromptLookup(return_constant_cost).draft([9, 9, 1, 2, 3], 5) == []


def test_a_draft_has_no_more_tokens_than_requested_or_known():
    tokens = [1, 2, 3, 4, 5, 6, 7, 8, 1, 2, 3]

    assert PromptLookup(return_constant_cost).draft(tokens, 3) == [4, 5, 6]
    assert PromptLookup(return_constant_cost).draft(tokens, 0) == []
    assert len(PromptLookup(return_constant_cost).draft(tokens, 100)) <= 8


def test_a_copy_continues_at_its_place():
    """The copy follows the second of two equal runs of three tokens when it is past the first."""
    first, second = [1, 2, 3, 40, 41, 42], [5, 6, 7, 1, 2, 3, 50, 51, 52]
    source = [*first, *second]
    lookup = PromptLookup(return_constant_cost)

    assert lookup.draft([*source, 1, 2, 3], 3) == [40, 41, 42]
    lookup.record(3, 3)
    assert lookup.draft([*source, 1, 2, 3, 40, 41, 42, 5, 6, 7], 3) == [1, 2, 3]
    lookup.record(3, 3)
    assert lookup.draft([*source, 1, 2, 3, 40, 41, 42, 5, 6, 7, 1, 2, 3], 3) == [50, 51, 52]


def test_drafts_that_fail_get_shorter_and_end():
    lookup = PromptLookup(StepCost(CPU).step_ms)
    tokens = [*range(40), *range(12)]
    sizes: list[int] = []
    while drafted := len(lookup.draft(tokens, 15)):
        sizes.append(drafted)
        lookup.record(drafted, 0)

    assert sizes[0] >= 7
    assert sizes == sorted(sizes, reverse=True)
    assert len(sizes) < 5


def test_a_short_match_gives_no_draft_if_drafts_are_expensive():
    dear = StepCost({1: 10.0, 2: 18.0, 4: 34.0, 8: 60.0, 16: 90.0})

    assert PromptLookup(dear.step_ms).draft([*range(40), *range(3)], 15) == []
    assert PromptLookup(dear.step_ms).draft([*range(40), *range(16)], 15) != []
    assert PromptLookup(return_constant_cost).draft([*range(40), *range(3)], 15) != []


def test_drafts_are_tried_again_after_a_while():
    lookup = PromptLookup(StepCost(CPU).step_ms)
    tokens = [*range(40), *range(12)]
    while drafted := len(lookup.draft(tokens, 15)):
        lookup.record(drafted, 0)

    assert any(lookup.draft(tokens, 15) for _ in range(100))


def test_drafts_that_succeed_get_longer():
    cpu = StepCost(CPU)
    lookup = PromptLookup(cpu.step_ms)
    tokens = [*range(40), *range(12)]
    for _ in range(5):
        drafted = len(lookup.draft(tokens, 15))
        lookup.record(drafted, drafted)

    assert len(PromptLookup(cpu.step_ms).draft(tokens, 15)) <= len(lookup.draft(tokens, 15)) == 15
