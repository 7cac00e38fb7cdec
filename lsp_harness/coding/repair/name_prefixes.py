"""Repairs that add a missing prefix to a name: the sigil of `$name` in PHP and `@name` in Ruby, `self.` and `this.`."""

import re

from lsp_harness.coding.repair.name_place import NamePlace, name_place_at
from lsp_harness.coding.repair.repair import Repair
from lsp_harness.coding.repair.repair_request import RepairRequest
from lsp_harness.coding.repair.spelling_cost import find_similar
from lsp_harness.syntax.names.occurrences import Occurrence, class_names_around, find_occurrences
from lsp_harness.text.edit import Edit
from lsp_harness.text.position import decode, encode

KIND = "nearest name"
SIGIL_PATTERN = re.compile(r"@@?|\$")
PREFIX_COST = 0.3
"""Cost of adding the prefix to a name that occurs in the text with this prefix."""


def find_sigil_names(place: NamePlace) -> list[Repair] | None:
    """Return repairs by similar names with the same sigil in Ruby, or None if the misspelt name has no sigil."""
    if not place.language.names.member_sigil:
        return None
    span = place.occurrence.span
    spelling = decode(place.tree.data[span.start : span.end])
    match = SIGIL_PATTERN.match(spelling)
    if match is None:
        return None
    sigil = match.group()
    names = re.findall(rf"(?<![@$\w]){re.escape(sigil)}([^\W\d]\w*)", place.tree.document.text)
    similar_names = find_similar(spelling[len(sigil) :], dict.fromkeys(names).keys())
    return sorted(
        (Repair(KIND, (Edit(*span, encode(sigil + name)),), cost) for name, cost in similar_names),
        key=lambda repair: repair.cost,
    )


async def add_receiver(request: RepairRequest) -> list[Repair]:
    """Add `self.` or `this.` before a name that is a member of the enclosing class."""
    subject, tree = request.subject, request.tree
    receiver = tree.language.names.self_name
    place = name_place_at(tree, subject.span) if receiver and subject.kind == "name" and subject.name else None
    if not receiver or place is None or not place.class_names:
        return []
    if place.occurrence.role != "value" or place.occurrence.scope_kind != "function":
        return []
    occurrences = [*find_occurrences(tree, subject.name)]
    members = [occurrence for occurrence in occurrences if _is_member(place, occurrence, receiver)]
    header = tree.data[place.occurrence.scope.start : place.occurrence.span.start]
    if not members or (receiver == "self" and not re.search(rb"\(\s*self\b", header)):
        return []
    start = place.occurrence.span.start
    return [Repair(KIND, (Edit(start, start, encode(f"{receiver}.")),), PREFIX_COST)]


def _is_member(place: NamePlace, occurrence: Occurrence, receiver: str) -> bool:
    is_same_class = class_names_around(place.tree, occurrence.span.start)[:1] == list(place.class_names[:1])
    if occurrence.role == "member":
        return is_same_class and occurrence.receiver == receiver
    return is_same_class and occurrence.is_binding and occurrence.scope_kind == "class"


async def add_sigil(request: RepairRequest) -> list[Repair]:
    """Add the sigil before a name that occurs with it in the same function (PHP) or anywhere in the file (Ruby)."""
    subject, tree = request.subject, request.tree
    sigil = tree.language.names.sigil or tree.language.names.member_sigil
    place = name_place_at(tree, subject.span) if sigil and subject.kind == "name" and subject.name else None
    if not sigil or place is None or place.has_sigil or place.occurrence.role != "value" or place.occurrence.is_called:
        return []
    start = place.occurrence.span.start
    if tree.data[start : start + 1] in (b"@", b"$"):
        return []
    if not any(_is_sigil_visible(place, occurrence) for occurrence in find_occurrences(tree, subject.name)):
        return []
    return [Repair(KIND, (Edit(start, start, encode(sigil)),), PREFIX_COST)]


def _is_sigil_visible(place: NamePlace, occurrence: Occurrence) -> bool:
    """Return whether an occurrence has the sigil and is visible at the place."""
    names, data, start = place.language.names, place.tree.data, occurrence.span.start
    sigil = encode(names.sigil or names.member_sigil)
    has_sigil = sigil in (data[start : start + 1], data[start - 1 : start])
    return has_sigil and (bool(names.member_sigil) or occurrence.scope == place.occurrence.scope)
