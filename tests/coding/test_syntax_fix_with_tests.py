"""Fixes of a text that cannot be parsed, judged by real tests in the sandbox. The scripted model proves plumbing."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path

import pytest

from lsp_harness.coding.fix import Fix
from lsp_harness.coding.turn_driver import run_edit_task
from lsp_harness.config.schema import Config, Generation, Verification
from lsp_harness.errors import NoAnswer
from lsp_harness.inference.scripted_engine import ScriptedEngine
from lsp_harness.kernel.results import Proposal
from lsp_harness.syntax.syntax_errors import find_python_fault
from lsp_harness.verify.finding import Finding
from tests.coding.project_bench import ProjectBench, apply_proposal
from tests.harness.tools import select_event_data

pytestmark = pytest.mark.process

OPEN_LIST = "def squares(n):\n    return [i * i for i in range(n)\n\n\ndef double(n):\n    return n * 2\n"
CLOSED_LIST = OPEN_LIST.replace("range(n)", "range(n)]")
NO_PARAMETERS = "def squares '\n    return [i * i for i in range(n)]\n"
"""A header that no edit of one token repairs."""
UNINDENTED_METHOD = "class Numbers:\ndef squares(self, n):\n        return [i * i for i in range(n)]\n"
HEADER = "def squares(n):"
TESTS = "from numbers_of import squares\n\n\ndef test_squares():\n    assert squares(3) == [0, 1, 4]\n"


class SyntaxBench(ProjectBench):
    """A project whose tests cannot import a file with a syntax error."""

    def __init__(self, root: Path) -> None:
        super().__init__(root, "numbers_of.py", TESTS)
        self.verification = Verification()

    async def fix(self, source: str, *fills: str, tests: str = TESTS) -> Proposal:
        """Return the proposal for the first syntax error of a text, if the model fills the holes in this way."""
        self.write_tests(tests)
        fault = find_python_fault(source.encode())
        assert fault
        engine = ScriptedEngine([{"text": fill} for fill in fills])
        generation = Generation(candidates=max(1, len(fills)), max_retries=0)
        config = replace(Config(), generation=generation, verification=self.verification)
        context = self.create_context(engine, source, config)
        return await run_edit_task(
            Fix(context, Finding(fault.start, fault.end, fault.message, "ruff", "invalid-syntax"))
        )


@pytest.fixture
async def syntax_bench(tmp_path: Path) -> AsyncGenerator[SyntaxBench]:
    async with aclosing(SyntaxBench(tmp_path)) as bench:
        yield bench


async def test_the_tests_choose_among_equally_likely_repairs(syntax_bench: SyntaxBench) -> None:
    proposal = await syntax_bench.fix(OPEN_LIST)
    assert apply_proposal(proposal) == CLOSED_LIST
    assert not proposal.is_by_model
    assert proposal.verdict.is_verified
    assert proposal.verdict.short_marks.endswith("gone ✓, tests ✓")
    # the log says which repairs were as likely, and that the tests fail the others
    reasons = [data["reason"] for data in select_event_data(syntax_bench.events, "candidate.rejected")]
    assert any(reason.startswith("TEST FAIL: ") for reason in reasons)
    assert not select_event_data(syntax_bench.events, "choice.made")


async def test_no_tests_run_if_the_setting_forbids_them(syntax_bench: SyntaxBench) -> None:
    syntax_bench.verification = Verification(test=False)
    with pytest.raises(NoAnswer, match="equally likely"):
        await syntax_bench.fix(OPEN_LIST, "nothing of this kind")
    assert all("tests" not in str(data) for data in select_event_data(syntax_bench.events, "verify.completed"))


async def test_a_text_of_the_model_that_passes_the_tests_may_change_more_than_a_token(
    syntax_bench: SyntaxBench,
) -> None:
    proposal = await syntax_bench.fix(NO_PARAMETERS, "def squares(m):", HEADER)
    assert apply_proposal(proposal) == NO_PARAMETERS.replace("def squares '", HEADER)
    assert proposal.verdict.is_verified
    assert proposal.is_by_model


async def test_without_failing_tests_a_text_of_the_model_is_rejected(syntax_bench: SyntaxBench) -> None:
    syntax_bench.verification = Verification(test=False)
    with pytest.raises(NoAnswer):
        await syntax_bench.fix(NO_PARAMETERS, HEADER)
    last = select_event_data(syntax_bench.events, "candidate.rejected")[-1]
    assert last["reason"].startswith("NOT KEPT: ")


async def test_if_all_repairs_fail_the_tests_the_other_checks_decide(syntax_bench: SyntaxBench) -> None:
    proposal = await syntax_bench.fix(OPEN_LIST, "return [i * i for i in range(n)]", tests=TESTS.replace("4]", "5]"))
    assert apply_proposal(proposal) == CLOSED_LIST
    assert proposal.verdict.passed
    assert not proposal.verdict.is_verified


async def test_the_smaller_of_two_equivalent_repairs_wins(syntax_bench: SyntaxBench) -> None:
    # one line of the class moves to the right, or both
    tests = TESTS.replace("import squares", "import Numbers").replace("squares(3)", "Numbers().squares(3)")
    proposal = await syntax_bench.fix(UNINDENTED_METHOD, tests=tests)
    assert apply_proposal(proposal) == UNINDENTED_METHOD.replace("def", "    def")
    assert proposal.verdict.is_verified
    assert len(select_event_data(syntax_bench.events, "candidate.generated")) == 2
    assert not select_event_data(syntax_bench.events, "choice.made")
