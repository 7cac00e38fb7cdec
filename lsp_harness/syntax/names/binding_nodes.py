"""The types of nodes that bind names, for every language that has queries in `grammars/queries`.

A type of node means the same in most grammars that have it, so that one table serves all languages. The exceptions are
traits of the languages.
"""

from collections.abc import Mapping

from tree_sitter import Node

from lsp_harness.languages.traits import Binding, NameTraits

FUNCTION_NODES = frozenset(
    {"function_definition", "lambda", "function_declaration", "generator_function_declaration", "function_expression"}
    | {"generator_function", "arrow_function", "method_definition", "function_signature", "method_signature"}
    | {"method_declaration", "func_literal", "function_item", "closure_expression", "constructor_declaration"}
    | {"compact_constructor_declaration", "lambda_expression", "destructor_declaration", "operator_declaration"}
    | {"local_function_statement", "anonymous_method_expression", "anonymous_function", "method", "singleton_method"}
    | {"function_signature_item", "indexer_declaration", "property_declaration_body", "accessor_declaration"}
    | {"type_alias_declaration", "delegate_declaration", "abstract_method_signature", "conversion_operator_declaration"}
)
CLASS_NODES = frozenset(
    {"class_definition", "class_declaration", "class", "abstract_class_declaration", "interface_declaration"}
    | {"enum_declaration", "impl_item", "trait_item", "struct_item", "enum_item", "union_item"}
    | {
        "record_declaration",
        "annotation_type_declaration",
        "struct_declaration",
        "trait_declaration",
        "singleton_class",
    }
    | {"struct_specifier", "union_specifier", "class_specifier", "type_spec", "object_type"}
    | {"record_struct_declaration", "interface_type", "struct_type"}
)
"""Nodes whose names are members. A module inside of a file (`mod` in Rust) is not listed, as its functions see its
names directly."""
BLOCK_NODES = frozenset(
    {"block", "statement_block", "compound_statement", "for_statement", "for_in_statement", "enhanced_for_statement"}
    | {"foreach_statement", "if_statement", "catch_clause", "match_arm", "for_expression", "if_expression"}
    | {"while_expression", "for_range_loop", "using_statement", "try_with_resources_statement", "constructor_body"}
    | {"switch_block_statement_group", "switch_rule", "switch_section", "expression_case", "type_case", "default_case"}
    | {"communication_case", "switch_case", "switch_default", "case_statement", "expression_switch_statement"}
    | {"type_switch_statement", "let_chain"}
)
"""Blocks with their own variables, in languages with the trait `is_block_scoped`."""
COMPREHENSION_NODES = frozenset(
    {"list_comprehension", "set_comprehension", "dictionary_comprehension", "generator_expression", "do_block"}
)
"""Nodes that have their own variables in languages whose blocks have none."""
IMPORT_NODES = frozenset(
    {"import_statement", "import_from_statement", "future_import_statement", "import_declaration", "import_spec"}
    | {"use_declaration", "using_directive", "namespace_use_declaration", "preproc_include", "package_declaration"}
    | {"package_clause", "namespace_name"}
)
KEY_FIELDS: Mapping[str, tuple[str]] = {
    "keyword_argument": ("name",),
    "pair": ("key",),
    "keyed_element": ("",),
    "field_initializer": ("field",),
    "field_pattern": ("name",),
    "pair_pattern": ("key",),
    "field_designator": ("",),
    "argument": ("name",),
    "name_colon": ("name",),
    "jsx_attribute": ("",),
    "element_value_pair": ("key",),
}
"""Type of a node with a key → the field of the key. An empty text stands for the first child."""
TYPE_NODES = frozenset(
    {"type", "named_type", "type_argument_list", "base_list", "nullable_type", "array_type", "type_annotation"}
    | {"type_arguments", "attribute_item", "base_clause", "class_interface_clause", "superclass", "type_list"}
    | {"optional_type", "union_type", "type_descriptor"}
)
NAME_PREFIXES = (b"@", b"@@", b"#", b":", b"$")
"""Prefixes that belong to a name in some grammars. They are not part of the name here."""


PATTERN_NODES = frozenset(
    {"tuple_pattern", "list_pattern", "pattern_list", "list_splat_pattern", "dictionary_splat_pattern", "array_pattern"}
    | {"typed_parameter", "default_parameter", "typed_default_parameter", "as_pattern_target", "tuple", "list"}
    | {"object_pattern", "rest_pattern", "pair_pattern", "assignment_pattern", "object_assignment_pattern"}
    | {"expression_list", "mut_pattern", "ref_pattern", "reference_pattern", "slice_pattern", "tuple_struct_pattern"}
    | {"struct_pattern", "field_pattern", "captured_pattern", "or_pattern", "match_pattern", "pointer_declarator"}
    | {"reference_declarator", "array_declarator", "init_declarator", "function_declarator", "parenthesized_declarator"}
    | {"variable_name", "left_assignment_list", "destructured_left_assignment", "rest_assignment", "by_ref"}
    | {"structured_binding_declarator", "parenthesized_variable_designation", "list_literal", "dotted_name"}
    | {"optional_parameter", "keyword_parameter", "splat_parameter", "hash_splat_parameter", "block_parameter"}
    | {"destructured_parameter", "reference_modifier", "import_specifier", "named_imports", "namespace_import"}
    | {"import_clause", "generic_type", "use_list", "scoped_use_list", "use_as_clause", "var_spec_list"}
    | {"use_wildcard", "type_annotation_pattern", "attributed_declarator", "splat_pattern"}
)
"""Nodes that may stand between a bound name and the node that binds it."""
NON_BINDING_FIELDS = (
    "value",
    "right",
    "type",
    "default_value",
    "size",
    "arguments",
    "path",
    "parameters",
    "subscript",
    "key",
)
"""Fields of pattern nodes that bind no names."""

_BINDERS: Mapping[str, Mapping[str, Binding]] = {
    # Python
    "named_expression": {"name": "variable"},
    "for_statement": {"left": "variable"},
    "for_in_clause": {"left": "variable"},
    "as_pattern": {"alias": "variable"},
    "parameters": {"": "parameter"},
    "lambda_parameters": {"": "parameter"},
    "function_definition": {"name": "function", "declarator": "function"},
    "class_definition": {"name": "class"},
    "aliased_import": {"alias": "import"},
    "import_statement": {"": "import"},
    "import_from_statement": {"name": "import"},
    "case_pattern": {"": "variable"},
    "type_alias_statement": {"left": "class"},
    # JavaScript, TypeScript
    "variable_declarator": {"name": "variable"},
    "for_in_statement": {"left": "variable"},
    "catch_clause": {"parameter": "variable", "name": "variable"},
    "arrow_function": {"parameter": "parameter"},
    "formal_parameters": {"": "parameter"},
    "required_parameter": {"pattern": "parameter", "name": "parameter"},
    "function_declaration": {"name": "function"},
    "generator_function_declaration": {"name": "function"},
    "function_expression": {"name": "function"},
    "method_definition": {"name": "function"},
    "public_field_definition": {"name": "variable"},
    "field_definition": {"property": "variable"},
    "property_signature": {"name": "variable"},
    "method_signature": {"name": "function"},
    "abstract_method_signature": {"name": "function"},
    "function_signature": {"name": "function"},
    "class_declaration": {"name": "class"},
    "class": {"name": "class"},
    "abstract_class_declaration": {"name": "class"},
    "interface_declaration": {"name": "class"},
    "enum_declaration": {"name": "class"},
    "type_alias_declaration": {"name": "class"},
    "internal_module": {"name": "class"},
    "type_parameter": {"name": "class", "": "class"},
    "enum_body": {"name": "variable"},
    "enum_assignment": {"name": "variable"},
    # Go
    "short_var_declaration": {"left": "variable"},
    "range_clause": {"left": "variable"},
    "receive_statement": {"left": "variable"},
    "type_switch_statement": {"alias": "variable"},
    "var_spec": {"name": "variable"},
    "const_spec": {"name": "variable"},
    "parameter_declaration": {"name": "parameter", "declarator": "parameter"},
    "variadic_parameter_declaration": {"name": "parameter", "declarator": "parameter"},
    "optional_parameter_declaration": {"declarator": "parameter"},
    "method_declaration": {"name": "function"},
    "method_elem": {"name": "function"},
    "type_spec": {"name": "class"},
    "type_alias": {"name": "class"},
    "import_spec": {"name": "import"},
    # Rust
    "let_declaration": {"pattern": "variable"},
    "let_condition": {"pattern": "variable"},
    "parameter": {"pattern": "parameter", "name": "parameter"},
    "closure_parameters": {"": "parameter"},
    "for_expression": {"pattern": "variable"},
    "match_arm": {"pattern": "variable"},
    "function_item": {"name": "function"},
    "function_signature_item": {"name": "function"},
    "struct_item": {"name": "class"},
    "enum_item": {"name": "class"},
    "union_item": {"name": "class"},
    "trait_item": {"name": "class"},
    "type_item": {"name": "class"},
    "mod_item": {"name": "class"},
    "associated_type": {"name": "class"},
    "const_item": {"name": "variable"},
    "static_item": {"name": "variable"},
    "macro_definition": {"name": "function"},
    "enum_variant": {"name": "variable"},
    "use_declaration": {"argument": "import"},
    # Java, C#
    "formal_parameter": {"name": "parameter"},
    "catch_formal_parameter": {"name": "variable"},
    "enhanced_for_statement": {"name": "variable"},
    "resource": {"name": "variable"},
    "inferred_parameters": {"": "parameter"},
    "lambda_expression": {"parameters": "parameter"},
    "instanceof_expression": {"name": "variable"},
    "type_pattern": {"": "variable"},
    "record_declaration": {"name": "class"},
    "record_pattern_component": {"name": "variable"},
    "annotation_type_declaration": {"name": "class"},
    "enum_constant": {"name": "variable"},
    "constructor_declaration": {"name": "function"},
    "parameter_list": {"name": "parameter"},
    "foreach_statement": {"left": "variable"},
    "catch_declaration": {"name": "variable"},
    "declaration_expression": {"name": "variable"},
    "declaration_pattern": {"name": "variable"},
    "property_declaration": {"name": "variable"},
    "event_declaration": {"name": "variable"},
    "enum_member_declaration": {"name": "variable"},
    "struct_declaration": {"name": "class"},
    "delegate_declaration": {"name": "class"},
    "local_function_statement": {"name": "function"},
    "from_clause": {"name": "variable"},
    "let_clause": {"name": "variable"},
    # PHP
    "simple_parameter": {"name": "parameter"},
    "variadic_parameter": {"name": "parameter"},
    "property_promotion_parameter": {"name": "parameter"},
    "property_element": {"name": "variable", "": "variable"},
    "const_element": {"": "variable"},
    "trait_declaration": {"name": "class"},
    "enum_case": {"name": "variable"},
    "global_declaration": {"": "variable"},
    "static_variable_declaration": {"name": "variable"},
    "namespace_use_clause": {"alias": "import"},
    # Ruby
    "method_parameters": {"": "parameter"},
    "block_parameters": {"": "parameter"},
    "method": {"name": "function"},
    "singleton_method": {"name": "function"},
    "module": {"name": "class"},
    "exception_variable": {"": "variable"},
    "for": {"pattern": "variable"},
    # C, C++
    "declaration": {"declarator": "variable"},
    "field_declaration": {"declarator": "variable", "name": "variable"},
    "type_definition": {"declarator": "class"},
    "struct_specifier": {"name": "class"},
    "union_specifier": {"name": "class"},
    "enum_specifier": {"name": "class"},
    "class_specifier": {"name": "class"},
    "enumerator": {"name": "variable"},
    "preproc_def": {"name": "variable"},
    "preproc_function_def": {"name": "function"},
    "for_range_loop": {"declarator": "variable"},
    "alias_declaration": {"name": "class"},
    "namespace_definition": {"name": "class"},
    "lambda_capture_specifier": {"": "variable"},
    "type_parameter_declaration": {"": "class", "name": "class"},
}
"""For each type of node, the fields in which it binds names, and the kind of the binding. An empty field stands for all
children."""

DECLARATION_NODES = frozenset({"declaration", "function_definition", "field_declaration"})
"""Nodes of C and C++ that declare a function or a variable, depending on the declarator."""


def binding_of(traits: NameTraits, parent: Node, node: Node, leaf: Node) -> Binding | None:
    """Return the kind of binding that a node makes for a child, or None if it binds no name there.

    Args:
        traits: The rules of names in the language.
        parent: The node that may bind a name.
        node: The child of `parent` that contains the name.
        leaf: The node of the name itself.
    """
    kind = parent.type
    fields = traits.binders.get(kind) or _BINDERS.get(kind)
    if not fields:
        return None
    if kind in traits.body_required and parent.child_by_field_name("body") is None:
        return None
    if kind == "import_statement" and not traits.import_statements_bind:
        return None
    for field, binding in fields.items():
        if field == "":
            if any(parent.child_by_field_name(other) == node for other in NON_BINDING_FIELDS):
                continue
            return _refine_binding(parent, node, leaf, binding)
        # A field may have several nodes, as in `a, b int`.
        if node in parent.children_by_field_name(field):
            return _refine_binding(parent, node, leaf, binding)
    return None


def _refine_binding(parent: Node, node: Node, leaf: Node, binding: Binding) -> Binding | None:
    """Return the kind of binding after a look at the surrounding nodes, or None if the name is not bound."""
    if parent.type == "foreach_statement" and next(iter(parent.named_children), None) == node:
        return None
    if parent.type == "pair" and (parent.parent is None or parent.parent.type != "foreach_statement"):
        return None
    if parent.type in DECLARATION_NODES and parent.child_by_field_name("declarator"):
        return "function" if _declares_function(node) else "variable"
    if binding == "variable" and parent.type == "variable_declarator":
        value = parent.child_by_field_name("value")
        return "function" if value and value.type in ("arrow_function", "function_expression") else "variable"
    if parent.type in ("match_arm", "case_pattern", "let_condition") and leaf.type == "identifier":
        text = leaf.text or b""
        # In a pattern, a name that starts with a capital refers to a constant and is not bound.
        return None if text[:1].isupper() else binding
    return binding


def _declares_function(node: Node) -> bool:
    while node.type != "function_declarator":
        inner = node.child_by_field_name("declarator")
        if inner is None:
            return False
        node = inner
    return True
