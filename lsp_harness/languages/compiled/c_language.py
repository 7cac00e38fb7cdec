"""C."""

from lsp_harness.languages.declaration_traits import STAR_COMMENT, DeclarationTraits
from lsp_harness.languages.import_traits import ImportTraits
from lsp_harness.languages.language_spec import LanguageSpec
from lsp_harness.languages.name_traits import NameTraits
from lsp_harness.languages.recovery_traits import RecoveryTraits
from lsp_harness.languages.token_traits import TokenTraits

SPEC = LanguageSpec(
    id="c",
    grammar_module="tree_sitter_c",
    extensions=("c", "h"),
    queries=("c",),
    comment="//",
    block="braces",
    stub=";",
    compiler_command="make 2>&1",
    tokens=TokenTraits(has_block_comments=True, has_character_literals=True),
    names=NameTraits(
        body_required=frozenset({"struct_specifier", "union_specifier", "enum_specifier"}),
        # `struct point` does not declare a type `point`.
        visible_roles=frozenset({"variable", "function"}),
        must_declare_above=True,
        is_block_scoped=True,
        has_bare_members=True,
        reports_first_use_only=True,
    ),
    recovery=RecoveryTraits(
        signs_between=(b",", b":", b"=", b"."),
        else_if=b"else if",
        inserts_semicolons=True,
        needs_semicolons=True,
        has_own_line_braces=True,
        allows_outer_statements=False,
        requires_declarations=True,
    ),
    imports=ImportTraits(
        form="include", imports_everything=True, shares_declarations=True, has_whole_module_imports=True
    ),
    declarations=DeclarationTraits(documentation=STAR_COMMENT, types_come_first=True, has_headers=True),
    sibling="cpp",
)
