"""What a misspelt name must have been at its place, and how well another name of the file fits there.

A fit is a cost that is added to that of the slip: 0 for a name that is surely in scope and of the right kind, more for one that
is further away, of another kind or hardly used, None for one that cannot be meant.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from lsp_harness.syntax.names.occurrences import (
    Occurrence,
    ScopeKind,
    class_names_around,
    find_occurrences,
    occurrence_at,
    scopes_around,
)
from lsp_harness.syntax.tree import SyntaxTree
from lsp_harness.text.position import Span

SELF = frozenset({"self", "this", "cls", "$this", "static", "Self", "@", "super", "super()", "base", "parent"})
"""Receivers that stand for the class around."""
UNBOUND = 0.1
"""What is added for a name that the file uses and does not bind: a builtin, or a name of another file."""
ELSEWHERE = 0.3
"""What is added for a name whose binding is in another place, but that is used in the same function."""
LATER = 0.3
"""What is added for a variable that is only set further down."""
SEEN_ONCE = 0.3
"""What is added for a name that is written once and bound nowhere: it may be misspelt itself."""
UNUSED = -0.2
"""What is added for a binding that nothing uses yet: the misspelt name is likely its use."""
OTHER_KIND = 0.35
"""What is added for a variable where a function is wanted, a value where a type is, and so on."""
LEVEL = 0.03
"""What is added for each function or class between the place and the scope of a binding."""
OTHER_RECEIVER = 0.2
OTHER_CLASS = 0.35
KEY = 0.3
"""What is added for a member that is known as the key of an object alone."""
SAME_NAME, LONG_ENOUGH = 0.5, 5
"""What is added for a member of whose name only variables are known, and the letters that it must have."""
SAME_USE, SAME_MEMBER = -0.1, -0.3
"""What is added for a name that is followed by the same text elsewhere: `[`, and by the same member: `.append`."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """The place of a misspelt name.

    `here` is the name's occurrence, `scopes` are the functions and classes around it, the innermost first, `classes` the names
    of the classes around.
    """

    tree: SyntaxTree
    here: Occurrence
    scopes: tuple[tuple[Span, ScopeKind], ...]
    classes: tuple[str, ...]
    sigil: bool
    """Whether it is a variable of PHP."""

    @property
    def at(self) -> int:
        return self.here.span.start

    @property
    def language(self) -> str:
        return self.tree.language.id

    @property
    def of_self(self) -> bool:
        """Whether it is a member of the class around."""
        return self.here.receiver in SELF


def wanted_at(tree: SyntaxTree, span: Span) -> Wanted | None:
    """The place of the name in these bytes; None where they are no name of the code."""
    here = occurrence_at(tree, span)
    if here is None:
        return None
    scopes = tuple(scopes_around(tree, span.start))
    return Wanted(tree, here, scopes, tuple(class_names_around(tree, span.start)), _sigil(tree, span))


def fit(wanted: Wanted, name: str) -> float | None:
    """How well a name that the file has fits at a place; None where it does not."""
    found = [*find_occurrences(wanted.tree, name)]
    if not found:
        return None
    if wanted.here.role == "member":
        cost = _member_fit(wanted, found)
    elif wanted.here.role == "key":
        cost = _key_fit(wanted, found)
    else:
        cost = bare_fit(wanted, found)
    if cost is None:
        return None
    followed = wanted.here.suffix
    if followed in (b"", b"(") or not any(one.suffix == followed for one in found):
        return cost
    return cost + (SAME_MEMBER if followed[:1] in b".?:-" and followed[-1:].isalnum() else SAME_USE)


def bare_fit(wanted: Wanted, found: Sequence[Occurrence]) -> float | None:
    """The fit of a name with nothing before it."""
    if wanted.language == "php":
        found = [one for one in found if _sigil(wanted.tree, one.span) == wanted.sigil]
    visible = [one for one in found if one.is_binding and is_visible(wanted, one)]
    uses = [one for one in found if one.role in ("value", "type", "import") or _is_own(wanted, one)]
    if visible:
        return _visible_fit(wanted, visible, uses) + _kind_fit(wanted, visible, uses)
    # a method that the class has from another one
    member = (
        wanted.tree.language.names.has_bare_members
        and wanted.here.is_called
        and any(one.role == "member" for one in found)
    )
    if wanted.language == "ruby" and _is_attribute(wanted.tree, found[0]):
        return 0.0
    if any(one.is_binding for one in found):
        # bound where it cannot be seen from here, as far as the tree tells
        same = [one for one in uses if one.scope == wanted.here.scope]
        return ELSEWHERE + _kind_fit(wanted, [], uses) if len(same) > 1 else OTHER_CLASS if member else None
    if not uses:
        return OTHER_CLASS if member else None
    return UNBOUND + SEEN_ONCE * (len(uses) == 1) + _kind_fit(wanted, [], uses)


def _is_own(wanted: Wanted, one: Occurrence) -> bool:
    """A member of the class around, in a language where its bare name means the same."""
    return wanted.tree.language.names.has_bare_members and one.role == "member" and one.receiver in SELF - {"@"}


def _is_attribute(tree: SyntaxTree, one: Occurrence) -> bool:
    """Whether a name of Ruby is a method by `attr_reader` or the like."""
    name = re.escape(tree.data[one.span.start : one.span.end].lstrip(b":@"))
    return re.search(rb"\battr_(?:reader|accessor)\b(?:[^\n]|,\s*\n)*:%s\b" % name, tree.data) is not None


def is_visible(wanted: Wanted, binding: Occurrence) -> bool:
    """Whether a binding is in scope at the place, by nothing but its name."""
    if not binding.scope.start <= wanted.at < max(binding.scope.end, binding.scope.start + 1):
        return binding.scope_kind == "file"
    if binding.scope_kind != "class":
        return True
    return wanted.tree.language.names.has_bare_members or wanted.scopes[0][0] == binding.scope


def _visible_fit(wanted: Wanted, visible: Sequence[Occurrence], uses: Sequence[Occurrence]) -> float:
    innermost = min(visible, key=lambda one: one.scope.end - one.scope.start)
    levels = sum(1 for span, _ in wanted.scopes if span.end - span.start < innermost.scope.end - innermost.scope.start)
    cost = LEVEL * levels
    local = innermost.role == "variable" and innermost.scope_kind == "function"
    if local and not any(_is_before(wanted, one) for one in visible):
        cost += LATER
    if not uses and innermost.role in ("variable", "import") and (local or innermost.role == "import"):
        cost += UNUSED
    elif not uses and innermost.role == "parameter":
        cost += UNUSED / 2
    return cost


def _is_before(wanted: Wanted, binding: Occurrence) -> bool:
    """Whether a variable is set before the place, and not by the statement that the place is in."""
    if binding.span.start > wanted.at:
        return False
    document = wanted.tree.document
    same_line = document.line_of(binding.span.start) == document.line_of(wanted.at)
    between = wanted.tree.data[binding.span.end : wanted.at]
    return not same_line or b"=" not in between.replace(b"=>", b"") or b";" in between or b"for" in between


def _kind_fit(wanted: Wanted, bound: Sequence[Occurrence], uses: Sequence[Occurrence]) -> float:
    roles = {one.role for one in bound}
    if wanted.here.role == "type":
        as_type = bool(roles & {"class", "import"}) or any(one.role == "type" for one in uses)
        return 0.0 if as_type else OTHER_KIND + 0.2
    if wanted.here.is_called:
        callable_ = bool(roles & {"function", "class", "import", "parameter"}) or any(one.is_called for one in uses)
        return 0.0 if callable_ else OTHER_KIND
    if roles == {"function"} and not any(one.role == "value" and not one.is_called for one in uses):
        return OTHER_KIND / 2
    if not roles and uses and all(one.is_called or one.role == "type" for one in uses):
        return OTHER_KIND / 2
    return 0.0


def _member_fit(wanted: Wanted, found: Sequence[Occurrence]) -> float | None:
    costs: list[float] = []
    receiver = wanted.here.receiver
    for one in found:
        if one.role == "member":
            if one.receiver == receiver or (wanted.of_self and one.receiver in SELF):
                same_class = not wanted.of_self or class_names_around(wanted.tree, one.span.start)[:1] == list(
                    wanted.classes[:1]
                )
                costs.append(0.0 if same_class else OTHER_CLASS)
            else:
                costs.append(OTHER_CLASS if wanted.of_self else OTHER_RECEIVER)
        elif one.is_binding and (one.scope_kind == "class" or _owned(wanted, one)):
            owner = class_names_around(wanted.tree, one.span.start)[:1]
            if wanted.of_self:
                costs.append(0.0 if owner == list(wanted.classes[:1]) else OTHER_CLASS)
            else:
                costs.append(0.0 if owner == [receiver] else OTHER_RECEIVER - 0.05)
        elif one.role == "key":
            costs.append(KEY)
    if not costs:
        # a member may be called as a variable is that it is given to
        named = any(one.role in ("value", "parameter", "variable") and not one.is_called for one in found)
        return SAME_NAME if named and len(wanted.tree.data[slice(*found[0].span)]) >= LONG_ENOUGH else None
    kind = 0.0
    if wanted.here.is_called and not any(one.is_called or one.role == "function" for one in found):
        kind = OTHER_KIND / 2
    return min(costs) + kind + (0.15 if len(costs) == 1 and not any(one.is_binding for one in found) else 0.0)


def _owned(wanted: Wanted, one: Occurrence) -> bool:
    """A method that stands outside of its class: of Go by its receiver, of C++ by the name before it."""
    return wanted.language in ("go", "cpp", "rust") and one.role == "function"


def _key_fit(wanted: Wanted, found: Sequence[Occurrence]) -> float | None:
    if any(one.role == "key" for one in found):
        return 0.1
    if any(one.is_binding and one.scope_kind == "class" for one in found):
        return 0.15
    return 0.35 if any(one.role in ("parameter", "member") for one in found) else None


def _sigil(tree: SyntaxTree, span: Span) -> bool:
    return tree.language.id == "php" and tree.data[span.start - 1 : span.start] == b"$"
