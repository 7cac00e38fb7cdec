"""Rust."""

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
    id="rust",
    grammar_module="tree_sitter_rust",
    has_sure_errors=True,
    extensions=("rs",),
    queries=("rust",),
    comment="//",
    block="braces",
    stub=";",
    compiler_command="cargo check 2>&1",
    type_checker="rust-analyzer",
    tokens=TokenTraits(has_block_comments=True, has_character_literals=True, named_keywords=frozenset({b"mut"})),
    names=NameTraits(
        visible_roles=frozenset({"import", "variable", "function", "class"}),
        non_access_operators=frozenset({"->"}),
        paths_bind_last_part=True,
        is_block_scoped=True,
        global_names=frozenset({"self", "crate", "super"}),
        binding_keyword="let",
        loop_head="for {name} in",
        allows_underscore=True,
        prefers_underscore=True,
    ),
    imports=ImportTraits(
        keys_include_names=True,
        form="use-tree",
        separator="::",
        fills_lines=True,
        names_may_be_modules=True,
        library_root="std",
        imports_single_names=True,
        has_prelude=True,
    ),
    tests=TestTraits(
        node="function_item",
        head="name",
        test=r"\w+",
        attribute=r"\btest\b",
        other_attribute="should_panic",
        calls={"macro_invocation": "macro", "call_expression": "function"},
        checks=r"assert|panic|unreachable|ensure|check|verify|\.(?:unwrap|expect)(?:_err)?$",
    ),
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
    declarations=DeclarationTraits(
        documentation=CommentStyle("/// ", "", "/// "),
        doc_comments=("///",),
        module_doc_comment="//!",
        has_attribute_lines=True,
        public_word="pub",
        types_follow_colon=True,
        members_outside_types=True,
        decorator_start=r"#\[",
        decorated_phrase="with the attribute",
    ),
    packages=PackageTraits(Ecosystem.CRATES, constructor_names=("new",)),
    lines=LineSyntax(has_lifetimes=True),
)
