"""Compares the type errors of a project before and after a proposal, by the checker that the project uses."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from lsp_harness.errors import HarnessError
from lsp_harness.languages.language_table import find_language, find_language_of_file
from lsp_harness.verify.change import Change
from lsp_harness.verify.change_set import ChangeSet
from lsp_harness.verify.finding_identity import find_new_findings, had_syntax_error
from lsp_harness.verify.project_tools.new_findings import Comparison, NewFinding, NothingComparedError, join_comparisons
from lsp_harness.verify.project_tools.project_tool import ProjectTool
from lsp_harness.verify.project_tools.project_tool_registry import find_configured_tool
from lsp_harness.verify.project_tools.tool_comparison import ToolComparison
from lsp_harness.verify.types.checker_pool import CheckerPool
from lsp_harness.verify.types.checker_registry import TYPE_CHECKERS
from lsp_harness.verify.types.checker_session import CheckerSession
from lsp_harness.verify.types.type_gate import is_too_large

CHECK = "types"


@dataclass(frozen=True, slots=True)
class CheckerChoice:
    """The type checker for a file.

    Attributes:
        name: Its name.
        reason: Where the project says that it uses it. Empty if it is only the usual one for the language.
        tool: The checker if it reads files. None if it runs all the time.
    """

    name: str
    reason: str = ""
    tool: ProjectTool | None = None


def choose_checker(root: Path, file: Path, language: str = "") -> CheckerChoice | None:
    """Return the type checker for a file: the one that the project configures, or the usual one, or None.

    Of several, the fastest is chosen: one that runs all the time comes before one that reads files.

    Args:
        root: The folder of the project.
        file: The file.
        language: The language, as the editor names it. It may be empty.
    """
    spec = find_language_of_file(file.name)
    usual = find_language(language).type_checker or (spec.type_checker if spec else "")
    for checker in TYPE_CHECKERS if usual else ():
        if usual in (checker.name, checker.stands_for) and (reason := checker.find_configuration(root, file)):
            return CheckerChoice(checker.name, reason)
    if tool := find_configured_tool(CHECK, root, file):
        return CheckerChoice(tool.name, tool.find_configuration(root, file), tool)
    return CheckerChoice(usual) if usual else None


class TypeComparison:
    """Finds type errors that a proposal adds.

    Args:
        pool: The checkers that run all the time. They see the texts, and nothing is written to disk.
        tools: The checkers that read files.
    """

    def __init__(self, pool: CheckerPool, tools: ToolComparison) -> None:
        self._pool = pool
        self._tools = tools

    def is_in_use(self, changes: ChangeSet) -> bool:
        """Return whether the project uses types: it configures a checker for the main document, or one is running."""
        main = changes.main
        if main.root is None:
            return False
        choice = choose_checker(main.root, main.file, main.before.language)
        return choice is not None and bool(choice.reason or self._pool.is_warm(choice.name, main.root))

    async def compare(self, changes: ChangeSet) -> Comparison:
        """Return the new errors in the changed texts, and by checkers that read files also those elsewhere.

        Raises:
            NothingComparedError: There is no checker, or it cannot say anything about the proposal.
        """
        groups = await asyncio.to_thread(_group, changes)
        return await join_comparisons(
            [partial(self._compare_group, choice, ChangeSet(tuple(some))) for choice, some in groups]
        )

    async def _compare_group(self, choice: CheckerChoice | None, changes: ChangeSet) -> list[NewFinding]:
        main = changes.main
        if main.root is None:
            raise NothingComparedError("the file is in no workspace folder")
        if choice is None:
            raise NothingComparedError(f"no type checker is known for {main.file.suffix or 'this text'}")
        if any(is_too_large(text) for change in changes for text in (change.before, change.after)):
            raise NothingComparedError("the text is too large for a type checker")
        if choice.tool:
            return await self._tools.compare(choice.tool, changes, "error")
        session = self._pool.find(choice.name, main.root)
        if session is None:
            raise NothingComparedError(f"{choice.name} is not among the checkers")
        confinement = await asyncio.to_thread(session.find_confinement)
        # the command of the conversation, whose arguments are the checker's own business
        if objection := await self._tools.access.find_objection((choice.name,), confinement):
            raise NothingComparedError(objection)
        try:
            return await _ask(session, changes)
        except TimeoutError as error:
            raise NothingComparedError(f"{choice.name} did not answer in time", is_temporary=True) from error
        except HarnessError as error:
            raise NothingComparedError(error.message, is_temporary=True) from error


async def _ask(session: CheckerSession, changes: ChangeSet) -> list[NewFinding]:
    if not await session.wait_until_ready(changes.main.before):
        raise NothingComparedError(session.reason or f"{session.checker.name} did not start")
    texts_before = [change.before for change in changes]
    texts_after = [change.after for change in changes]
    # first all texts before and then all texts after, so that each text is sent once
    before = [await session.find_findings(text, texts_before, is_patient=True) for text in texts_before]
    after = [await session.find_findings(text, texts_after, is_patient=True) for text in texts_after]
    found: list[NewFinding] = []
    for change, old, all_new in zip(changes, before, after, strict=True):
        rules, old_codes = session.checker.counting_rules, {finding.code for finding in old}
        # where a package is missing already, the checker does not know the environment of the project
        unknown = {code for code in old_codes if rules.get(code) == "environment"}
        errors = [finding for finding in all_new if finding.severity == "error" and finding.code not in unknown]
        new = find_new_findings(change, old, errors, was_broken=had_syntax_error(change))
        found += [NewFinding(change, finding) for finding in new]
    return found


def _group(changes: ChangeSet) -> list[tuple[CheckerChoice | None, Sequence[Change]]]:
    """Return the changes by the checker of their files. The group of the main change comes first."""
    groups: dict[str, tuple[CheckerChoice | None, list[Change]]] = {}
    for change in changes:
        choice = choose_checker(change.root, change.file, change.before.language) if change.root else None
        groups.setdefault(choice.name if choice else "", (choice, []))[1].append(change)
    return [*groups.values()]
