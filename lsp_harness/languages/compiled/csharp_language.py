"""C#."""

from lsp_harness.languages.declaration_traits import CommentStyle, DeclarationTraits
from lsp_harness.languages.import_traits import ImportTraits
from lsp_harness.languages.language_spec import LanguageSpec
from lsp_harness.languages.name_traits import NameTraits
from lsp_harness.languages.recovery_traits import RecoveryTraits
from lsp_harness.languages.token_traits import Interpolation, TokenTraits

SPEC = LanguageSpec(
    id="csharp",
    compiler_command="dotnet build 2>&1",
    grammar_module="tree_sitter_c_sharp",
    lsp_ids=("c#", "cs"),
    extensions=("cs", "csx"),
    queries=("csharp",),
    comment="//",
    block="braces",
    stub=";",
    tokens=TokenTraits(
        has_block_comments=True,
        has_character_literals=True,
        has_triple_quotes=True,
        interpolation=Interpolation(r"\{", prefix=r"\$\Z", doubles_braces=True),
    ),
    names=NameTraits(
        binders={"using_directive": {"name": "import"}},
        # A compiler may report a name as unknown although a `using` directive names it.
        visible_roles=frozenset({"class"}),
        types_are_values=True,
        non_access_operators=frozenset({"->"}),
        is_block_scoped=True,
        has_bare_members=True,
        type_fields=("type", "returns"),
        common_receivers={"base": "super"},
    ),
    recovery=RecoveryTraits(
        signs_between=(b",", b":", b"=", b"=>", b"."),
        meant_by_equals=(b"=>",),
        else_if=b"else if",
        inserts_semicolons=True,
        needs_semicolons=True,
        has_type_arguments=True,
        has_own_line_braces=True,
        wrappers=((b"", b""), (b"class X {\n", b"\n}"), (b"enum X {\n", b"\n}")),
        requires_declarations=True,
    ),
    imports=ImportTraits(
        form="using-namespace",
        imports_everything=True,
        hides_imports=True,
        names_namespaces=True,
        shares_folder=True,
        shares_namespace=True,
        shares_declarations=True,
        has_whole_module_imports=True,
        has_extension_members=True,
        imports_capitalized_names=True,
    ),
    declarations=DeclarationTraits(
        documentation=CommentStyle("/// ", "", "/// "),
        types_come_first=True,
        has_implicit_members=True,
        decorator_start=r"\[",
        decorated_phrase="with the attribute",
    ),
)
