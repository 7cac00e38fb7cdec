"""Recognizes a finding after an edit: by its rule, the names in its message, and its place.

The message itself may quote text that the edit changes.
"""

from lsp_harness.text.position import Span
from lsp_harness.verify.finding import Finding
from lsp_harness.verify.finding_subject import find_names

Identity = tuple[str, tuple[str, ...]]
"""A rule, and the names that the finding is about."""


def identity(finding: Finding) -> Identity:
    """Return the part of a finding that stays the same when the text around it changes."""
    return finding.code, find_names(finding.message)


def is_at_place(finding: Finding, place: Span) -> bool:
    """Return whether a finding overlaps a byte range, or ends where the range begins.

    Tools report something missing behind its place.
    """
    end = max(place.end, place.start + 1)
    return finding.end >= place.start and (finding.start < end or finding.start == finding.end == end)
