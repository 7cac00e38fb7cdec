"""Traits of names: which nodes bind them, where they are visible, and how members and unused names are written."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Binding = Literal["variable", "parameter", "function", "class", "import"]
Binders = Mapping[str, Mapping[str, Binding]]


@dataclass(frozen=True, slots=True)
class NameTraits:
    """The rules of names in a language."""

    binders: Binders = field(default_factory=dict[str, Mapping[str, Binding]])
    """For types of nodes whose bindings differ from other languages, the fields that bind names and their kinds."""
    body_required: frozenset[str] = frozenset()
    """Types of nodes that bind their name only if they have a body."""
    import_statements_bind: bool = False
    """Whether a node `import_statement` binds names directly, without nodes for each name."""
    visible_roles: frozenset[Binding] = frozenset()
    """Roles of bindings that make a name visible in the whole file. If it is empty, nothing is known."""
    must_declare_above: bool = False
    """Whether a name is visible only below its declaration."""
    types_are_values: bool = False
    """Whether the name of a type is also a value."""
    non_access_operators: frozenset[str] = frozenset()
    """Tokens that precede a member in other languages, but not in this one."""
    paths_bind_last_part: bool = False
    """Whether an import of a path binds the last part of the path."""
    has_block_functions: bool = False
    """Whether a block may have parameters and is a scope of its own."""
    is_block_scoped: bool = False
    """Whether blocks have their own variables."""
    has_bare_members: bool = False
    """Whether a method sees the members of its class without a receiver."""
    type_fields: tuple[str, ...] = ()
    """Fields of nodes that contain a type in this grammar only."""
    global_names: frozenset[str] | None = None
    """Names that are bound without a declaration. None means that a bare name may come from another file."""
    binding_keyword: str = ""
    """The keyword that binds a local variable; empty if there is none."""
    loop_head: str = ""
    """The start of a loop over values that binds `{name}`."""
    function_keyword: str = ""
    """The keyword before the name of a function, in a language whose functions may stand inside of others."""
    calls_need_bindings: bool = False
    """Whether every called or capitalized name is declared or imported in its file."""
    common_receivers: Mapping[str, str] = field(default_factory=dict[str, str])
    """Receivers such as `base`, with the name that most languages use for them."""
    has_function_namespace: bool = False
    """Whether a variable does not hide a function with the same name."""
    assignments_declare: bool = False
    """Whether an assignment declares its variable."""
    allows_underscore: bool = False
    """Whether tools do not report an unused name that starts with an underscore."""
    parameters_are_keywords: bool = False
    """Whether callers may use the names of parameters, so that they cannot be renamed."""
    prefers_underscore: bool = False
    """Whether the compiler proposes an underscore for an unused variable rather than its removal."""
    self_name: str = ""
    """The receiver that a method needs for the members of its class; empty if it needs none."""
    sigil: str = ""
    """The sign before the name of every variable."""
    member_sigil: str = ""
    """The sign before the name of every variable of an object."""
    declaring_sign: str = ""
    """The sign that declares a variable, in a language in which `=` only assigns."""
    has_common_members: bool = False
    """Whether most members that the language defines exist on every object."""
    reports_first_use_only: bool = False
    """Whether compilers report only the first use of an unknown name in a function."""
    blank_name: str = ""
    """The name that takes a value that nothing uses, in a language that forbids unused variables."""
