"""The types of nodes that limit the scope of names or show how a name is used.

They cover every language that has queries in `grammars/queries`. A type of node means the same in all grammars that
have it, so that one set serves all languages.
"""

from collections.abc import Mapping

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
"""For each node with a key, the field of the key; an empty string stands for the first child."""
TYPE_NODES = frozenset(
    {"type", "named_type", "type_argument_list", "base_list", "nullable_type", "array_type", "type_annotation"}
    | {"type_arguments", "attribute_item", "base_clause", "class_interface_clause", "superclass", "type_list"}
    | {"optional_type", "union_type", "type_descriptor"}
)
NAME_PREFIXES = (b"@", b"@@", b"#", b":", b"$")
"""Prefixes that belong to a name in some grammars. They are not part of the name here."""
