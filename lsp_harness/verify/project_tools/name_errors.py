"""Errors about names, attributes, arguments and imports, by a type checker that runs all the time.

They are looked for wherever such a checker is on the machine, whether the project uses types or not: the code fails
when it runs. What the checker says about values and annotations does not count here.
"""

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from lsp_harness.errors import HarnessError
from lsp_harness.languages.language_table import find_language, find_language_of_file
from lsp_harness.text.document import Document
from lsp_harness.verify.change import Change, ChangeSet
from lsp_harness.verify.finding import Finding
from lsp_harness.verify.finding_identity import find_new_findings, had_syntax_error
from lsp_harness.verify.finding_subject import find_names
from lsp_harness.verify.project_tools.new_findings import Comparison, NewFinding, NothingComparedError
from lsp_harness.verify.project_tools.tool_comparison import ToolAccess
from lsp_harness.verify.project_tools.type_comparison import require_inclusion, require_reading
from lsp_harness.verify.types.checker_pool import CheckerPool
from lsp_harness.verify.types.checker_session import CheckerSession
from lsp_harness.verify.types.type_gate import is_too_large

ENVIRONMENT = "environment"
"""The condition of rules that say nothing where the checker does not know the environment of the project."""
READY_LIMIT_S = 8.0
"""How long a question about names waits for the start of a checker. It goes on starting, for the next question."""


@dataclass(frozen=True, slots=True)
class NameErrors:
    """Finds the errors about names in texts.

    Attributes:
        pool: The checkers that run all the time. They see the texts, and nothing is written to disk.
        access: Says whether a checker may run.
    """

    pool: CheckerPool
    access: ToolAccess

    async def find(self, document: Document, file: Path, root: Path | None) -> tuple[Finding, ...]:
        """Return the errors about names in a text, without those that an incomplete environment explains.

        Raises:
            NothingComparedError: No checker can say anything about the text.
        """
        document = _name_language(document, file)
        session = await self._open(document, file, root)
        rules = session.checker.counting_rules
        found = await _ask(session, document)
        return tuple(finding for finding in found if rules[finding.code] != ENVIRONMENT)

    async def compare(self, changes: ChangeSet) -> Comparison:
        """Return the errors about names that a proposal adds.

        Raises:
            NothingComparedError: No checker can say anything about any of the changed texts.
        """
        found: list[NewFinding] = []
        refusals: list[NothingComparedError] = []
        for change in changes:
            try:
                old, new = _name_language(change.before, change.file), _name_language(change.after, change.file)
                session = await self._open(max(old, new, key=lambda text: len(text.data)), change.file, change.root)
                before = await _ask(session, old, [_name_language(other.before, other.file) for other in changes])
                after = await _ask(session, new, [_name_language(other.after, other.file) for other in changes])
                if not (before or after):
                    await _require_being_read(session, ChangeSet.of(replace(change, before=old, after=new)))
                found += [NewFinding(change, finding) for finding in _find_new(session, change, before, after)]
            except NothingComparedError as error:
                refusals.append(error)
        reasons = tuple(dict.fromkeys(str(refusal) for refusal in refusals))
        if len(refusals) == len(changes.changes):
            is_temporary = any(refusal.is_temporary for refusal in refusals)
            raise NothingComparedError("; ".join(reasons), is_temporary=is_temporary)
        return Comparison(tuple(found), reasons)

    async def _open(self, document: Document, file: Path, root: Path | None) -> CheckerSession:
        """Return the checker for a text, which is ready. Raises NothingComparedError."""
        name = find_language(document.language).type_checker
        session = self.pool.find(name, root, file) if root and name else None
        if not name:
            raise NothingComparedError(f"no type checker is known for {file.suffix or 'this text'}")
        if session is None:
            raise NothingComparedError("the file is in no workspace folder" if root is None else f"no checker {name}")
        if is_too_large(document):
            raise NothingComparedError("the text is too large for a type checker")
        checker = session.checker
        if root and await asyncio.to_thread(checker.find_program, root, file, session.environment) is None:
            # nobody is asked for a permission that is not needed
            raise NothingComparedError(f"{name} is not installed ({checker.install_hint})")
        # not even the sandbox is tried on a folder in which nothing may run
        confinement = await asyncio.to_thread(session.find_confinement) if self.access.is_trusted else None
        if objection := await self.access.find_objection((name, "server"), confinement):
            raise NothingComparedError(objection)
        try:
            is_ready = await session.wait_until_ready(document, READY_LIMIT_S)
        except TimeoutError as error:
            reason = f"{name} was not ready within {READY_LIMIT_S:.0f} s"
            raise NothingComparedError(reason, is_temporary=True) from error
        except HarnessError as error:
            raise NothingComparedError(error.message, is_temporary=True) from error
        if not is_ready:
            raise NothingComparedError(session.reason or f"{name} did not start")
        return session


def _name_language(document: Document, file: Path) -> Document:
    """Return a text with the name of its language, which a command does not know. A checker ignores other texts."""
    spec = None if document.language else find_language_of_file(file.name)
    return replace(document, language=spec.id) if spec else document


async def _ask(session: CheckerSession, document: Document, others: Sequence[Document] = ()) -> tuple[Finding, ...]:
    """Return the findings of rules about names in a text. Raises NothingComparedError."""
    try:
        found = await session.find_findings(document, others, is_patient=True)
    except TimeoutError as error:
        raise NothingComparedError(f"{session.checker.name} did not answer in time", is_temporary=True) from error
    except HarnessError as error:
        raise NothingComparedError(error.message, is_temporary=True) from error
    return tuple(finding for finding in found if finding.code in session.checker.counting_rules)


async def _require_being_read(session: CheckerSession, changes: ChangeSet) -> None:
    """Raise NothingComparedError if the settings of the project leave a file out, so that no error is no answer."""
    try:
        await require_inclusion(session, changes)
        await require_reading(session, changes)
    except TimeoutError as error:
        raise NothingComparedError(f"{session.checker.name} did not answer in time", is_temporary=True) from error
    except HarnessError as error:
        raise NothingComparedError(error.message, is_temporary=True) from error


def _find_new(
    session: CheckerSession, change: Change, before: Iterable[Finding], after: Iterable[Finding]
) -> list[Finding]:
    """Return the errors that a change adds.

    A member that the checker did not know before is no error of the change, because a plug-in may define it. Nor is
    what the repair of a name elsewhere brings to light.
    """
    old, rules = list(before), session.checker.counting_rules
    unknown = {finding.code for finding in old if rules[finding.code] == ENVIRONMENT}
    known = {(finding.code, find_names(finding.message)) for finding in old}
    rest = [finding for finding in after if finding.code not in unknown]
    new = find_new_findings(change, old, rest, was_broken=had_syntax_error(change))
    new = tuple(finding for finding in new if (finding.code, find_names(finding.message)) not in known)
    if change.author == "repair":
        return [finding for finding in new if change.touches(finding.start, finding.end)]
    return list(new)
