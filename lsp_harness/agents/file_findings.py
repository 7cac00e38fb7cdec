"""The findings of a review by file: a review of several files is one verdict, and its findings have no file."""

from collections.abc import AsyncGenerator
from pathlib import Path

from lsp_harness.agents.change_review import Review
from lsp_harness.files.folders import resolve_links
from lsp_harness.harness.services import Services
from lsp_harness.harness.verification.verdict_document import document_name
from lsp_harness.text.document import Document
from lsp_harness.text.edit import common_prefix_and_suffix
from lsp_harness.text.position import Span
from lsp_harness.verify.change import Change, ChangeSet
from lsp_harness.verify.check import CheckContext, run_checks
from lsp_harness.verify.finding import Outcome
from lsp_harness.verify.published_findings import FileFindings, PublishedFindings


async def find_in_files(services: Services, review: Review) -> AsyncGenerator[FileFindings]:
    """Yield the findings of a review about each file that was changed, also if there are none.

    The findings of a check belong to the first file. For the others, the checks that are not slow run once more, on
    each of them alone. So a failing test is shown in the first file only.

    Args:
        services: The shared parts of the harness.
        review: The review. The files on disk have the texts that were checked.
    """
    failed = tuple(outcome for outcome in review.verdict.outcomes if outcome.status == "failed")
    for number, change in enumerate(review.changes or ()):
        outcomes = failed
        if failed and number:
            checks = services.verifier.create_checks(
                services.config.verification, CheckContext(services.verifier.tools)
            )
            quick_checks = [check for check in checks if not check.is_slow]
            outcomes = (await run_checks(ChangeSet.of(change), quick_checks)).outcomes
        yield _describe(services, review, change, outcomes)


def _describe(services: Services, review: Review, change: Change, outcomes: tuple[Outcome, ...]) -> FileFindings:
    start, same = common_prefix_and_suffix(change.before.data, change.after.data)
    published = PublishedFindings(
        0,
        outcomes,
        Span(start, len(change.after.data) - same),
        document_name(services.session.log, review.turn),
        "agent",
        is_complete=True,
    )
    file = resolve_links(change.file)
    text = Document.from_text(_make_uri(services, file), change.after.data, language=change.after.language)
    return FileFindings(file, text, published)


def _make_uri(services: Services, file: Path) -> str:
    """Return the URI of a file, in the spelling of the workspace folders of the client."""
    for root in services.workspace.roots:
        resolved = resolve_links(root)
        if file.is_relative_to(resolved):
            return (root / file.relative_to(resolved)).as_uri()
    return file.as_uri()
