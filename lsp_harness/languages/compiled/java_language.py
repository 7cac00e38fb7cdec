"""Java."""

from lsp_harness.languages.declaration_traits import STAR_COMMENT, DeclarationTraits
from lsp_harness.languages.import_traits import ImportTraits
from lsp_harness.languages.language_spec import LanguageSpec
from lsp_harness.languages.name_traits import NameTraits
from lsp_harness.languages.recovery_traits import RecoveryTraits
from lsp_harness.languages.token_traits import TokenTraits

SPEC = LanguageSpec(
    id="java",
    grammar_module="tree_sitter_java",
    extensions=("java",),
    queries=("java",),
    comment="//",
    block="braces",
    stub=";",
    tokens=TokenTraits(has_block_comments=True, has_character_literals=True, has_triple_quotes=True),
    names=NameTraits(
        binders={"import_declaration": {"": "import"}},
        # A compiler may report a name as unknown although an import statement names it.
        visible_roles=frozenset({"class"}),
        types_are_values=True,
        non_access_operators=frozenset({"->"}),
        paths_bind_last_part=True,
        is_block_scoped=True,
        has_bare_members=True,
        has_function_namespace=True,
    ),
    recovery=RecoveryTraits(
        signs_between=(b",", b":", b"=", b"->", b"."),
        else_if=b"else if",
        inserts_semicolons=True,
        needs_semicolons=True,
        has_type_arguments=True,
        long_quotes=(b'"""',),
        wrappers=((b"class X {\n", b"\n}"), (b"class X { { \n", b"\n}}"), (b"enum X {\n", b"\n}")),
        allows_outer_statements=False,
        requires_declarations=True,
    ),
    imports=ImportTraits(
        form="type-import",
        last_part_is_name=True,
        hides_imports=True,
        shares_folder=True,
        shares_declarations=True,
        has_whole_module_imports=True,
        imports_single_names=True,
        imports_types_only=True,
    ),
    declarations=DeclarationTraits(
        documentation=STAR_COMMENT, types_come_first=True, has_implicit_members=True, decorated_phrase="annotated with"
    ),
)
