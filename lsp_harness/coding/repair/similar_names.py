"""The nearest names for one that is not known: what is in scope, members, imports, parameters, builtins, and the index last.

Only the name at the finding is replaced. An editor marks each place of a misspelt name, and whoever asks for one of them is
shown the change of that one. Two exceptions: a name that is misspelt where it is bound, and right where it is used, is mended
at the binding; and in C and C++ all places in the function are, because a compiler reports the first of them alone.
"""

import asyncio
import re
from collections.abc import Mapping

from lsp_harness.coding.repair.expected_name import Wanted, fit, is_visible, wanted_at
from lsp_harness.coding.repair.foreign_names import exported_names, imported_names, indexed_names, parameter_names
from lsp_harness.coding.repair.name_marks import marked_names
from lsp_harness.coding.repair.repair import Repair
from lsp_harness.coding.repair.repair_request import RepairRequest
from lsp_harness.coding.repair.spelling_cost import similar, slip, words
from lsp_harness.knowledge.standard.stdlib_tables import common_words, load_standard
from lsp_harness.syntax.names.occurrences import Occurrence, find_occurrences
from lsp_harness.text.edit import Edit
from lsp_harness.text.position import Span, encode

KIND = "nearest name"
WORD = re.compile(r"[^\W\d]\w*")
MOST = 8
"""Repairs of one finding, at most."""
FAR = 1.5
"""By how much one may cost more than the cheapest, to be given at all."""
CEILING, LONG, LONG_CEILING = 1.5, 9, 1.9
"""What one may cost at all, and what for a name of so many letters: beyond that the right name is likely none that is known here."""
BUILTIN, OTHER_TABLE, KEYWORD = 0.12, 0.3, 0.45
"""What is added for a builtin, for one of another kind (a type for a value), and for a keyword."""
UNCALLED = 0.25
"""What is added for a function of the language where nothing is called."""
VALUES = frozenset(
    {"true", "false", "nil", "null", "self", "this", "super", "undefined", "nullptr", "errno", "cls", "iota"}
)
PRIVATE = 0.5
"""What is added for a name that begins with an underscore, where the misspelt one does not."""
COMMON_MEMBER = 0.3
"""What is added for a member that common types have, where the type is not known."""
MENTIONED, MENTIONED_LENGTH = 0.55, 6
"""What is added for a name that the file has in comments and strings alone, or in another role, and the letters that it must have."""
SUGGESTED = re.compile(r"(?:did you mean|similar name|perhaps you meant|maybe you meant)", re.IGNORECASE)
SAID = -0.5
"""What is added for a name that the tool itself proposes."""
OFTEN = 0.8
"""What is added for a name that is bound and never used, where the unknown one is used more than once."""
LOCAL = frozenset({"variable", "parameter", "import", "function", "class"})
FIRST_ONLY = frozenset({"c", "cpp"})
"""Languages whose compilers report the first place of an unknown name in a function alone."""


async def near_names(request: RepairRequest) -> list[Repair]:
    """Repairs that put a near name in the place of the unknown one, the likeliest first."""
    subject, tree = request.subject, request.tree
    wanted = wanted_at(tree, subject.span) if subject.name and subject.kind == "name" else None
    if wanted is None:
        return []
    if (marked := marked_names(wanted)) is not None:
        return marked[:MOST]
    name = subject.name
    costs = _in_file(request, wanted, name)
    _merge(costs, _builtin(wanted, name))
    _merge(costs, await _beyond(request, wanted, name))
    _merge(costs, _suggested(request, name))
    if min(costs.values(), default=FAR) >= FAR:
        _merge(costs, await indexed_names(request, wanted, name))
    ceiling = LONG_CEILING if len(name) >= LONG else CEILING
    if min(costs.values(), default=0.0) > ceiling:
        return []
    repairs = [repair for other, cost in costs.items() for repair in _repairs(wanted, name, other, cost)]
    repairs.sort(key=lambda one: one.cost)
    return [one for one in repairs if one.cost <= repairs[0].cost + FAR][:MOST]


def _in_file(request: RepairRequest, wanted: Wanted, name: str) -> dict[str, float]:
    found: dict[str, float] = {}
    listed = dict.fromkeys(WORD.findall(request.tree.document.text))
    for other, cost in similar(name, listed.keys()):
        if (added := fit(wanted, other)) is not None:
            found[other] = cost + added
        elif len(other) >= MENTIONED_LENGTH and not any(
            one.is_binding for one in find_occurrences(request.tree, other)
        ):
            found[other] = cost + MENTIONED
    return found


def _builtin(wanted: Wanted, name: str) -> dict[str, float]:
    """Of what the language has by itself: the nearest."""
    table, role = load_standard(wanted.language), wanted.here.role
    found: dict[str, float] = {}
    if role == "member":
        if wanted.language == "cpp" and wanted.here.receiver == "std":
            return {other: cost + BUILTIN for other, cost in similar(name, imported_names(wanted))}
        if known := table.statics.get(wanted.here.receiver):
            return dict(similar(name, known))
        # all objects have those with two underscores, and in Ruby most others
        every = not wanted.of_self or wanted.language == "ruby"
        members = [one for one in table.members if every or one.startswith("__")]
        return {other: cost + COMMON_MEMBER for other, cost in similar(name, members)}
    if role not in ("value", "type") or wanted.sigil:
        return found
    tables = [(table.types, table.globals), (table.globals, table.types)][role == "value"]
    for names, added in zip((*tables, table.keywords), (BUILTIN, OTHER_TABLE, KEYWORD), strict=True):
        for other, cost in similar(name, names):
            uncalled = role == "value" and not wanted.here.is_called and other.islower() and other not in VALUES
            _merge(found, {other: cost + added + UNCALLED * uncalled})
    _merge(found, {other: cost + BUILTIN for other, cost in similar(name, imported_names(wanted))})
    return found


async def _beyond(request: RepairRequest, wanted: Wanted, name: str) -> dict[str, float]:
    """Names that the file does not show: exports of a module that it imports, and parameters of a function that it calls."""
    if wanted.here.role == "key":
        return dict(similar(name, await parameter_names(request, wanted)))
    if wanted.here.role in ("member", "import"):
        exported = await asyncio.to_thread(exported_names, request, wanted, name)
        # what begins with an underscore is no part of what a module offers
        private = PRIVATE * (not name.startswith("_"))
        return {other: cost + private * other.startswith("_") for other, cost in similar(name, exported)}
    return {}


def _suggested(request: RepairRequest, name: str) -> dict[str, float]:
    if not SUGGESTED.search(request.finding.message):
        return {}
    others = [one for one in request.subject.quoted if one != name]
    return {other: max(0.05, cost + SAID) for other, cost in similar(name, others)}


def _merge(costs: dict[str, float], others: Mapping[str, float]) -> None:
    for name, cost in others.items():
        costs[name] = min(cost, costs.get(name, cost))


def _repairs(wanted: Wanted, name: str, other: str, cost: float) -> list[Repair]:
    """The use is misspelt, or the binding is: where both may be, the name that is a known word is the right one."""
    use = Repair(KIND, _edits(wanted, name, other), cost)
    binding = _lone_binding(wanted, other)
    if binding is None:
        return [use]
    count = sum(
        1 for one in find_occurrences(wanted.tree, name) if not one.is_binding and one.role in ("value", "type")
    )
    bound_well, used_well = _is_known(other), _is_known(name)
    if bound_well and not used_well:
        return [use]
    at_binding = Repair(KIND, (Edit(*binding.span, encode(name)),), max(0.05, slip(other, name)))
    if used_well and not bound_well:
        return [at_binding, Repair(KIND, use.edits, cost + OFTEN)]
    if count > 1:
        return [at_binding, Repair(KIND, use.edits, cost + OFTEN)]
    return [use, Repair(KIND, at_binding.edits, at_binding.cost + 0.3)]


def _lone_binding(wanted: Wanted, other: str) -> Occurrence | None:
    """The binding of a name that nothing uses: it may be the one that is misspelt."""
    if wanted.here.role not in ("value", "type"):
        return None
    found = [*find_occurrences(wanted.tree, other)]
    one = found[0] if len(found) == 1 else None
    return one if one and one.is_binding and one.role in LOCAL and is_visible(wanted, one) else None


def _is_known(name: str) -> bool:
    """Whether a name is made of common words alone."""
    known = common_words()
    return all(len(one) < 3 or one in known for one in words(name))


def _edits(wanted: Wanted, name: str, other: str) -> tuple[Edit, ...]:
    places = [wanted.here.span]
    if wanted.language in FIRST_ONLY and wanted.here.role in ("value", "type"):
        scope = wanted.here.scope if wanted.here.scope_kind == "function" else Span(0, 0)
        found = [*find_occurrences(wanted.tree, name, scope)]
        if not any(one.is_binding for one in found):
            places = [one.span for one in found if one.role == wanted.here.role] or places
    return tuple(Edit(*span, encode(other)) for span in places)
