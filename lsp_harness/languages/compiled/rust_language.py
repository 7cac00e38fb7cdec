"""Rust."""

from lsp_harness.languages.import_traits import ImportTraits
from lsp_harness.languages.language_spec import LanguageSpec
from lsp_harness.languages.name_traits import NameTraits
from lsp_harness.languages.recovery_traits import RecoveryTraits
from lsp_harness.languages.token_traits import TokenTraits

SPEC = LanguageSpec(
    id="rust",
    grammar_module="tree_sitter_rust",
    extensions=("rs",),
    queries=("rust",),
    comment="//",
    block="braces",
    stub=";",
    tokens=TokenTraits(has_block_comments=True, has_character_literals=True, named_keywords=frozenset({b"mut"})),
    names=NameTraits(
        visible_roles=frozenset({"import", "variable", "function", "class"}),
        non_access_operators=frozenset({"->"}),
        paths_bind_last_part=True,
        is_block_scoped=True,
        global_names=frozenset({"self", "crate", "super"}),
        binding_keyword="let",
        allows_underscore=True,
        prefers_underscore=True,
    ),
    imports=ImportTraits(keys_include_names=True, has_attributes=True),
    recovery=RecoveryTraits(
        signs_between=(b",", b":", b"=", b"->", b"=>", b"."),
        meant_by_equals=(b"=>",),
        else_if=b"else if",
        inserts_semicolons=True,
        needs_semicolons=True,
        has_type_arguments=True,
        has_multiline_strings=True,
        has_lifetimes=True,
        wrappers=((b"", b""), (b"struct X {\n", b"\n}"), (b"match x {\n", b"\n}"), (b"x!(", b")")),
        allows_outer_statements=False,
        requires_declarations=True,
        blocks_are_values=True,
        incomplete_call=rb"\b(?:Ok|Err|Some)\(\)",
    ),
)
