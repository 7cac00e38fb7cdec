"""What is held against one version of a document, and where to read how that was found out."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from lsp_harness.text.position import Span
from lsp_harness.verify.finding import Finding


@dataclass(frozen=True, slots=True)
class Held:
    """`taken` is the text the user took, in this version; `verdict` names the document that tells of the checks."""

    version: int
    findings: Sequence[Finding] = ()
    taken: Span | None = None
    verdict: str = ""


Published = Callable[[str, Held], None]
"""Called on the event loop with the URI and what holds for exactly that version; no findings clear."""
