"""Go."""

from lsp_harness.languages.declaration_traits import CommentStyle, DeclarationTraits
from lsp_harness.languages.import_traits import ImportTraits
from lsp_harness.languages.language_spec import LanguageSpec
from lsp_harness.languages.name_traits import NameTraits
from lsp_harness.languages.package_traits import Ecosystem, PackageTraits
from lsp_harness.languages.recovery_traits import RecoveryTraits
from lsp_harness.languages.test_traits import TestTraits
from lsp_harness.languages.token_traits import TokenTraits
from lsp_harness.text.code_lines import LineSyntax

SPEC = LanguageSpec(
    id="go",
    grammar_module="tree_sitter_go",
    has_sure_errors=True,
    extensions=("go",),
    queries=("go",),
    comment="//",
    block="braces",
    tokens=TokenTraits(
        has_block_comments=True, has_character_literals=True, has_backquoted_strings=True, has_bare_for_header=True
    ),
    names=NameTraits(
        visible_roles=frozenset({"import", "variable", "function", "class"}),
        is_block_scoped=True,
        blank_name="_",
        declaring_sign=":=",
    ),
    imports=ImportTraits(
        has_import_blocks=True,
        packages_name_themselves=True,
        form="import-block",
        shares_folder=True,
        shares_declarations=True,
    ),
    declarations=DeclarationTraits(
        has_groups=True,
        documentation=CommentStyle("// ", "", "// "),
        doc_comments=("//",),
        any_comment_documents=True,
        types_follow_name=True,
        members_outside_types=True,
        extending_phrase="embedding",
    ),
    tests=TestTraits(
        node="function_declaration",
        head="name",
        test=r"Test\w*",
        calls={"call_expression": "function"},
        checks=r"\.(?:Error|Fatal|Fail)\w*$|(?i:assert|require|check|expect|verify)",
    ),
    recovery=RecoveryTraits(
        signs_between=(b",", b":", b"=", b":=", b"."),
        else_if=b"else if",
        inserts_semicolons=True,
        needs_semicolons=True,
        quotes="\"'`",
        long_quotes=(b"`",),
        wrappers=((b"", b""), (b"type X struct {\n", b"\n}"), (b"switch {\n", b"\n}"), (b"x(", b")")),
        allows_outer_statements=False,
        requires_declarations=True,
        has_statements_in_headers=True,
    ),
    packages=PackageTraits(Ecosystem.GO_MODULES, constructor_prefix="New"),
    lines=LineSyntax(indents_with_tabs=True),
    compiler_command="go build ./... 2>&1",
    type_checker="gopls",
)
