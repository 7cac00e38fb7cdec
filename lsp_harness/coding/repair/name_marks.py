"""Repairs of a left out prefix of a name: the mark of `$name` in PHP and `@name` in Ruby, `self.` and `this.`."""

import re

from lsp_harness.coding.repair.expected_name import Wanted, wanted_at
from lsp_harness.coding.repair.repair import Repair
from lsp_harness.coding.repair.repair_request import RepairRequest
from lsp_harness.coding.repair.spelling_cost import similar
from lsp_harness.syntax.names.occurrences import Occurrence, class_names_around, find_occurrences
from lsp_harness.text.edit import Edit
from lsp_harness.text.position import decode, encode

KIND = "nearest name"
MARK = re.compile(r"@@?|\$")
MARKS = {"php": "$", "ruby": "@"}
RECEIVERS = {"python": "self", **dict.fromkeys(("javascript", "typescript", "tsx"), "this")}
"""The receiver that members of the enclosing class need, by language."""
LEFT_OUT = 0.3
"""Cost of adding the mark to a name that the text has with the mark."""


def marked_names(wanted: Wanted) -> list[Repair] | None:
    """The nearest names with the same mark as a misspelt one of Ruby; None where the misspelt one has no mark."""
    if wanted.language != "ruby":
        return None
    span = wanted.here.span
    written = decode(wanted.tree.data[span.start : span.end])
    found = MARK.match(written)
    if found is None:
        return None
    mark = found.group()
    listed = re.findall(rf"(?<![@$\w]){re.escape(mark)}([^\W\d]\w*)", wanted.tree.document.text)
    names = similar(written[len(mark) :], dict.fromkeys(listed).keys())
    return sorted(
        (Repair(KIND, (Edit(*span, encode(mark + name)),), cost) for name, cost in names), key=lambda one: one.cost
    )


async def missing_receiver(request: RepairRequest) -> list[Repair]:
    """`self.` or `this.` before a name that the class around has as a member, and nothing else in the text binds."""
    subject, tree = request.subject, request.tree
    receiver = RECEIVERS.get(tree.language.id)
    wanted = wanted_at(tree, subject.span) if receiver and subject.kind == "name" and subject.name else None
    if (
        not receiver
        or wanted is None
        or wanted.here.role != "value"
        or not wanted.classes
        or wanted.here.scope_kind != "function"
    ):
        return []
    own = [*find_occurrences(tree, subject.name)]
    members = [one for one in own if _is_member(wanted, one, receiver)]
    header = tree.data[wanted.here.scope.start : wanted.here.span.start]
    if not members or (receiver == "self" and not re.search(rb"\(\s*self\b", header)):
        return []
    start = wanted.here.span.start
    return [Repair(KIND, (Edit(start, start, encode(f"{receiver}.")),), LEFT_OUT)]


def _is_member(wanted: Wanted, one: Occurrence, receiver: str) -> bool:
    of_class = class_names_around(wanted.tree, one.span.start)[:1] == list(wanted.classes[:1])
    return of_class and (
        one.receiver == receiver if one.role == "member" else one.is_binding and one.scope_kind == "class"
    )


async def missing_mark(request: RepairRequest) -> list[Repair]:
    """The mark before a name that the text has with it alone, as far as this place sees."""
    subject, tree = request.subject, request.tree
    mark = MARKS.get(tree.language.id)
    wanted = wanted_at(tree, subject.span) if mark and subject.kind == "name" and subject.name else None
    if not mark or wanted is None or wanted.sigil or wanted.here.role != "value" or wanted.here.is_called:
        return []
    start = wanted.here.span.start
    if tree.data[start : start + 1] in (b"@", b"$"):
        return []
    if not any(_is_seen(wanted, one) for one in find_occurrences(tree, subject.name)):
        return []
    return [Repair(KIND, (Edit(start, start, encode(mark)),), LEFT_OUT)]


def _is_seen(wanted: Wanted, one: Occurrence) -> bool:
    """Whether a name has the mark and is used where the unknown one is: a variable of PHP in the same function, one of Ruby in any method."""
    data, mark = wanted.tree.data, encode(MARKS[wanted.language])
    marked = mark in (data[one.span.start : one.span.start + 1], data[one.span.start - 1 : one.span.start])
    return marked and (wanted.language == "ruby" or one.scope == wanted.here.scope)
