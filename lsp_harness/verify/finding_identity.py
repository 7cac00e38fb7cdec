"""Recognizes a finding after an edit: by its rule, the names in its message, and its place.

The message itself may quote text that the edit changes. So may the names: a rule that is still reported at the place
of a finding has not gone because it speaks of another name now.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from lsp_harness.syntax.error_regions import minimize_edits
from lsp_harness.syntax.syntax_errors import find_error_regions
from lsp_harness.text.edit import Edit, line_edits
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


def find_targets(finding: Finding, candidates: Iterable[Finding]) -> list[Finding]:
    """Return the findings of a tool that are the finding to repair.

    Of several at its place these are the ones with its range, or else with its message, or else all.

    Args:
        finding: The finding to repair, which may be of another tool.
        candidates: The findings of the tool in the same text.
    """
    place = Span(finding.start, finding.end)
    at_place = [other for other in candidates if is_at_place(other, place)]
    exact = [other for other in at_place if (other.start, other.end) == place]
    return exact or [other for other in at_place if other.message == finding.message] or at_place


def find_remaining(
    change: Change, targets: Sequence[Finding], before: Sequence[Finding], after: Sequence[Finding]
) -> list[Finding]:
    """Return the findings after a change that stand for some findings before it, the nearest first.

    Each finding stands for one before it at most. Those that the other findings before it explain do not count: first
    by the same place, then by the same names, and last by the same rule alone, away from the place of the targets.

    Args:
        change: The change.
        targets: The findings before it that it should repair.
        before: All findings before it, of the rules of the targets.
        after: All findings after it, of these rules.
    """
    edits = minimize_edits(change.before.data, line_edits(change.before.data, change.after.data))
    places = [map_span(Span(target.start, target.end), edits) for target in targets]
    others = [(finding, map_span(Span(finding.start, finding.end), edits)) for finding in before]
    others = [(finding, place) for finding, place in others if finding not in targets]
    rest = [finding for finding in after if finding.code in {target.code for target in targets}]

    def is_at_target(finding: Finding) -> bool:
        return any(is_at_place(finding, place) for place in places)

    def explain(fits: Callable[[Finding, Finding, Span], bool]) -> None:
        for other, place in tuple(others):
            nearest = sorted(rest, key=lambda finding: abs(finding.start - place.start))
            if twin := next((finding for finding in nearest if fits(finding, other, place)), None):
                rest.remove(twin)
                others.remove((other, place))

    explain(lambda new, old, place: identity(new) == identity(old) and (new.start, new.end) == place)
    explain(lambda new, old, place: identity(new) == identity(old) and is_at_place(new, place))
    explain(lambda new, old, place: identity(new) == identity(old) and not is_at_target(new))
    explain(lambda new, old, place: new.code == old.code and not is_at_target(new))
    return sorted(rest, key=lambda finding: (not is_at_target(finding), finding.start))


def map_span(span: Span, edits: Sequence[Edit]) -> Span:
    """Return where a span is after some edits, in the order of the text. It grows by what is written at its place."""
    start, end, shift = span.start, span.end, 0
    for edit in edits:
        growth = len(edit.new) - (edit.end - edit.start)
        if edit.end <= span.start and edit.start < span.start:
            start, end = start + growth, end + growth
        elif edit.start <= span.end:
            # the edit overlaps the span, or inserts text at one of its ends
            start = min(start, edit.start + shift)
            end = max(end + growth, edit.start + shift + len(edit.new))
        shift += growth
    return Span(start, max(start, end))


def had_syntax_error(change: Change) -> bool:
    """Return whether the text before a change does not parse."""
    return change.tree_before is not None and bool(find_error_regions(change.tree_before))


def _is_in_repaired_text(change: Change, finding: Finding) -> bool:
    """Return whether a finding lies in changed text or, if it is about an unknown name, on a changed line."""
    if finding.code != UNKNOWN_NAME:
        return change.touches(finding.start, finding.end)
    start, end = change.after.line_span(change.after.line_of(finding.start))
    return change.touches(start + 1, end - 1)
