"""Compares the type errors of a project before and after a proposal, by the checker that the project uses."""

import asyncio
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from lsp_harness.disk.file_reading import read_file
from lsp_harness.errors import FileError, HarnessError
from lsp_harness.languages.language_table import find_language, find_language_of_file
from lsp_harness.text.document import Document
from lsp_harness.text.uri import local_path
from lsp_harness.verify.change import Change, ChangeSet
from lsp_harness.verify.finding_identity import find_new_findings, had_syntax_error
from lsp_harness.verify.project_tools.new_findings import (
    Comparison,
    FileLeftOutError,
    NewFinding,
    NothingComparedError,
    join_comparisons,
)
from lsp_harness.verify.project_tools.project_tool import ProjectTool
from lsp_harness.verify.project_tools.tool_comparison import ToolComparison
from lsp_harness.verify.project_tools.tools import find_configured_tool
from lsp_harness.verify.types.checker_pool import CheckerPool
from lsp_harness.verify.types.checker_session import CheckerSession
from lsp_harness.verify.types.checkers import TYPE_CHECKERS
from lsp_harness.verify.types.project_settings import find_configured_folder
from lsp_harness.verify.types.type_gate import MAX_TEXT_BYTES, is_too_large

CHECK = "types"
MAX_USERS = 20
"""Number of files that use the changed ones and that a checker looks at, too, which runs all the time."""


@dataclass(frozen=True, slots=True)
class CheckerChoice:
    """The type checker for a file.

    Attributes:
        name: The name of the type checker.
        reason: Where the project says that it uses it. Empty if it is only the usual one for the language.
        tool: The checker if it reads files. None if it runs all the time.
        folder: The folder whose files configure it, or None.
    """

    name: str
    reason: str = ""
    tool: ProjectTool | None = None
    folder: Path | None = None


def choose_checker(root: Path, file: Path, language: str = "") -> CheckerChoice | None:
    """Return the first of the type checkers for a file, or None. The arguments are those of `list_checkers`."""
    return next(iter(list_checkers(root, file, language)), None)


def list_checkers(root: Path, file: Path, language: str = "") -> list[CheckerChoice]:
    """Return the type checkers for a file: those that the project configures, or else the usual one, or none.

    The one that the nearest folder configures comes first, and then the fastest: one that runs all the time comes
    before one that reads files.

    Args:
        root: The folder of the project.
        file: The file.
        language: The language, as the editor names it. It may be empty.
    """
    spec = find_language_of_file(file.name)
    usual = find_language(language).type_checker or (spec.type_checker if spec else "")
    found: list[CheckerChoice] = []
    for checker in TYPE_CHECKERS if usual else ():
        if usual in (checker.name, checker.stands_for) and (reason := checker.find_configuration(root, file)):
            folder = find_configured_folder(root, file, checker.configures) or root
            found.append(CheckerChoice(checker.name, reason, folder=folder))
    if tool := find_configured_tool(CHECK, root, file):
        reason, folder = tool.find_configuration(root, file), tool.find_folder(root, file)
        found.append(CheckerChoice(tool.name, reason, tool, folder))
    found.sort(key=lambda choice: -len((choice.folder or root).parts))
    return found or ([CheckerChoice(usual)] if usual else [])


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
        return choice is not None and bool(choice.reason or self._pool.is_warm(choice.name, main.root, main.file))

    async def compare(self, changes: ChangeSet) -> Comparison:
        """Return the new errors in the changed texts, and by checkers that read files also those elsewhere.

        Raises:
            NothingComparedError: There is no checker, or it cannot say anything about the proposal.
        """
        groups = self._group(changes)
        return await join_comparisons(
            [partial(self._compare_by_first, choice, ChangeSet(tuple(some))) for choice, some in groups]
        )

    def _group(self, changes: ChangeSet) -> list[tuple[CheckerChoice | None, Sequence[Change]]]:
        """Return the changes by the checker and project of their files. The group of the main change comes first."""
        groups: dict[tuple[str, Path | None], tuple[CheckerChoice | None, list[Change]]] = {}
        for change in changes:
            root, choice = change.root, None
            if root:
                choice = choose_checker(root, change.file, change.before.language)
            session = self._pool.find(choice.name, root, change.file) if root and choice and not choice.tool else None
            folder = session.folder if session else choice and choice.folder
            groups.setdefault((choice.name if choice else "", folder), (choice, []))[1].append(change)
        return [*groups.values()]

    async def _compare_by_first(self, choice: CheckerChoice | None, changes: ChangeSet) -> list[NewFinding]:
        """Compare by a checker, or by the next one that the same folder configures if it leaves the files out."""
        main = changes.main
        listed = list_checkers(main.root, main.file, main.before.language) if main.root else []
        others = [other for other in listed[1:] if choice and other.folder == choice.folder]
        reasons: list[str] = []
        for checker in (choice, *others):
            try:
                return await self._compare_group(checker, changes)
            except FileLeftOutError as error:
                reasons.append(str(error))
        raise FileLeftOutError("; ".join(reasons))

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
        session = self._pool.find(choice.name, main.root, main.file)
        if session is None:
            raise NothingComparedError(f"{choice.name} is not among the checkers")
        exclusions = [session.checker.find_exclusion(session.folder, change.file) for change in changes]
        if all(exclusions):
            raise FileLeftOutError("; ".join(dict.fromkeys(exclusions)))
        confinement = await asyncio.to_thread(session.find_confinement)
        # the command of the conversation, whose arguments are the checker's own business
        if objection := await self._tools.access.find_objection((choice.name,), confinement):
            raise NothingComparedError(objection)
        try:
            users = await self._read_users(session, changes)
            return await _ask(session, changes, users)
        except TimeoutError as error:
            raise NothingComparedError(f"{choice.name} did not answer in time", is_temporary=True) from error
        except HarnessError as error:
            raise NothingComparedError(error.message, is_temporary=True) from error

    async def _read_users(self, session: CheckerSession, changes: ChangeSet) -> list[Document]:
        """Return the texts of the files that use the changed ones. An error of an edit may be in one of them."""
        main = changes.main
        checker, folder = session.checker, session.folder

        def reads(file: Path) -> bool:
            spec = find_language_of_file(file.name)
            return spec is not None and spec.type_checker in (checker.name, checker.stands_for)

        files = await self._tools.access.list_users(changes, reads, folder, MAX_USERS)
        included = [file for file in files if not checker.find_exclusion(folder, file)]
        return await asyncio.to_thread(lambda: [*_read_documents(included, main.before)])


def _read_documents(files: Iterable[Path], main: Document) -> Iterator[Document]:
    own = local_path(main.uri)
    for file in files:
        spec = find_language_of_file(file.name)
        is_same = own is not None and own.suffix == file.suffix
        language = main.language if is_same or spec is None else next(iter(spec.lsp_ids), spec.id)
        # a file that was removed meanwhile has no errors
        with suppress(FileError):
            yield Document.from_text(file.as_uri(), read_file(file, MAX_TEXT_BYTES), language=language)


async def _ask(session: CheckerSession, changes: ChangeSet, users: Sequence[Document]) -> list[NewFinding]:
    if not await session.wait_until_ready(changes.main.before):
        raise NothingComparedError(session.reason or f"{session.checker.name} did not start")
    await require_inclusion(session, changes)
    texts_before = [change.before for change in changes]
    texts_after = [change.after for change in changes]
    # first all texts before and then all texts after, so that each text is sent once
    before = [await session.find_findings(text, texts_before, is_patient=True) for text in texts_before]
    users_before = [await session.find_findings(text, texts_before, is_patient=True) for text in users]
    after = [await session.find_findings(text, texts_after, is_patient=True) for text in texts_after]
    users_after = [await session.find_findings(text, texts_after, is_patient=True) for text in users]
    if not any((*before, *after)):
        await require_reading(session, changes)
    found: list[NewFinding] = []
    for change, old, all_new in zip(changes, before, after, strict=True):
        rules, old_codes = session.checker.counting_rules, {finding.code for finding in old}
        # where a package is missing already, the checker does not know the environment of the project
        unknown = {code for code in old_codes if rules.get(code) == "environment"}
        errors = [finding for finding in all_new if finding.severity == "error" and finding.code not in unknown]
        new = find_new_findings(change, old, errors, was_broken=had_syntax_error(change))
        found += [NewFinding(change, finding) for finding in new]
    for text, old, all_new in zip(users, users_before, users_after, strict=True):
        known = Counter((finding.code, finding.message) for finding in old)
        for finding in all_new:
            if finding.severity != "error" or known[finding.code, finding.message] > 0:
                known[finding.code, finding.message] -= 1
                continue
            start, name = changes.main.start, _display(session.folder, text)
            place = f"{name}:{text.line_of(finding.start) + 1}"
            message = f"{place}: {finding.message}"
            moved = replace(finding, start=start, end=start, message=message)
            found.append(NewFinding(changes.main, moved, is_elsewhere=True))
    return found


async def require_inclusion(session: CheckerSession, changes: ChangeSet) -> None:
    """Raise NothingComparedError if the checker says that the settings of the project leave all files out."""
    reasons: list[str] = []
    for change in changes:
        configuration = session.checker.find_configuration(change.root, change.file) if change.root else ""
        is_known = bool(configuration) and change.file.suffix in session.checker.included_suffixes
        if not is_known or not await session.leaves_out(change.before):
            return
        reasons.append(f"{configuration} excludes {_display(session.folder, change.before)}")
    raise FileLeftOutError("; ".join(reasons))


async def require_reading(session: CheckerSession, changes: ChangeSet) -> None:
    """Raise NothingComparedError if a checker that finds nothing leaves the files out.

    It does if it finds no error in a text that has several.
    """
    if not session.checker.canary:
        return
    for change in changes:
        text = Document.from_text(change.before.uri, session.checker.canary, language=change.before.language)
        if await session.find_findings(text, (), is_patient=True):
            return
    name = _display(session.folder, changes.main.before)
    reason = f"{session.checker.name}'s configuration excludes {name}, or ignores all rules there"
    raise FileLeftOutError(reason)


def _display(folder: Path, document: Document) -> str:
    path = local_path(document.uri)
    if path is None:
        return document.uri
    return path.relative_to(folder).as_posix() if path.is_relative_to(folder) else path.name
