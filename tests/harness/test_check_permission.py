"""The permission of the programs that check edits: by the trust of the user, the sandbox, and hooks."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import pytest

from lsp_harness.harness.verification import verifier as verifier_module
from lsp_harness.harness.verification.edit_permission import CheckPermission
from lsp_harness.harness.verification.verifier import LINT, CheckSupply, create_verifier
from lsp_harness.index.query.related_tests import AffectedTest
from lsp_harness.kernel.log.session_store import SessionStore
from lsp_harness.kernel.log.turn import Turn, current_turn
from lsp_harness.permission.action import SUITE_TOOL, Action
from lsp_harness.permission.hooks import Hook, Hooks
from lsp_harness.permission.permission_gate import PermissionGate
from lsp_harness.permission.person import Choice, PermissionQuestion, PersonAnswer
from lsp_harness.process.sandbox.landlock import Landlock
from lsp_harness.process.sandbox.sandbox_choice import SandboxChoice, choose_sandbox
from lsp_harness.text.document import Document
from lsp_harness.verify.change import Change, ChangeSet
from lsp_harness.verify.finding import Outcome
from lsp_harness.verify.types.checker_pool import CheckerPool
from lsp_harness.wire.permission_mode import PERMISSION_MODES, PermissionMode
from tests.permission.gates import policy

pytestmark = pytest.mark.process

SOURCE = "def one():\n    return 1\n"


class CountingHook:
    """A hook that counts its calls."""

    def __init__(self, decision: str) -> None:
        self.decision = decision
        self.tools: list[str] = []

    def __call__(self, payload: Mapping[str, Any]) -> dict[str, Any]:
        self.tools.append(payload["tool"])
        return {"decision": self.decision}


class OpenLandlock(Landlock):
    """Landlock on a processor whose sockets it cannot refuse."""

    has_network: ClassVar[bool] = True


async def run_tests(
    root: Path,
    *,
    trusted: bool,
    hook: CountingHook | None = None,
    is_workspace_trusted: bool = True,
    mode: PermissionMode = "ask",
):
    """Return the outcome of the tests about a change, where no person is. None if there are none."""

    async def find_affected(root: Path, path: str) -> Sequence[AffectedTest]:
        return [AffectedTest("test_one.py", "imports one.py", 1)]

    file = root / "one.py"
    file.write_text(SOURCE)
    (root / "test_one.py").write_text("import one\n\n\ndef test_one():\n    assert one.one() == 1\n")
    hooks = Hooks([Hook("preToolUse", function=hook)] if hook else [])
    gate = PermissionGate(replace(policy(root), mode=mode), hooks=hooks)
    supply = CheckSupply(CheckPermission(lambda: gate), find_affected, CheckerPool(), lambda folder: trusted)
    verifier = create_verifier(supply, is_trusted=is_workspace_trusted)
    before = Document.from_text(file.as_uri(), SOURCE.encode(), language="python")
    after = Document.from_text(file.as_uri(), SOURCE.replace("1", "2 - 1").encode(), language="python")
    try:
        suites = verifier.tools.suites
        change = Change.from_documents(before, after, file, root)
        return await suites.compare(ChangeSet.of(change)) if suites else None
    finally:
        await verifier.aclose()


@pytest.fixture
def closed_sandbox(tmp_path: Path) -> None:
    if (choice := choose_sandbox()).confine(tmp_path) is None:
        pytest.skip(f"no sandbox without network works here: {choice.problem_text}")


async def test_tests_of_a_trusted_folder_run_without_a_question(closed_sandbox: None, tmp_path: Path) -> None:
    hook = CountingHook("")
    outcome = await run_tests(tmp_path, trusted=True, hook=hook)
    assert outcome == Outcome("tests", "passed", reason="1 test in 1 file, 1 of 1 changed lines")
    # the hooks of the user were asked, although nobody waits for this check
    assert set(hook.tools) == {SUITE_TOOL}


@pytest.mark.parametrize("mode", [mode for mode in PERMISSION_MODES if mode not in ("deny", "plan")])
async def test_no_mode_allows_tests_of_a_folder_that_is_not_trusted(
    mode: PermissionMode, closed_sandbox: None, tmp_path: Path
) -> None:
    outcome = await run_tests(tmp_path, trusted=False, mode=mode)
    assert outcome is not None
    assert outcome.status == "skipped"
    assert outcome.reason.startswith(f"the tests may not run: you have not said that you trust {tmp_path}")
    assert "permissions.trusted_folders" in outcome.reason
    assert await run_tests(tmp_path, trusted=True, is_workspace_trusted=False) is None


class AskedPerson:
    """A person who gives the same answer to each question."""

    def __init__(self, choice: Choice) -> None:
        self.choice: Choice = choice
        self.questions: list[PermissionQuestion] = []

    async def ask(self, question: PermissionQuestion) -> PersonAnswer:
        self.questions.append(question)
        return PersonAnswer(self.choice)


@pytest.mark.parametrize(("choice", "is_allowed"), [("once", True), ("reject", False)])
async def test_a_person_is_asked_once_about_the_code_of_a_folder(
    choice: Choice, is_allowed: bool, tmp_path: Path
) -> None:
    person = AskedPerson(choice)
    gate = PermissionGate(replace(policy(tmp_path), mode="trust"), person=person)
    permission = CheckPermission(lambda: gate)
    shown = {"program": "/usr/bin/python3", "folder": str(tmp_path)}
    log = SessionStore().create(is_saved=False)
    turn = Turn(log, 1)
    token = current_turn.set(turn)
    try:
        problems = [
            await permission.find_problem(
                Action(SUITE_TOOL, "execute", shown, argv=("pytest", file), untrusted=tmp_path), "the tests"
            )
            for file in ("test_a.py", "test_b.py")
        ]
    finally:
        current_turn.reset(token)
        log.close()
    assert [problem == "" for problem in problems] == [is_allowed] * 2
    [question] = person.questions
    assert (dict(question.action.input), question.suggestions) == (shown, ())
    assert str(tmp_path) in question.reason


async def test_tests_without_a_closed_sandbox_are_a_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verifier_module, "machine_sandbox", lambda: SandboxChoice(OpenLandlock()))
    outcome = await run_tests(tmp_path, trusted=True)
    assert outcome is not None
    assert (outcome.status, "the permission mode ask asks" in outcome.reason) == ("skipped", True)
    monkeypatch.setattr(verifier_module, "machine_sandbox", lambda: choose_sandbox([]))
    outcome = await run_tests(tmp_path, trusted=True)
    assert outcome is not None
    assert (outcome.status, "tests run only in a sandbox" in outcome.reason) == ("skipped", True)


async def test_a_hook_can_deny_tests_that_the_mode_allows(closed_sandbox: None, tmp_path: Path) -> None:
    outcome = await run_tests(tmp_path, trusted=True, hook=CountingHook("deny"))
    assert outcome is not None
    assert (outcome.status, "may not run" in outcome.reason) == ("skipped", True)


async def test_mere_reading_runs_no_hook_for_a_list_of_fixes(tmp_path: Path) -> None:
    hook = CountingHook("deny")
    gate = PermissionGate(policy(tmp_path), hooks=Hooks([Hook("preToolUse", function=hook)]))
    assert await CheckPermission(lambda: gate).find_problem(LINT, "the linter") == ""
    assert await CheckPermission(lambda: gate).find_problem(Action(SUITE_TOOL, "execute", argv=("x",)), "it") != ""
    assert hook.tools == [SUITE_TOOL]
