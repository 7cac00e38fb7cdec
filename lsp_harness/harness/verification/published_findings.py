"""The findings that an editor shows for one version of a document."""

from collections.abc import Sequence
from dataclasses import dataclass

from lsp_harness.text.position import Span
from lsp_harness.verify.finding import Finding


@dataclass(frozen=True, slots=True)
class PublishedFindings:
    """Findings about an edit that the user accepted.

    Attributes:
        version: The version of the document that they are about.
        findings: The findings. None remove those of earlier versions.
        accepted: The text that the user accepted, in this version.
        verdict: The name of the document that lists the checks (see `verdict_document`).
    """

    version: int
    findings: Sequence[Finding] = ()
    accepted: Span | None = None
    verdict: str = ""
