"""The place of a misspelt name, and how well another name of the file fits there.

The fit is a cost that is added to the cost of the misspelling. It is 0 for a name that is certainly in scope and of the
right kind. It is higher for a name that is bound further away, is of another kind or is hardly used. It is None for a
name that cannot be intended.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from lsp_harness.languages.language_spec import LanguageSpec
from lsp_harness.syntax.names.occurrences import (
    Occurrence,
    ScopeKind,
    class_names_around,
    find_occurrences,
    occurrence_at,
    scopes_around,
)
from lsp_harness.syntax.tree import SyntaxTree
from lsp_harness.text.position import Span, encode

OWN_RECEIVERS = frozenset({"self", "this", "cls", "$this", "static", "Self", "@", "super", "super()", "base", "parent"})
"""Receivers that denote the enclosing class or its instance."""
UNBOUND_COST = 0.1
"""Cost of a name that the file uses and does not bind: a builtin, or a name of another file."""
OTHER_SCOPE_COST = 0.3
"""Cost of a name whose binding is not visible, but that is used in the same function."""
LATER_BINDING_COST = 0.3
"""Cost of a variable that is bound only after the place."""
SINGLE_USE_COST = 0.3
"""Cost of a name that occurs once and is bound nowhere. It may be misspelt itself."""
SINGLE_MEMBER_USE_COST = 0.15
"""Cost of a member that occurs once and is bound nowhere."""
UNUSED_BINDING_COST = -0.2
"""Cost of a binding that nothing uses yet. The misspelt name is probably its use."""
OTHER_KIND_COST = 0.35
"""Cost of a name of another kind, for example a variable in the place of a function, or a value in the place of a
type."""
LEVEL_COST = 0.03
"""Cost of each function or class between the place and the scope of a binding."""
OTHER_RECEIVER_COST = 0.2
"""Cost of a member that occurs only with another receiver."""
OTHER_CLASS_COST = 0.35
"""Cost of a member of another class."""
KEY_COST = 0.3
"""Cost of a member that is known only as the key of an object."""
VARIABLE_NAME_COST, MIN_VARIABLE_NAME_LENGTH = 0.5, 5
"""Cost of a member of whose name only variables are known, and the minimum length of such a name."""
SAME_SUFFIX_COST, SAME_MEMBER_COST = -0.1, -0.3
"""Cost of a name that is followed elsewhere by the same operator (`[`), and by the same member (`.append`)."""


@dataclass(frozen=True, slots=True)
class NamePlace:
    """A misspelt name in a syntax tree, with the functions and classes that contain it.

    Attributes:
        tree: The syntax tree of the text.
        occurrence: The occurrence of the name.
        scopes: The byte spans and kinds of the enclosing functions and classes, the innermost first.
        class_names: The names of the enclosing classes, the innermost first.
        has_sigil: Whether the name is a variable of PHP, which begins with `$`.
    """

    tree: SyntaxTree
    occurrence: Occurrence
    scopes: tuple[tuple[Span, ScopeKind], ...]
    class_names: tuple[str, ...]
    has_sigil: bool

    @property
    def offset(self) -> int:
        """The byte offset of the name."""
        return self.occurrence.span.start

    @property
    def language(self) -> LanguageSpec:
        return self.tree.language

    @property
    def is_own_member(self) -> bool:
        """The name is a member of the enclosing class."""
        return self.occurrence.receiver in OWN_RECEIVERS


def name_place_at(tree: SyntaxTree, span: Span) -> NamePlace | None:
    """Return the place of the name at a byte span, or None if no name of the code is there."""
    occurrence = occurrence_at(tree, span)
    if occurrence is None:
        return None
    scopes = tuple(scopes_around(tree, span.start))
    return NamePlace(tree, occurrence, scopes, tuple(class_names_around(tree, span.start)), _has_sigil(tree, span))


def fit_cost(place: NamePlace, name: str) -> float | None:
    """Return the cost of a name of the file at a place, or None if it does not fit there."""
    occurrences = [*find_occurrences(place.tree, name)]
    if not occurrences:
        return None
    if place.occurrence.role == "member":
        cost = _member_cost(place, occurrences)
    elif place.occurrence.role == "key":
        cost = _key_cost(place, occurrences)
    else:
        cost = rate_bare_name(place, occurrences)
    if cost is None:
        return None
    suffix = place.occurrence.suffix
    if suffix in (b"", b"(") or not any(occurrence.suffix == suffix for occurrence in occurrences):
        return cost
    return cost + (SAME_MEMBER_COST if suffix[:1] in b".?:-" and suffix[-1:].isalnum() else SAME_SUFFIX_COST)


def rate_bare_name(place: NamePlace, occurrences: Sequence[Occurrence]) -> float | None:
    """Return the cost of a name without a receiver, given its occurrences in the file."""
    if place.language.names.sigil:
        occurrences = [
            occurrence for occurrence in occurrences if _has_sigil(place.tree, occurrence.span) == place.has_sigil
        ]
    visible_bindings = [
        occurrence for occurrence in occurrences if occurrence.is_binding and is_visible(place, occurrence)
    ]
    uses = [
        occurrence
        for occurrence in occurrences
        if occurrence.role in ("value", "type", "import") or _is_own_member(place, occurrence)
    ]
    if visible_bindings:
        return _visible_name_cost(place, visible_bindings, uses) + _kind_cost(place, visible_bindings, uses)
    # The class may inherit the method from another class.
    is_inherited_method = (
        place.language.names.has_bare_members
        and place.occurrence.is_called
        and any(occurrence.role == "member" for occurrence in occurrences)
    )
    if place.language.names.member_sigil and _is_attribute(place.tree, occurrences[0]):
        return 0.0
    if any(occurrence.is_binding for occurrence in occurrences):
        # As far as the tree shows, the binding is not visible at the place.
        if sum(occurrence.scope == place.occurrence.scope for occurrence in uses) > 1:
            return OTHER_SCOPE_COST + _kind_cost(place, [], uses)
        return OTHER_CLASS_COST if is_inherited_method else None
    if not uses:
        return OTHER_CLASS_COST if is_inherited_method else None
    return UNBOUND_COST + SINGLE_USE_COST * (len(uses) == 1) + _kind_cost(place, [], uses)


def _is_own_member(place: NamePlace, occurrence: Occurrence) -> bool:
    """Return whether an occurrence is a member of the enclosing class that may be written without its receiver."""
    return (
        place.language.names.has_bare_members
        and occurrence.role == "member"
        and occurrence.receiver in OWN_RECEIVERS - {"@"}
    )


def _is_attribute(tree: SyntaxTree, occurrence: Occurrence) -> bool:
    """Return whether `attr_reader` or `attr_accessor` of Ruby defines a method with this name."""
    name = re.escape(tree.data[occurrence.span.start : occurrence.span.end].lstrip(b":@"))
    return re.search(rb"\battr_(?:reader|accessor)\b(?:[^\n]|,\s*\n)*:%s\b" % name, tree.data) is not None


def is_visible(place: NamePlace, binding: Occurrence) -> bool:
    """Return whether a binding is in scope at the place without a receiver."""
    if not binding.scope.start <= place.offset < max(binding.scope.end, binding.scope.start + 1):
        return binding.scope_kind == "file"
    if binding.scope_kind != "class":
        return True
    return place.language.names.has_bare_members or place.scopes[0][0] == binding.scope


def _visible_name_cost(place: NamePlace, bindings: Sequence[Occurrence], uses: Sequence[Occurrence]) -> float:
    innermost = min(bindings, key=lambda binding: binding.scope.end - binding.scope.start)
    levels = sum(1 for span, _ in place.scopes if span.end - span.start < innermost.scope.end - innermost.scope.start)
    cost = LEVEL_COST * levels
    is_local_variable = innermost.role == "variable" and innermost.scope_kind == "function"
    if is_local_variable and not any(_is_before(place, binding) for binding in bindings):
        cost += LATER_BINDING_COST
    if not uses and innermost.role in ("variable", "import") and (is_local_variable or innermost.role == "import"):
        cost += UNUSED_BINDING_COST
    elif not uses and innermost.role == "parameter":
        cost += UNUSED_BINDING_COST / 2
    return cost


def _is_before(place: NamePlace, binding: Occurrence) -> bool:
    """Return whether a variable is bound before the place, and not by the statement around the place."""
    if binding.span.start > place.offset:
        return False
    document = place.tree.document
    is_same_line = document.line_of(binding.span.start) == document.line_of(place.offset)
    text_between = place.tree.data[binding.span.end : place.offset]
    return (
        not is_same_line
        or b"=" not in text_between.replace(b"=>", b"")
        or b";" in text_between
        or b"for" in text_between
    )


def _kind_cost(place: NamePlace, bindings: Sequence[Occurrence], uses: Sequence[Occurrence]) -> float:
    roles = {binding.role for binding in bindings}
    if place.occurrence.role == "type":
        is_type = bool(roles & {"class", "import"}) or any(use.role == "type" for use in uses)
        return 0.0 if is_type else OTHER_KIND_COST + 0.2
    if place.occurrence.is_called:
        is_callable = bool(roles & {"function", "class", "import", "parameter"}) or any(use.is_called for use in uses)
        return 0.0 if is_callable else OTHER_KIND_COST
    if roles == {"function"} and not any(use.role == "value" and not use.is_called for use in uses):
        return OTHER_KIND_COST / 2
    if not roles and uses and all(use.is_called or use.role == "type" for use in uses):
        return OTHER_KIND_COST / 2
    return 0.0


def _member_cost(place: NamePlace, occurrences: Sequence[Occurrence]) -> float | None:
    costs: list[float] = []
    receiver = place.occurrence.receiver
    for occurrence in occurrences:
        if occurrence.role == "member":
            if occurrence.receiver == receiver or (place.is_own_member and occurrence.receiver in OWN_RECEIVERS):
                owner = class_names_around(place.tree, occurrence.span.start)[:1]
                is_same_class = not place.is_own_member or owner == list(place.class_names[:1])
                costs.append(0.0 if is_same_class else OTHER_CLASS_COST)
            else:
                costs.append(OTHER_CLASS_COST if place.is_own_member else OTHER_RECEIVER_COST)
        elif occurrence.is_binding and (occurrence.scope_kind == "class" or _is_outside_class(place, occurrence)):
            owner = class_names_around(place.tree, occurrence.span.start)[:1]
            if place.is_own_member:
                costs.append(0.0 if owner == list(place.class_names[:1]) else OTHER_CLASS_COST)
            else:
                costs.append(0.0 if owner == [receiver] else OTHER_RECEIVER_COST - 0.05)
        elif occurrence.role == "key":
            costs.append(KEY_COST)
    if not costs:
        # A member often has the name of the variable that it is assigned to.
        has_variable = any(
            occurrence.role in ("value", "parameter", "variable") and not occurrence.is_called
            for occurrence in occurrences
        )
        is_long_enough = len(place.tree.data[slice(*occurrences[0].span)]) >= MIN_VARIABLE_NAME_LENGTH
        return VARIABLE_NAME_COST if has_variable and is_long_enough else None
    is_function = any(occurrence.is_called or occurrence.role == "function" for occurrence in occurrences)
    is_bound = any(occurrence.is_binding for occurrence in occurrences)
    kind_cost = OTHER_KIND_COST / 2 if place.occurrence.is_called and not is_function else 0.0
    single_use_cost = SINGLE_MEMBER_USE_COST if len(costs) == 1 and not is_bound else 0.0
    return min(costs) + kind_cost + single_use_cost


def _is_outside_class(place: NamePlace, occurrence: Occurrence) -> bool:
    """Return whether an occurrence is a method that is declared outside its class, as in Go, C++ and Rust."""
    return place.language.declarations.members_outside_types and occurrence.role == "function"


def _key_cost(place: NamePlace, occurrences: Sequence[Occurrence]) -> float | None:
    if any(occurrence.role == "key" for occurrence in occurrences):
        return 0.1
    if any(occurrence.is_binding and occurrence.scope_kind == "class" for occurrence in occurrences):
        return 0.15
    return 0.35 if any(occurrence.role in ("parameter", "member") for occurrence in occurrences) else None


def _has_sigil(tree: SyntaxTree, span: Span) -> bool:
    return tree.data[span.start - 1 : span.start] == encode(tree.language.names.sigil) != b""
