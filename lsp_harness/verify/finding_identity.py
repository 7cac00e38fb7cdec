"""When two findings are the same one: by rule, names and place; messages quote text that edits change."""

from lsp_harness.text.position import Span
from lsp_harness.verify.finding import Finding
from lsp_harness.verify.finding_subject import find_names

Identity = tuple[str, tuple[str, ...]]
"""A rule, and the names that the finding is about."""


def identity(finding: Finding) -> Identity:
    """What stays the same of a finding when the text around it changes."""
    return finding.code, find_names(finding.message)


def is_at_place(finding: Finding, place: Span) -> bool:
    """Whether a finding overlaps a range, or ends where the range begins: what is missing is reported behind its place."""
    end = max(place.end, place.start + 1)
    return finding.end >= place.start and (finding.start < end or finding.start == finding.end == end)
