"""The checks of a workspace, and the programs that they use, with the linter behind the permission gate."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from lsp_harness.config.schema import Verification
from lsp_harness.harness.verification.edit_permission import CheckPermission
from lsp_harness.index.query.related_tests import AffectedTest
from lsp_harness.permission.action import LINT_TOOL, SUITE_TOOL, Action
from lsp_harness.process.sandbox.sandbox import Confinement
from lsp_harness.process.sandbox.sandbox_choice import machine_sandbox
from lsp_harness.text.document import Document
from lsp_harness.verify.check import Check, CheckContext, CheckTools
from lsp_harness.verify.checks import list_checks
from lsp_harness.verify.finding import Finding
from lsp_harness.verify.project_tests.comparison import ProjectAccess, SuiteComparison
from lsp_harness.verify.project_tools.changed_line_format import ChangedLineFormat
from lsp_harness.verify.project_tools.name_errors import NameErrors
from lsp_harness.verify.project_tools.tool_comparison import ToolAccess, ToolComparison
from lsp_harness.verify.project_tools.type_comparison import TypeComparison
from lsp_harness.verify.project_tools.warm_ruff import WarmRuff
from lsp_harness.verify.reviewer import Reviewer
from lsp_harness.verify.ruff_linter import Ruff, RuffFailed, RuffReport
from lsp_harness.verify.types.checker_pool import CheckerPool
from lsp_harness.workspace.folder_stamps import ChangedFile

LINT = Action(LINT_TOOL, "execute", argv=("ruff", "check", "--no-cache", "-"))
"""The action of linting: ruff reads a text from its standard input, and writes nothing."""


class GatedRuff(Ruff):
    """A linter that runs only if the permission gate allows it.

    Args:
        linter: The linter.
        permission: Asks the permission gate.
    """

    def __init__(self, linter: Ruff, permission: CheckPermission) -> None:
        super().__init__()
        self._linter, self._permission = linter, permission

    @property
    def missing_reason(self) -> str:
        return self._linter.missing_reason

    async def check(
        self, document: Document, file: Path, root: Path | None, *, select: str = "", isolated: bool = False
    ) -> tuple[RuffReport, ...]:
        if not self.missing_reason and (problem := await self._permission.find_problem(LINT, "the linter")):
            raise RuffFailed(problem)
        return await self._linter.check(document, file, root, select=select, isolated=isolated)

    def forget_answers(self) -> None:
        self._linter.forget_answers()

    async def find_findings(self, document: Document, file: Path, root: Path | None) -> tuple[Finding, ...]:
        if not self.missing_reason and (problem := await self._permission.find_problem(LINT, "the linter")):
            raise RuffFailed(problem)
        return await self._linter.find_findings(document, file, root)

    async def name_by_code(self, findings: Sequence[Finding]) -> tuple[Finding, ...]:
        if self.missing_reason or await self._permission.find_problem(LINT, "the linter"):
            return tuple(findings)
        return await self._linter.name_by_code(findings)


MAX_SINGLE_FILES = 50
"""Most changed files that programs are told of one by one."""
CheckFactory = Callable[[Verification, CheckContext], list[Check]]
"""Returns the checks that the settings enable for an edit, from cheap to expensive."""
FindAffected = Callable[[Path, str], Awaitable[Sequence[AffectedTest]]]
"""Returns the test files that a change of a file can break. It gets the folder and the path in it."""

FindUsers = Callable[[Path, str], Awaitable[Sequence[str]]]
"""Returns the files that import a file, the nearest first. It gets the folder and the path in it."""


class UntrustedRuff(Ruff):
    """The linter of a workspace that the user does not trust.

    It never runs, because its settings are the workspace's.
    """

    @property
    def missing_reason(self) -> str:
        return "this workspace is not trusted, so no linter runs on it"


async def _refuse_untrusted(command: Sequence[str], confinement: Confinement | None) -> str:
    """Return why no type checker runs on a workspace that the user does not trust."""
    del command, confinement
    return "this workspace is not trusted, so no type checker runs on it"


@dataclass(frozen=True, slots=True)
class Verifier:
    """The checks that verify the edits of one client.

    Attributes:
        tools: The programs that the checks use.
        create_checks: Creates the checks for one edit, also those that the verdict lists because they do not run.
    """

    tools: CheckTools
    create_checks: CheckFactory = list_checks

    @property
    def linter(self) -> Ruff:
        """The linter."""
        return self.tools.ruff

    def record_file_changes(self, changes: Sequence[ChangedFile]) -> None:
        """Forget what programs said about the folders in which files were created, changed or deleted."""
        self.linter.forget_answers()
        files = {change.path if change.scope == "file" else None for change in changes}
        for file in files if None not in files and len(files) <= MAX_SINGLE_FILES else (None,):
            self.record_file_change(file)

    def record_file_change(self, file: Path | None) -> None:
        """Forget what programs said about the files of the project, because one of them changed.

        Args:
            file: The file, or None if it may be any.
        """
        for tools in (self.tools.linters, self.tools.format):
            if tools:
                tools.record_file_change()
        if self.tools.suites:
            self.tools.suites.record_file_change(file)

    async def aclose(self) -> None:
        """End the programs that still run, and remove what programs have written for the checks."""
        if self.tools.suites:
            await self.tools.suites.aclose()
        for tools in (self.tools.linters, self.tools.format):
            if tools:
                await tools.aclose()


@dataclass(frozen=True, slots=True)
class CheckSupply:
    """The supply of the checks of a workspace that the user trusts: permissions, programs and the model.

    Attributes:
        permission: Asks the permission gate before a program runs.
        find_affected: Finds the tests for a changed file.
        checkers: The checkers that run all the time.
        trusts_folder: Returns whether the user trusts a folder, by an editor or by the settings. Otherwise a person is
            asked before a program of the folder runs.
        reviewer: Asks the model for its opinion. None if there is no model.
        is_lasting: Whether the client stays, so that a server for the linter is worth its start.
        find_users: Finds the files that import a changed file. None if they are not known.
    """

    permission: CheckPermission
    find_affected: FindAffected
    checkers: CheckerPool
    trusts_folder: Callable[[Path], bool]
    reviewer: Reviewer | None = None
    is_lasting: bool = True
    find_users: FindUsers | None = None


def create_verifier(supply: CheckSupply, *, is_trusted: bool) -> Verifier:
    """Return the checks that the trust of the user allows. No program runs on a workspace that is not trusted.

    Args:
        supply: The permissions, programs and the model of the checks.
        is_trusted: Whether the user trusts the workspace.
    """
    if not is_trusted:
        access = ToolAccess(_refuse_untrusted, machine_sandbox, is_trusted=False)
        names = NameErrors(supply.checkers, access)
        return Verifier(CheckTools(UntrustedRuff(), reviewer=supply.reviewer, names=names))

    def describe(
        tool: str, command: Sequence[str], confinement: Confinement | None, facts: Mapping[str, str] | None = None
    ) -> Action:
        argv, shown = tuple(command), dict(facts or {})
        if confinement is None:
            return Action(tool, "execute", shown, argv=argv)
        folder = confinement.folder
        if supply.trusts_folder(folder):
            return Action(tool, "execute", shown, argv=argv, confinement=confinement)
        if not confinement.program:
            # one of our own programs, which runs nothing of the folder
            return Action(tool, "execute", shown, argv=argv)
        about = {"program": confinement.program, "folder": str(folder), "sandbox": confinement.sandbox.name}
        return Action(tool, "execute", {**about, **shown}, argv=argv, untrusted=folder)

    async def find_test_objection(
        command: Sequence[str], confinement: Confinement | None, facts: Mapping[str, str]
    ) -> str:
        return await supply.permission.find_problem(describe(SUITE_TOOL, command, confinement, facts), "the tests")

    async def find_tool_objection(command: Sequence[str], confinement: Confinement | None) -> str:
        action = describe(LINT_TOOL, command, confinement)
        return await supply.permission.find_problem(action, Path(command[0]).name)

    ruff = WarmRuff(supply.checkers) if supply.is_lasting else Ruff()
    access = ToolAccess(find_tool_objection, machine_sandbox, supply.checkers.read_python, supply.find_users)
    tools = ToolComparison(access)
    return Verifier(
        CheckTools(
            GatedRuff(ruff, supply.permission),
            SuiteComparison(
                ProjectAccess(supply.find_affected, find_test_objection, machine_sandbox, supply.checkers.read_python)
            ),
            tools,
            TypeComparison(supply.checkers, tools),
            supply.reviewer,
            NameErrors(supply.checkers, tools.access),
            ChangedLineFormat(access),
        )
    )
