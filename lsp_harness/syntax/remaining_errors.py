"""Whether a syntax error is gone after an edit, or has only moved or changed its words."""

from collections.abc import Sequence

from lsp_harness.syntax.error_regions import Region
from lsp_harness.syntax.syntax_errors import Fault, faults, python_fault, regions
from lsp_harness.syntax.tree import SyntaxTree
from lsp_harness.text.edit import Edit
from lsp_harness.text.position import Span


def remaining_faults(before: SyntaxTree, after: SyntaxTree, edits: Sequence[Edit], place: Span) -> list[Fault]:
    """The syntax errors of `after` that stand in the way of calling the error of `before` at `place` gone.

    An error that stands elsewhere, with the same extent as before the edits, is another one and does not count. One that touches an edit,
    that has grown or shrunk, or that was not there, counts: the parser places what it cannot read by all that is around it. So do the
    errors at `place` where all of them are as they were.
    """
    asked = {
        (_moved(region.start, edits), _moved(region.end, edits))
        for region in regions(before)
        if region.start <= max(place.end, place.start + 1) and region.end >= place.start
    }
    old = {(_moved(region.start, edits), _moved(region.end, edits), region.token) for region in regions(before)}
    new = regions(after)
    same = [(region.start, region.end, region.token) in old and not _edited(region, edits) for region in new]
    # an edit that leaves every error as it was has mended none
    if same and len(same) >= len(old):
        return faults(after)
    standing = asked <= {(region.start, region.end) for region, kept in zip(new, same, strict=True) if kept}
    found = zip(faults(after), new, same, strict=True)
    left = [fault for fault, at, kept in found if not kept or (standing and (at.start, at.end) in asked)]
    if not left and after.language.id == "python" and (fault := python_fault(after.data)):
        # the compiler reports its first error only; one that the parser does not see is always this one
        left = [] if any(same) and not _near(fault, edits) else [fault]
    return left


def _moved(offset: int, edits: Sequence[Edit]) -> int:
    shift = sum(len(edit.new) - (edit.end - edit.start) for edit in edits if edit.end <= offset)
    return offset + shift


def _edited(region: Region, edits: Sequence[Edit]) -> bool:
    shift = 0
    for start, end, new in sorted(edits):
        if region.start <= start + shift + len(new) and region.end >= start + shift:
            return True
        shift += len(new) - (end - start)
    return False


def _near(fault: Fault, edits: Sequence[Edit]) -> bool:
    return _edited(Region(fault.start, fault.end), edits)
