"""The results of checks that an editor shows for one version of a document."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, repeat
from typing import Literal

from lsp_harness.text.position import Span
from lsp_harness.verify.finding import Finding, Outcome

Cause = Literal["accepted", "saved", "agent", "opened"]
"""Why a document is verified: the user accepted a suggestion or a proposal, saved the document or opened it, or an
agent changed its file."""


@dataclass(frozen=True, slots=True)
class PublishedFindings:
    """The results of the checks of an edit that the user accepted or saved, or that an agent wrote to the file.

    Attributes:
        version: The version of the document that they are about.
        outcomes: The checks that have ended. Without a failed one, the findings of earlier versions are gone.
        accepted: The text that the user or an agent changed, in this version.
        verdict: The name of the document that lists the checks (see `verdict_document`).
        cause: Why the document was verified.
        is_complete: Whether all checks have ended.
        outdated_by: The name of a file that changed after the checks, so that they might say something else now. Empty
            while they are about the files as they are.
    """

    version: int
    outcomes: Sequence[Outcome] = ()
    accepted: Span | None = None
    verdict: str = ""
    cause: Cause = "accepted"
    is_complete: bool = False
    outdated_by: str = ""

    @property
    def findings(self) -> tuple[Finding, ...]:
        """The findings of all checks."""
        return tuple(finding for _, finding, _ in self.by_check())

    def by_check(self) -> Iterator[tuple[str, Finding, str]]:
        """Yield the name of a check, one of its findings, and the line about it that prompts and the log have, too."""
        for outcome in self.outcomes:
            if outcome.status == "failed":
                lines = chain(outcome.lines, repeat(""))
                yield from ((outcome.check, *pair) for pair in zip(outcome.findings, lines, strict=False))
