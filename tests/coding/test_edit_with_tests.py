"""Edits by instruction where tests fail, with real tests in the sandbox and a scripted model: plumbing, not quality."""

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lsp_harness.coding.instruct import Instruct
from lsp_harness.coding.turn_driver import run_edit_task
from lsp_harness.config.schema import Config, Generation
from lsp_harness.inference.request import Chunk, Infill, ModelRequest, Usage
from lsp_harness.inference.scripted_engine import ScriptedEngine, prompt_text
from lsp_harness.kernel.results import Proposal
from lsp_harness.text.edit import Edit, apply
from lsp_harness.text.position import Span, decode
from tests.coding.project_bench import ProjectBench, apply_proposal
from tests.harness.tools import select_event_data

pytestmark = pytest.mark.process

SOURCE = "def interest(amount, rate):\n    return amount * rate / 100\n"
TESTS = """from rates import interest


def test_usual():
    assert interest(200, 5) == 10


def test_negative():
    message = ""
    try:
        interest(200, -5)
    except ValueError as error:
        message = str(error)
    assert message == "rate below zero"
"""
RAISE = (
    "def interest(amount, rate):\n    if rate < 0:\n        raise ValueError({!r})\n    return amount * rate / 100\n"
)
OTHER, WANTED = RAISE.format("negative"), RAISE.format("rate below zero")


class FillEngine(ScriptedEngine):
    """A model that writes the same text into each hole where a statement raises an error."""

    def __init__(self, replies: list[dict[str, Any]], fill: str) -> None:
        super().__init__(replies)
        self._fill = fill

    async def stream(self, request: ModelRequest) -> AsyncIterator[Chunk]:
        if isinstance(request, Infill):
            is_raise = self._fill and "raise" not in prompt_text(request)
            for index in range(request.sampling.n):
                yield Chunk(self._fill if is_raise else "", "eos", Usage(generated=1), index)
            return
        async for chunk in super().stream(request):
            yield chunk


def apply_recorded(generated: dict[str, Any]) -> str:
    edits = [Edit(edit["start"], edit["end"], edit["text"].encode()) for edit in generated["edits"]]
    return decode(apply(SOURCE.encode(), edits))


class EditBench(ProjectBench):
    """A project with a failing test, and edits of it."""

    def __init__(self, root: Path) -> None:
        super().__init__(root, "rates.py", TESTS)

    async def edit(self, *answers: str, retries: int = 0, fill: str = "") -> Proposal:
        """Return the proposal if the model gives these answers, all but the retries in the first round.

        Each hole gets the same fill.
        """
        self.engine = FillEngine([{"text": f"```\n{answer}```"} for answer in answers], fill)
        generation = Generation(candidates=len(answers) - retries, max_retries=retries)
        context = self.create_context(self.engine, SOURCE, replace(Config(), generation=generation))
        return await run_edit_task(
            Instruct(context, Span(0, len(SOURCE)), "Raise a ValueError if the rate is negative.")
        )


@pytest.fixture
async def edit_bench(tmp_path: Path) -> AsyncGenerator[EditBench]:
    async with aclosing(EditBench(tmp_path)) as bench:
        yield bench


async def test_a_candidate_that_repairs_the_failing_test_is_preferred(edit_bench: EditBench) -> None:
    proposal = await edit_bench.edit(OTHER, WANTED)
    assert apply_proposal(proposal) == WANTED
    assert proposal.verdict.outcomes[-1].reason == "2 tests in 1 file, 2 of 2 changed lines"


async def test_the_failure_is_in_the_prompt_of_a_retry(edit_bench: EditBench) -> None:
    assert apply_proposal(await edit_bench.edit(OTHER, WANTED, retries=1)) == WANTED
    assert "TEST FAIL: test_negative — AssertionError: expected 'rate below zero', got 'negative'" in prompt_text(
        edit_bench.engine.foreground_requests[-1]
    )


async def test_an_edit_that_leaves_a_failing_test_is_the_second_choice(edit_bench: EditBench) -> None:
    proposal = await edit_bench.edit(OTHER, SOURCE)
    assert apply_proposal(proposal) == OTHER
    assert proposal.verdict.passed
    assert not proposal.verdict.is_verified
    outcome = proposal.verdict.outcomes[-1]
    assert (outcome.status, outcome.reason) == (
        "skipped",
        "1 test in 1 file, 2 of 2 changed lines; 1 failed before and still fails",
    )
    # the log shows both verdicts: that of all checks, and that by which it is proposed
    assert [data["passed"] for data in select_event_data(edit_bench.events, "verify.completed")] == [False, True]


async def test_a_failed_attempt_is_repaired_at_the_lines_of_the_failing_tests(edit_bench: EditBench) -> None:
    proposal = await edit_bench.edit(OTHER, OTHER, retries=1, fill="        raise ValueError('rate below zero')")
    assert apply_proposal(proposal) == OTHER.replace("negative", "rate below zero")
    assert proposal.verdict.outcomes[-1].reason == "2 tests in 1 file, 2 of 2 changed lines"
    generated = select_event_data(edit_bench.events, "candidate.generated")
    assert len({data["candidate"] for data in generated}) == len(generated)
    # all recorded edits are about the text in the editor, also those of a repair of an attempt
    texts = [apply_recorded(data) for data in generated if data["edits"]]
    assert texts[-1] == apply_proposal(proposal)
    assert texts.count(apply_proposal(proposal)) > 1


async def test_without_retries_an_attempt_is_not_repaired(edit_bench: EditBench) -> None:
    assert apply_proposal(await edit_bench.edit(OTHER, fill="        raise ValueError('rate below zero')")) == OTHER


async def test_a_failing_test_that_the_edit_does_not_touch_costs_no_candidate(edit_bench: EditBench) -> None:
    proposal = await edit_bench.edit(SOURCE.replace("amount * rate / 100", "rate * amount / 100"), WANTED)
    assert "rate * amount" in apply_proposal(proposal)
