"""One check of the change of one document."""

from dataclasses import replace
from pathlib import Path

from lsp_harness.text.document import Document
from lsp_harness.verify.change import Change, ChangeSet
from lsp_harness.verify.check import Check, run_check
from lsp_harness.verify.finding import Finding, Outcome
from lsp_harness.verify.finding_subject import find_subject
from lsp_harness.verify.preservation.preservation_check import PreservationCheck


async def check_change(check: Check, change: Change) -> Outcome:
    """Return the outcome of one check for one change."""
    return await run_check(check, ChangeSet.of(change))


async def judge_repair(file: Path, language: str, before: str, after: str, finding: Finding) -> Outcome:
    """Return whether the repair of a finding keeps the code that the finding is not about."""
    old, new = (Document.from_text(file.as_uri(), text, language=language) for text in (before, after))
    change = replace(Change.from_documents(old, new, file), author="repair")
    return await check_change(PreservationCheck(find_subject(finding, old)), change)
