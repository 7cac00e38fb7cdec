"""A check whether a syntax error is gone after an edit, or has only moved or changed its message."""

from collections.abc import Sequence

from lsp_harness.syntax.error_regions import Region
from lsp_harness.syntax.syntax_errors import Fault, find_error_regions, find_faults, find_python_fault
from lsp_harness.syntax.tree import SyntaxTree
from lsp_harness.text.edit import Edit
from lsp_harness.text.position import Span


def find_remaining_faults(before: SyntaxTree, after: SyntaxTree, edits: Sequence[Edit], place: Span) -> list[Fault]:
    """Return the syntax errors that show that an error was not repaired.

    An error at another place that has the same extent as before the edits is a different error and is left out. An
    error counts if it touches an edit, has grown or shrunk, or is new: where the parser reports an error depends on
    everything around it. If all errors at `place` are unchanged, they count too.

    Args:
        before: The tree before the edits.
        after: The tree after the edits.
        edits: The edits, with offsets of `before`.
        place: Where the error to be repaired is in `before`.
    """
    targets = {
        (_shift_offset(region.start, edits), _shift_offset(region.end, edits))
        for region in find_error_regions(before)
        if region.start <= max(place.end, place.start + 1) and region.end >= place.start
    }
    old = {
        (_shift_offset(region.start, edits), _shift_offset(region.end, edits), region.token)
        for region in find_error_regions(before)
    }
    new = find_error_regions(after)
    unchanged = [(region.start, region.end, region.token) in old and not _touches_edit(region, edits) for region in new]
    # Edits that leave every error unchanged have repaired none.
    if unchanged and len(unchanged) >= len(old):
        return find_faults(after)
    unchanged_spans = {(region.start, region.end) for region, same in zip(new, unchanged, strict=True) if same}
    targets_remain = targets <= unchanged_spans
    remaining = [
        fault
        for fault, region, same in zip(find_faults(after), new, unchanged, strict=True)
        if not same or (targets_remain and (region.start, region.end) in targets)
    ]
    if not remaining and after.language.compiles_in_process and (fault := find_python_fault(after.data)):
        # The compiler reports only its first error. If the parser does not see that error, it always counts.
        remaining = [] if any(unchanged) and not _fault_touches_edit(fault, edits) else [fault]
    return remaining


def _shift_offset(offset: int, edits: Sequence[Edit]) -> int:
    shift = sum(len(edit.new) - (edit.end - edit.start) for edit in edits if edit.end <= offset)
    return offset + shift


def _touches_edit(region: Region, edits: Sequence[Edit]) -> bool:
    shift = 0
    for start, end, new in sorted(edits):
        if region.start <= start + shift + len(new) and region.end >= start + shift:
            return True
        shift += len(new) - (end - start)
    return False


def _fault_touches_edit(fault: Fault, edits: Sequence[Edit]) -> bool:
    return _touches_edit(Region(fault.start, fault.end), edits)
