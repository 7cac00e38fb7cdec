"""Repairs of a misspelt name: the most similar name that the code may use, or the prefix that is missing.

The candidates are names in scope, members, imports, parameters and builtins. The index comes last. Only the name at the
finding is replaced, because an editor marks each use of a misspelt name and the user asks about one of them. There are
two exceptions. If a name is misspelt at its binding and correct at its use, the binding is repaired. In C and C++ all
uses in the function are replaced, because a compiler reports only the first of them.
"""

import asyncio
import re
from collections.abc import Mapping

from lsp_harness.coding.repair.foreign_names import (
    find_exported_names,
    find_indexed_names,
    find_parameter_names,
    find_wildcard_names,
)
from lsp_harness.coding.repair.name_place import NamePlace, fit_cost, is_visible, name_place_at
from lsp_harness.coding.repair.repair import Repair, RepairRequest
from lsp_harness.coding.repair.spelling_cost import find_similar, rate_misspelling, split_words
from lsp_harness.knowledge.stdlib_tables import common_words, load_standard
from lsp_harness.syntax.names.occurrences import Occurrence, class_names_around, find_occurrences
from lsp_harness.text.edit import Edit
from lsp_harness.text.position import Span, decode, encode

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


WORD = re.compile(r"[^\W\d]\w*")
MAX_REPAIRS = 8
"""Maximum number of repairs of one finding."""
MAX_EXTRA_COST = 1.5
"""A repair that costs this much more than the cheapest one is left out."""
MAX_COST, LONG_NAME_LENGTH, MAX_LONG_NAME_COST = 1.5, 9, 1.9
"""Maximum cost of a repair, and the maximum for a name of at least `LONG_NAME_LENGTH` letters. If every candidate costs
more, the correct name is probably not among them."""
BUILTIN_COST, OTHER_TABLE_COST, KEYWORD_COST = 0.12, 0.3, 0.45
"""Added cost of a builtin, of a builtin of another kind (a type in the place of a value), and of a keyword."""
UNCALLED_COST = 0.25
"""Added cost of a builtin function in a place where nothing is called."""
VALUE_WORDS = frozenset(
    {"true", "false", "nil", "null", "self", "this", "super", "undefined", "nullptr", "errno", "cls", "iota"}
)
PRIVATE_COST = 0.5
"""Added cost of a name that begins with an underscore, if the misspelt name does not."""
COMMON_MEMBER_COST = 0.3
"""Added cost of a member of common types, if the type of the receiver is not known."""
MENTIONED_COST, MIN_MENTIONED_LENGTH = 0.55, 6
"""Added cost of a name that occurs only in comments, strings or another role, and the minimum length of such a name."""
SUGGESTION_MESSAGE = re.compile(r"(?:did you mean|similar name|perhaps you meant|maybe you meant)", re.IGNORECASE)
SUGGESTED_COST = -0.5
"""Added cost of a name that the tool itself proposes."""
SEVERAL_USES_COST = 0.8
"""Added cost of a name that is bound and never used, if the unknown name is used more than once."""
IMPORT_USES = frozenset({"import", "value", "type"})
"""Roles of the import of a name and of its uses."""
LOCAL_ROLES = frozenset({"variable", "parameter", "import", "function", "class"})


async def find_similar_names(request: RepairRequest) -> list[Repair]:
    """Return repairs that replace the unknown name by a similar one, the most likely first."""
    subject, tree = request.subject, request.tree
    place = name_place_at(tree, subject.span) if subject.name and subject.kind == "name" else None
    if place is None:
        return []
    if (sigil_repairs := find_sigil_names(place)) is not None:
        return sigil_repairs[:MAX_REPAIRS]
    name = subject.name
    costs = _find_in_file(request, place, name)
    _merge(costs, _find_builtins(place, name))
    _merge(costs, await _find_in_other_files(request, place, name))
    _merge(costs, _find_suggested(request, name))
    if min(costs.values(), default=MAX_EXTRA_COST) >= MAX_EXTRA_COST:
        _merge(costs, await find_indexed_names(request, place, name))
    max_cost = MAX_LONG_NAME_COST if len(name) >= LONG_NAME_LENGTH else MAX_COST
    if min(costs.values(), default=0.0) > max_cost:
        return []
    repairs = [repair for other, cost in costs.items() for repair in _make_repairs(place, name, other, cost)]
    repairs.sort(key=lambda repair: repair.cost)
    return [repair for repair in repairs if repair.cost <= repairs[0].cost + MAX_EXTRA_COST][:MAX_REPAIRS]


def _find_in_file(request: RepairRequest, place: NamePlace, name: str) -> dict[str, float]:
    """Return the similar names of the file with their costs."""
    costs: dict[str, float] = {}
    file_names = dict.fromkeys(WORD.findall(request.tree.document.text))
    for other, cost in find_similar(name, file_names.keys()):
        if (penalty := fit_cost(place, other)) is not None:
            costs[other] = cost + penalty
        elif len(other) >= MIN_MENTIONED_LENGTH and not any(
            occurrence.is_binding for occurrence in find_occurrences(request.tree, other)
        ):
            costs[other] = cost + MENTIONED_COST
    return costs


def _find_builtins(place: NamePlace, name: str) -> dict[str, float]:
    """Return the similar names that the language itself defines, with their costs."""
    table, role = load_standard(place.language.id), place.occurrence.role
    costs: dict[str, float] = {}
    if role == "member":
        namespace = place.language.imports.library_namespace
        if namespace and place.occurrence.receiver == namespace:
            return {other: cost + BUILTIN_COST for other, cost in find_similar(name, find_wildcard_names(place))}
        if static_members := table.statics.get(place.occurrence.receiver):
            return dict(find_similar(name, static_members))
        # Every object has the members with two underscores. In Ruby every object has most of the others, too.
        includes_all = not place.is_own_member or place.language.names.has_common_members
        members = [member for member in table.members if includes_all or member.startswith("__")]
        return {other: cost + COMMON_MEMBER_COST for other, cost in find_similar(name, members)}
    if role not in ("value", "type") or place.has_sigil:
        return costs
    tables = [(table.types, table.globals), (table.globals, table.types)][role == "value"]
    for names, penalty in zip((*tables, table.keywords), (BUILTIN_COST, OTHER_TABLE_COST, KEYWORD_COST), strict=True):
        for other, cost in find_similar(name, names):
            is_uncalled = (
                role == "value" and not place.occurrence.is_called and other.islower() and other not in VALUE_WORDS
            )
            _merge(costs, {other: cost + penalty + UNCALLED_COST * is_uncalled})
    _merge(costs, {other: cost + BUILTIN_COST for other, cost in find_similar(name, find_wildcard_names(place))})
    return costs


async def _find_in_other_files(request: RepairRequest, place: NamePlace, name: str) -> dict[str, float]:
    """Return the exports of an imported module, or the parameters of a called function, that are similar to a name,
    with their costs.
    """
    if place.occurrence.role == "key":
        return dict(find_similar(name, await find_parameter_names(request, place)))
    if place.occurrence.role in ("member", "import"):
        exported_names = await asyncio.to_thread(find_exported_names, request, place, name)
        # A name that begins with an underscore is not part of the interface of a module.
        penalty = PRIVATE_COST * (not name.startswith("_"))
        return {other: cost + penalty * other.startswith("_") for other, cost in find_similar(name, exported_names)}
    return {}


def _find_suggested(request: RepairRequest, name: str) -> dict[str, float]:
    """Return the similar names that the message of the tool proposes, with their costs."""
    if not SUGGESTION_MESSAGE.search(request.finding.message):
        return {}
    quoted_names = [quoted for quoted in request.subject.quoted if quoted != name]
    return {other: max(0.05, cost + SUGGESTED_COST) for other, cost in find_similar(name, quoted_names)}


def _merge(costs: dict[str, float], others: Mapping[str, float]) -> None:
    for name, cost in others.items():
        costs[name] = min(cost, costs.get(name, cost))


def _make_repairs(place: NamePlace, name: str, other: str, cost: float) -> list[Repair]:
    """Return repairs that rename the use or the binding, the likelier first.

    A binding is only renamed if nothing uses it. If only one of the two names consists of common words, the other
    is probably the misspelt one.
    """
    use = Repair(KIND, _make_edits(place, name, other), cost)
    binding = _find_unused_binding(place, other)
    if binding is None:
        return [use]
    use_count = sum(
        1
        for occurrence in find_occurrences(place.tree, name)
        if not occurrence.is_binding and occurrence.role in ("value", "type")
    )
    is_binding_common, is_use_common = _is_common(other), _is_common(name)
    if is_binding_common and not is_use_common:
        return [use]
    at_binding = Repair(KIND, (Edit(*binding.span, encode(name)),), max(0.05, rate_misspelling(other, name)))
    if is_use_common and not is_binding_common:
        return [at_binding, Repair(KIND, use.edits, cost + SEVERAL_USES_COST)]
    if use_count > 1:
        return [at_binding, Repair(KIND, use.edits, cost + SEVERAL_USES_COST)]
    return [use, Repair(KIND, at_binding.edits, at_binding.cost + 0.3)]


def _find_unused_binding(place: NamePlace, other: str) -> Occurrence | None:
    """Return the binding of a name that nothing uses, or None. It may be misspelt itself."""
    if place.occurrence.role not in ("value", "type"):
        return None
    occurrences = [*find_occurrences(place.tree, other)]
    if len(occurrences) != 1:
        return None
    [binding] = occurrences
    is_local = binding.is_binding and binding.role in LOCAL_ROLES
    return binding if is_local and is_visible(place, binding) else None


def _is_common(name: str) -> bool:
    """Return whether a name consists only of common words."""
    common = common_words()
    return all(len(word) < 3 or word in common for word in split_words(name))


def _make_edits(place: NamePlace, name: str, other: str) -> tuple[Edit, ...]:
    spans = [place.occurrence.span]
    if place.occurrence.role == "import" and place.occurrence.is_binding:
        # what uses the import under its wrong name would be unknown
        spans = [use.span for use in find_occurrences(place.tree, name) if use.role in IMPORT_USES] or spans
    if place.language.names.reports_first_use_only and place.occurrence.role in ("value", "type"):
        scope = place.occurrence.scope if place.occurrence.scope_kind == "function" else Span(0, 0)
        occurrences = [*find_occurrences(place.tree, name, scope)]
        if not any(occurrence.is_binding for occurrence in occurrences):
            spans = [occurrence.span for occurrence in occurrences if occurrence.role == place.occurrence.role] or spans
    return tuple(Edit(*span, encode(other)) for span in spans)
