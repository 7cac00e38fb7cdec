"""The registry of the sources of context: what a prompt, its preview and the documentation take from it."""

import re
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path

import pytest

from lsp_harness.config.schema import Context
from lsp_harness.context import sources
from lsp_harness.context.context_source import (
    CompletionSource,
    ContextSource,
    Share,
    Source,
    share_tokens,
)
from lsp_harness.context.fragment import Fragment
from lsp_harness.context.prompt_budget import TOTAL
from lsp_harness.context.source_registry import COMPLETION_SOURCES, INSTRUCTION_SOURCES

PAGE = Path(__file__).parents[2] / "docs" / "context.md"


class WordSource(CompletionSource):
    """A source with a limited number of words, which may take the remaining tokens."""

    name, order, reasons = "words", 1, ()

    def __init__(self, share: Share, order: int, limit: int = 1000) -> None:
        self.share, self.order, self._limit = share, order, limit  # type: ignore[misc]

    async def find_fragments(self, budget: int, quoted: Sequence[Fragment]) -> Sequence[Fragment]:
        tokens = min(budget, self._limit)
        self._limit -= tokens
        return (Fragment("word " * tokens, tokens, "", f"beside {len(quoted)}"),)


async def test_tokens_that_a_source_does_not_use_are_left_for_the_next():
    first, second = WordSource(Share(fraction=0.5), 2, limit=10), WordSource(Share(), 1)
    shared = await share_tokens([first, second], {TOTAL: 100})
    assert [(source, [one.tokens for one in found]) for source, found in shared] == [(second, [90]), (first, [10])]


async def test_a_source_with_a_second_turn_takes_the_rest_of_the_tokens():
    first, second = WordSource(Share(fraction=0.4, takes_rest=True), 1), WordSource(Share(), 2, limit=30)
    [(_, found), _] = await share_tokens([first, second], {TOTAL: 100})
    assert [(one.tokens, one.reason) for one in found] == [(30, "beside 2"), (40, "beside 0")]


@pytest.mark.parametrize(("budgets", "expected"), [({}, [20, 10]), ({TOTAL: 25}, [20, 5]), ({TOTAL: 0}, [0, 0])])
async def test_sources_with_one_budget_share_it_within_the_total(budgets: dict[str, int], expected: list[int]):
    one, other = (
        WordSource(Share(("related_budget",)), 1, limit=20),
        WordSource(Share(("related_budget", "code_budget")), 2),
    )
    shared = await share_tokens([one, other], {"related_budget": 30, "code_budget": 50, **budgets})
    assert [sum(fragment.tokens for fragment in found) for _, found in shared] == expected


ALL = (*COMPLETION_SOURCES, *INSTRUCTION_SOURCES)


def test_every_module_of_the_sources_holds_a_registered_source():
    modules = {file.stem for file in Path(sources.__path__[0]).glob("*.py")} - {"__init__"}
    assert {source.__module__.rpartition(".")[2] for source in ALL} == modules


@pytest.mark.parametrize("registry", [COMPLETION_SOURCES, INSTRUCTION_SOURCES])
def test_names_and_orders_of_the_sources_of_a_prompt_differ(registry: Sequence[type[ContextSource]]):
    assert len({source.name for source in registry}) == len({source.order for source in registry}) == len(registry)


@pytest.mark.parametrize("source", ALL, ids=lambda source: source.name)
def test_the_budgets_of_a_source_are_settings(source: type[ContextSource]):
    assert set(source.share.budgets) <= {field.name for field in fields(Context)}


def test_the_page_shows_the_sources_of_completions_in_prompt_order():
    rows = [
        (source.name, _describe_share(source.share), ", ".join(source.reasons))
        for source in _sort_by_order(COMPLETION_SOURCES)
    ]
    assert _read_table("| source | share of `repository_tokens` |") == rows


def test_the_page_shows_the_sources_of_edits_in_prompt_order():
    rows = [
        (
            source.name,
            ", ".join(f"`{budget}`" for budget in source.share.budgets),
            f"`{source.section.name}`",
            ", ".join(source.reasons),
        )
        for source in _sort_by_order(INSTRUCTION_SOURCES)
    ]
    assert _read_table("| source | budgets |") == rows


@pytest.mark.parametrize("registry", [COMPLETION_SOURCES, INSTRUCTION_SOURCES])
def test_the_page_says_in_which_order_the_sources_get_tokens(registry: Sequence[type[ContextSource]]):
    turns = ", ".join(source.name for source in registry)
    assert f"in the order: {turns}." in " ".join(PAGE.read_text(encoding="utf-8").split())


def _sort_by_order(registry: Sequence[type[Source]]) -> list[type[Source]]:
    return sorted(registry, key=lambda source: source.order)


def _describe_share(share: Share) -> str:
    part = "what is left" if share.fraction == 1 else f"{share.fraction * 100:.0f} % of what is left"
    return f"{part}, then what all sources left" if share.takes_rest else part


def _read_table(head: str) -> list[tuple[str, ...]]:
    """Return the rows of the table of the page that begins with `head`."""
    page = PAGE.read_text(encoding="utf-8")
    rows = page[page.index(head) :].partition("\n\n")[0].splitlines()[2:]
    return [tuple(re.split(r" \| ", row.strip("| "))) for row in rows]
