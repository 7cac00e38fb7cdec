"""Fixes of a text that cannot be parsed, judged by real tests in the sandbox. The scripted model proves plumbing."""

from collections.abc import AsyncGenerator
from dataclasses import replace
from pathlib import Path

import pytest

from lsp_harness.coding.fix import Fix
from lsp_harness.coding.turn.turn_context import TurnContext
from lsp_harness.config.schema import Config, Generation, Verification
from lsp_harness.errors import NoAnswer
from lsp_harness.inference.scripted_engine import ScriptedEngine
from lsp_harness.session.log.session_log import SessionLog
from lsp_harness.session.results import Proposal
from lsp_harness.syntax.syntax_errors import find_python_fault
from lsp_harness.text.document import Document
from lsp_harness.text.position import decode
from lsp_harness.verify.check import CheckTools
from lsp_harness.verify.finding import Finding
from lsp_harness.verify.ruff_linter import Ruff
from lsp_harness.wire.event import Event
from tests.harness.tools import of_type
from tests.support.project_suites import create_suites, require_sandbox

OPEN_LIST = "def squares(n):\n    return [i * i for i in range(n)\n\n\ndef double(n):\n    return n * 2\n"
CLOSED_LIST = OPEN_LIST.replace("range(n)", "range(n)]")
NO_PARAMETERS = "def squares '\n    return [i * i for i in range(n)]\n"
"""A header that no edit of one token repairs."""
HEADER = "def squares(n):"
TESTS = "from numbers_of import squares\n\n\ndef test_squares():\n    assert squares(3) == [0, 1, 4]\n"


class Bench:
    """A project whose tests cannot import a file with a syntax error."""

    def __init__(self, root: Path) -> None:
        self.root, self.file, self.log = root, root / "numbers_of.py", SessionLog(is_saved=False)
        self.events = list[Event]()
        self.log.listeners.append(self.events.append)
        self.suites = create_suites("test_numbers_of.py")
        self.verification = Verification()

    async def fix(self, source: str, *fills: str, tests: str = TESTS) -> Proposal:
        """Return the proposal for the first syntax error of a text, if the model fills the holes in this way."""
        self.file.write_text(source)
        (self.root / "test_numbers_of.py").write_text(tests)
        fault = find_python_fault(source.encode())
        assert fault
        engine = ScriptedEngine([{"text": fill} for fill in fills])
        generation = Generation(candidates=max(1, len(fills)), max_retries=0)
        context = TurnContext(
            *(engine, replace(Config(), generation=generation, verification=self.verification)),
            *(CheckTools(Ruff(), self.suites), self.log.turn()),
            *(Document.from_text(self.file.as_uri(), source, language="python"), self.file, self.root),
            *(self.file.name, lambda progress: None),
        )
        return await Fix(context, Finding(fault.start, fault.end, fault.message, "ruff", "invalid-syntax")).run()


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncGenerator[Bench]:
    require_sandbox()
    bench = Bench(tmp_path)
    yield bench
    await bench.suites.aclose()


def text_of(proposal: Proposal) -> str:
    return decode(proposal.changes.main.after.data)


async def test_the_tests_choose_among_equally_likely_repairs(bench: Bench) -> None:
    proposal = await bench.fix(OPEN_LIST)
    assert text_of(proposal) == CLOSED_LIST
    assert not proposal.is_by_model
    assert proposal.verdict.is_verified
    assert proposal.verdict.marks.endswith("gone ✓, tests ✓")
    # the log says which repairs were as likely, and that the tests fail the others
    reasons = [data["reason"] for data in of_type(bench.events, "candidate.rejected")]
    assert any(reason.startswith("TEST FAIL: ") for reason in reasons)
    assert not of_type(bench.events, "choice.made")


async def test_no_tests_run_if_the_settings_say_so(bench: Bench) -> None:
    bench.verification = Verification(test=False)
    with pytest.raises(NoAnswer, match="equally likely"):
        await bench.fix(OPEN_LIST, "nothing of this kind")
    assert all("tests" not in str(data) for data in of_type(bench.events, "verify.completed"))


async def test_a_text_of_the_model_that_passes_the_tests_may_change_more_than_a_token(bench: Bench) -> None:
    proposal = await bench.fix(NO_PARAMETERS, "def squares(m):", HEADER)
    assert text_of(proposal) == NO_PARAMETERS.replace("def squares '", HEADER)
    assert proposal.verdict.is_verified
    assert proposal.is_by_model


async def test_without_failing_tests_such_a_text_is_rejected(bench: Bench) -> None:
    bench.verification = Verification(test=False)
    with pytest.raises(NoAnswer):
        await bench.fix(NO_PARAMETERS, HEADER)
    last = of_type(bench.events, "candidate.rejected")[-1]
    assert last["reason"].startswith("NOT KEPT: ")


async def test_if_all_fail_the_tests_the_usual_checks_decide_and_it_is_not_verified(bench: Bench) -> None:
    proposal = await bench.fix(OPEN_LIST, "return [i * i for i in range(n)]", tests=TESTS.replace("4]", "5]"))
    assert text_of(proposal) == CLOSED_LIST
    assert proposal.verdict.passed
    assert not proposal.verdict.is_verified
