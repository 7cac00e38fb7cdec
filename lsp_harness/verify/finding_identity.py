"""Recognizes a finding after an edit: by its rule, the names in its message, and its place.

The message itself may quote text that the edit changes.
"""

from collections import Counter
from collections.abc import Iterable, Sequence

from lsp_harness.syntax.syntax_errors import find_error_regions
from lsp_harness.text.position import Span
from lsp_harness.verify.change import Change
from lsp_harness.verify.finding import Finding
from lsp_harness.verify.finding_subject import find_names

Identity = tuple[str, tuple[str, ...]]
"""A rule, and the names that the finding is about."""
UNKNOWN_NAME = "F821"
"""The rule of ruff about a name that is not defined."""


def identity(finding: Finding) -> Identity:
    """Return the part of a finding that stays the same when the text around it changes."""
    return finding.code, find_names(finding.message)


def is_at_place(finding: Finding, place: Span) -> bool:
    """Return whether a finding overlaps a byte range, or ends where the range begins.

    Tools report something missing behind its place.
    """
    end = max(place.end, place.start + 1)
    return finding.end >= place.start and (finding.start < end or finding.start == finding.end == end)


def find_new_findings(
    change: Change, before: Iterable[Finding], after: Sequence[Finding], *, was_broken: bool = False
) -> tuple[Finding, ...]:
    """Return the findings after a change that are not among those before it, in the order of the text.

    Args:
        change: The change.
        before: The findings before it.
        after: The findings after it.
        was_broken: Whether the tool could not read the text before. It reports little else about such a text, so most
            findings of the repaired text are old ones.
    """
    old_counts = Counter(identity(finding) for finding in before)
    new: list[Finding] = []
    # of equal findings, those away from the edits are the old ones, so they are matched first
    for finding in sorted(after, key=lambda f: change.touches(f.start, f.end)):
        key = identity(finding)
        if old_counts[key] > 0:
            old_counts[key] -= 1
        else:
            new.append(finding)
    if was_broken:
        new = [finding for finding in new if _is_in_repaired_text(change, finding)]
    return tuple(sorted(new, key=lambda f: f.start))


def had_syntax_error(change: Change) -> bool:
    """Return whether the text before a change does not parse."""
    return change.tree_before is not None and bool(find_error_regions(change.tree_before))


def _is_in_repaired_text(change: Change, finding: Finding) -> bool:
    """Return whether a finding lies in changed text or, if it is about an unknown name, on a changed line."""
    if finding.code != UNKNOWN_NAME:
        return change.touches(finding.start, finding.end)
    start, end = change.after.line_span(change.after.line_of(finding.start))
    return change.touches(start + 1, end - 1)
