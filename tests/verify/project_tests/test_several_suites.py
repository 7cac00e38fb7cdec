"""Tests of repositories in which other packages test the changed package."""

from collections.abc import AsyncGenerator, Mapping, Sequence
from pathlib import Path

import pytest

from lsp_harness.index.query.related_tests import AffectedTest
from lsp_harness.process.sandbox.sandbox import Confinement
from lsp_harness.process.sandbox.sandbox_choice import machine_sandbox
from lsp_harness.text.document import Document
from lsp_harness.verify.change import Change, ChangeSet
from lsp_harness.verify.finding import Outcome
from lsp_harness.verify.project_tests.comparison import ProjectAccess, SuiteComparison
from tests.support.project_suites import require_sandbox

pytestmark = pytest.mark.process

CALC = "def total(prices):\n    return sum(prices)\n\n\ndef label(name):\n    return name.strip()\n"
FILES = {
    "core/pyproject.toml": "[tool.pytest.ini_options]\n",
    "core/calc.py": CALC,
    "core/test_calc.py": "from calc import total\n\n\ndef test_total():\n    assert total([1, 2]) == 3\n",
    "app/pyproject.toml": '[tool.pytest.ini_options]\npythonpath = ["../core", "."]\n',
    "app/test_report.py": "import calc\n\n\ndef test_label():\n    assert calc.label(' tea ') == 'tea'\n",
}
BROKEN_LABEL = CALC.replace("name.strip()", "name.upper()")
OTHER_FORM = CALC.replace("sum(prices)", "sum(list(prices))").replace("name.strip()", "str(name).strip()")


class Repository:
    """A repository with two packages, and the comparison of its tests."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.objections: dict[str, str] = {}
        for name, text in FILES.items():
            (root / name).parent.mkdir(exist_ok=True)
            (root / name).write_text(text)
        self.comparison = SuiteComparison(ProjectAccess(self.find_affected, self.find_objection, machine_sandbox))

    async def find_affected(self, root: Path, path: str) -> Sequence[AffectedTest]:
        assert (root, path) == (self.root, "core/calc.py")
        return [
            AffectedTest("core/test_calc.py", "imports core/calc.py", 1),
            AffectedTest("app/test_report.py", "imports core/calc.py", 2),
        ]

    async def find_objection(
        self, command: Sequence[str], confinement: Confinement | None, facts: Mapping[str, str]
    ) -> str:
        return self.objections.get(command[1], "")

    async def compare(self, text: str, must_pass: frozenset[str] = frozenset()) -> Outcome:
        change = self.change_to(text)
        return await self.comparison.compare(ChangeSet.of(change), must_pass)

    def change_to(self, text: str) -> Change:
        file = self.root / "core/calc.py"
        before = Document.from_text(file.as_uri(), file.read_bytes(), language="python")
        after = Document.from_text(file.as_uri(), text.encode(), language="python")
        return Change.from_documents(before, after, file, self.root)


@pytest.fixture
async def repository(tmp_path: Path) -> AsyncGenerator[Repository]:
    require_sandbox()
    repository = Repository(tmp_path)
    yield repository
    await repository.comparison.aclose()


async def test_broken_test_of_another_package_fails(repository: Repository) -> None:
    outcome = await repository.compare(BROKEN_LABEL)
    assert (outcome.status, outcome.reason) == ("failed", "pytest in app: 1 of 1 tests fail")
    assert [finding.code for finding in outcome.findings] == ["test_label"]


async def test_the_reason_of_a_pass_names_each_package_and_its_tests(repository: Repository) -> None:
    outcome = await repository.compare(OTHER_FORM)
    assert (outcome.status, outcome.extent) == ("passed", "")
    assert outcome.reason == (
        "pytest in core: 1 test in 1 file, 1 of 2 changed lines; pytest in app: 1 test in 1 file, 1 of 2 changed lines"
    )


async def test_a_package_whose_tests_did_not_run_limits_the_pass(repository: Repository) -> None:
    repository.objections["test_report.py"] = "a rule denies this"
    outcome = await repository.compare(OTHER_FORM)
    assert (outcome.status, outcome.extent) == ("passed", "1 of 2 suites")
    assert outcome.reason.endswith("; pytest in app: a rule denies this")


async def test_pass_of_another_package_suffices_where_the_closest_tests_cannot_run(repository: Repository) -> None:
    repository.objections["test_calc.py"] = "a rule denies this"
    outcome = await repository.compare(OTHER_FORM)
    assert (outcome.status, outcome.extent) == ("passed", "1 of 2 suites")
    assert outcome.reason.startswith("pytest in app: 1 test in 1 file")


async def test_failing_test_of_another_package_is_traced_and_repaired(repository: Repository) -> None:
    (repository.root / "core/calc.py").write_text(BROKEN_LABEL)
    trace = await repository.comparison.trace(repository.change_to(BROKEN_LABEL))
    assert trace.failed_ids == {"app/test_report.py::test_label"}
    assert trace.reaches(range(6, 7))
    assert not trace.reaches(range(2, 3))
    assert (await repository.compare(CALC, trace.failed_ids)).status == "passed"
    kept = await repository.compare(BROKEN_LABEL.replace("sum(", "sum (") + "\nLIMIT = 1\n", trace.failed_ids)
    assert kept.status == "failed"
