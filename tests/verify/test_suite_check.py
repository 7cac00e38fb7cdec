"""The check `tests` as a part of a verdict, with the real runner in the sandbox of this machine."""

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from lsp_harness.config.schema import Verification
from lsp_harness.text.document import Document
from lsp_harness.verify.change import Change, ChangeSet
from lsp_harness.verify.check import CheckContext, CheckTools, run_checks
from lsp_harness.verify.checks import SuiteCheck, create_checks
from lsp_harness.verify.ruff_linter import Ruff
from tests.support.project_suites import create_suites, require_sandbox

pytestmark = pytest.mark.process

SOURCE = "def double(x):\n    return 2 * x\n"
TESTS = "from numbers_module import double\n\n\ndef test_double():\n    assert double(3) == 6\n"


@pytest.fixture
async def context(tmp_path: Path) -> AsyncGenerator[CheckContext]:
    require_sandbox()
    (tmp_path / "numbers_module.py").write_text(SOURCE)
    (tmp_path / "test_numbers.py").write_text(TESTS)
    suites = create_suites("test_numbers.py")
    yield CheckContext(CheckTools(Ruff(), suites))
    await suites.aclose()


def make_proposal(folder: Path, text: str) -> ChangeSet:
    file = folder / "numbers_module.py"
    before = Document.from_text(file.as_uri(), SOURCE)
    return ChangeSet.of(Change.from_documents(before, Document.from_text(file.as_uri(), text), file, folder))


async def test_an_edit_that_breaks_a_test_fails_with_the_line_of_the_test(
    tmp_path: Path, context: CheckContext
) -> None:
    checks = create_checks(Verification(), context)
    verdict = await run_checks(make_proposal(tmp_path, SOURCE.replace("2 *", "3 *")), checks)
    assert verdict.outcomes[-1].lines == (
        "TEST FAIL: test_double — AssertionError: expected 6, got 9, where 9 = double(3)",
    )
    assert verdict.short_marks.endswith("tests ✗")
    passed = await run_checks(make_proposal(tmp_path, SOURCE.replace("2 * x", "x + x")), checks)
    assert passed.short_marks.endswith("tests ✓")
    # nothing was written
    assert (tmp_path / "numbers_module.py").read_text() == SOURCE


async def test_the_check_needs_its_setting_and_a_runner(context: CheckContext) -> None:
    assert "tests" not in [check.name for check in create_checks(Verification(test=False), context)]
    assert "tests" not in [check.name for check in create_checks(Verification(), CheckContext(CheckTools(Ruff())))]


async def test_a_repair_of_tests_that_do_not_run_fails(tmp_path: Path) -> None:
    (tmp_path / "numbers_module.py").write_text(SOURCE)
    suites = create_suites("test_numbers.py", objection="the mode plan runs nothing")
    changes = make_proposal(tmp_path, SOURCE.replace("2 *", "3 *"))
    plain, repair = SuiteCheck(suites), SuiteCheck(suites, frozenset({"test_numbers.py::test_double"}))
    assert [(await check.judge(changes)).status for check in (plain, repair)] == ["skipped", "failed"]
