"""The nodes where each grammar has the uses of names, the members, the types and the typed declarations.

A use is named by the type of the parent and the field that the name is in (`*` is any, `0` the first child). What is
listed is surely a use and no declaration; what is not listed is never mutated.
"""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Grammar:
    """The node types of one language."""

    names: frozenset[str]
    """Leaves that are names of values."""
    uses: dict[str, str]
    """Parent type to fields (space separated) in which a name is read."""
    calls: dict[str, str]
    """Parent type to the field of a name that is called as a plain function."""
    types: dict[str, str] = field(default_factory=dict[str, str])
    """Parent type to fields in which a `type_name` leaf is a type."""
    type_names: frozenset[str] = frozenset()
    members: dict[str, tuple[str, str]] = field(default_factory=dict[str, tuple[str, str]])
    """Type of an access to the fields of its receiver and its name."""
    typed: dict[str, tuple[str, str]] = field(default_factory=dict[str, tuple[str, str]])
    """Type of a declaration to the fields of its name and its type."""
    classes: dict[str, str] = field(default_factory=dict[str, str])
    """Type of a class-like declaration to the field of its name."""
    functions: tuple[str, ...] = ()
    quoted: tuple[str, ...] = ()
    """Types of string literals."""


_BINARY = "left right"
_JAVASCRIPT = {
    "arguments": "*",
    "member_expression": "object",
    "binary_expression": _BINARY,
    "return_statement": "*",
    "subscript_expression": "object index",
    "variable_declarator": "value",
    "assignment_expression": "right",
    "parenthesized_expression": "*",
    "unary_expression": "argument",
    "ternary_expression": "*",
    "pair": "value",
    "template_substitution": "*",
    "spread_element": "*",
    "array": "*",
    "await_expression": "*",
}
_JS = Grammar(
    frozenset({"identifier"}),
    _JAVASCRIPT,
    {"call_expression": "function"},
    {"new_expression": "constructor", "class_heritage": "*", "extends_clause": "value"},
    frozenset({"identifier"}),
    {"member_expression": ("object", "property")},
    {},
    {"class_declaration": "name", "class": "name"},
    ("function_declaration", "method_definition", "function_expression", "arrow_function"),
    ("string",),
)

GRAMMARS: dict[str, Grammar] = {
    "python": Grammar(
        frozenset({"identifier"}),
        {
            "argument_list": "*",
            "binary_operator": _BINARY,
            "comparison_operator": "*",
            "boolean_operator": _BINARY,
            "return_statement": "*",
            "subscript": "value subscript",
            "attribute": "object",
            "assignment": "right",
            "augmented_assignment": "right",
            "if_statement": "condition",
            "while_statement": "condition",
            "not_operator": "argument",
            "keyword_argument": "value",
            "list": "*",
            "pair": "value",
            "interpolation": "expression",
            "for_statement": "right",
            "await": "*",
        },
        {"call": "function"},
        {"type": "*"},
        frozenset({"identifier"}),
        {"attribute": ("object", "attribute")},
        {},
        {"class_definition": "name"},
        ("function_definition",),
        ("string",),
    ),
    "javascript": _JS,
    "typescript": Grammar(
        _JS.names,
        _JAVASCRIPT,
        _JS.calls,
        {
            "type_annotation": "*",
            "generic_type": "name",
            "type_arguments": "*",
            "union_type": "*",
            "array_type": "*",
            "extends_clause": "value",
            "implements_clause": "*",
        },
        frozenset({"type_identifier"}),
        _JS.members,
        {
            "required_parameter": ("pattern", "type"),
            "optional_parameter": ("pattern", "type"),
            "variable_declarator": ("name", "type"),
        },
        {"class_declaration": "name", "abstract_class_declaration": "name"},
        _JS.functions,
        ("string",),
    ),
    "go": Grammar(
        frozenset({"identifier"}),
        {
            "argument_list": "*",
            "selector_expression": "operand",
            "binary_expression": _BINARY,
            "index_expression": "operand index",
            "slice_expression": "operand start end",
            "unary_expression": "operand",
            "parenthesized_expression": "*",
            "range_clause": "right",
            "if_statement": "condition",
        },
        {"call_expression": "function"},
        {
            "parameter_declaration": "type",
            "pointer_type": "*",
            "slice_type": "element",
            "composite_literal": "type",
            "field_declaration": "type",
            "var_spec": "type",
            "map_type": "value",
        },
        frozenset({"type_identifier"}),
        {"selector_expression": ("operand", "field")},
        {"parameter_declaration": ("name", "type"), "var_spec": ("name", "type")},
        {"type_spec": "name"},
        ("function_declaration", "method_declaration"),
        ("interpreted_string_literal",),
    ),
    "rust": Grammar(
        frozenset({"identifier"}),
        {
            "arguments": "*",
            "field_expression": "value",
            "binary_expression": _BINARY,
            "reference_expression": "value",
            "let_declaration": "value",
            "return_expression": "*",
            "unary_expression": "*",
            "index_expression": "*",
            "if_expression": "condition",
            "match_expression": "value",
            "try_expression": "*",
            "parenthesized_expression": "*",
            "assignment_expression": "right",
        },
        {"call_expression": "function"},
        {
            "parameter": "type",
            "reference_type": "type",
            "generic_type": "type",
            "type_arguments": "*",
            "function_item": "return_type",
            "field_declaration": "type",
            "let_declaration": "type",
        },
        frozenset({"type_identifier"}),
        {"field_expression": ("value", "field")},
        {"parameter": ("pattern", "type"), "let_declaration": ("pattern", "type")},
        {"impl_item": "type", "trait_item": "name"},
        ("function_item",),
        ("string_literal",),
    ),
    "java": Grammar(
        frozenset({"identifier"}),
        {
            "argument_list": "*",
            "method_invocation": "object",
            "field_access": "object",
            "binary_expression": _BINARY,
            "return_statement": "*",
            "array_access": "array index",
            "assignment_expression": "right",
            "variable_declarator": "value",
            "parenthesized_expression": "*",
            "unary_expression": "operand",
            "ternary_expression": "*",
            "enhanced_for_statement": "value",
            "cast_expression": "value",
        },
        {"method_invocation": "name"},
        {
            "formal_parameter": "type",
            "local_variable_declaration": "type",
            "field_declaration": "type",
            "method_declaration": "type",
            "object_creation_expression": "type",
            "generic_type": "*",
            "type_arguments": "*",
            "superclass": "*",
            "cast_expression": "type",
        },
        frozenset({"type_identifier"}),
        {"method_invocation": ("object", "name"), "field_access": ("object", "field")},
        {"formal_parameter": ("name", "type"), "local_variable_declaration": ("name", "type")},
        {"class_declaration": "name", "interface_declaration": "name", "enum_declaration": "name"},
        ("method_declaration", "constructor_declaration"),
        ("string_literal",),
    ),
    "csharp": Grammar(
        frozenset({"identifier"}),
        {
            "argument": "*",
            "member_access_expression": "expression",
            "binary_expression": _BINARY,
            "return_statement": "*",
            "element_access_expression": "expression",
            "assignment_expression": "right",
            "parenthesized_expression": "*",
            "prefix_unary_expression": "*",
            "conditional_expression": "*",
            "foreach_statement": "right",
            "cast_expression": "value",
        },
        {"invocation_expression": "function"},
        {
            "parameter": "type",
            "variable_declaration": "type",
            "method_declaration": "returns",
            "object_creation_expression": "type",
            "base_list": "*",
            "cast_expression": "type",
            "property_declaration": "type",
            "type_argument_list": "*",
        },
        frozenset({"identifier"}),
        {"member_access_expression": ("expression", "name")},
        {"parameter": ("name", "type"), "variable_declaration": ("name", "type")},
        {"class_declaration": "name", "struct_declaration": "name", "interface_declaration": "name"},
        ("method_declaration", "constructor_declaration"),
        ("string_literal",),
    ),
    "php": Grammar(
        frozenset({"variable_name"}),
        {
            "argument": "*",
            "binary_expression": _BINARY,
            "return_statement": "*",
            "member_access_expression": "object",
            "member_call_expression": "object",
            "subscript_expression": "*",
            "assignment_expression": "right",
            "parenthesized_expression": "*",
            "foreach_statement": "0",
            "encapsed_string": "*",
            "unary_op_expression": "*",
            "conditional_expression": "*",
        },
        {"function_call_expression": "function"},
        {
            "named_type": "*",
            "object_creation_expression": "*",
            "scoped_call_expression": "scope",
            "class_constant_access_expression": "0",
            "base_clause": "*",
            "class_interface_clause": "*",
        },
        frozenset({"name"}),
        {"member_call_expression": ("object", "name"), "member_access_expression": ("object", "name")},
        {"simple_parameter": ("name", "type")},
        {"class_declaration": "name", "interface_declaration": "name", "trait_declaration": "name"},
        ("function_definition", "method_declaration"),
        ("string", "encapsed_string"),
    ),
    "ruby": Grammar(
        frozenset({"identifier"}),
        {
            "argument_list": "*",
            "binary": _BINARY,
            "call": "receiver",
            "assignment": "right",
            "element_reference": "*",
            "interpolation": "*",
            "if": "condition",
            "unless": "condition",
            "unary": "operand",
            "array": "*",
        },
        {"call": "method"},
        {"superclass": "*", "scope_resolution": "scope", "call": "receiver", "argument_list": "*"},
        frozenset({"constant"}),
        {"call": ("receiver", "method")},
        {},
        {"class": "name", "module": "name"},
        ("method", "singleton_method"),
        ("string",),
    ),
}
