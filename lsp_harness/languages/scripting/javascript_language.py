"""JavaScript, with the elements of JSX."""

from lsp_harness.languages.declaration_traits import STAR_COMMENT, DeclarationTraits
from lsp_harness.languages.import_traits import ImportTraits
from lsp_harness.languages.language_spec import LanguageSpec
from lsp_harness.languages.name_traits import NameTraits
from lsp_harness.languages.package_traits import Ecosystem, PackageTraits
from lsp_harness.languages.recovery_traits import RecoveryTraits
from lsp_harness.languages.test_traits import TestTraits
from lsp_harness.languages.token_traits import TokenTraits
from lsp_harness.text.code_lines import LineSyntax

GLOBAL_NAMES = (
    "undefined NaN Infinity arguments globalThis window document self console process global require module exports"
    " navigator location performance crypto localStorage sessionStorage history __dirname __filename setTimeout"
    " setInterval clearTimeout clearInterval setImmediate queueMicrotask structuredClone fetch alert jest vi cy chrome"
    " browser screen"
)
"""Names that a browser, Node or a test runner defines."""

TEST_MODIFIERS = r"(?:\.(?:only|concurrent|sequential|each|serial|failing|fails)\b.*)?"

SPEC = LanguageSpec(
    id="javascript",
    grammar_module="tree_sitter_javascript",
    has_sure_errors=True,
    lsp_ids=("javascriptreact", "js", "jsx"),
    extensions=("js", "mjs", "cjs", "jsx"),
    queries=("javascript", "jsx"),
    comment="//",
    block="braces",
    stub=";",
    tokens=TokenTraits(has_block_comments=True, has_backquoted_strings=True, has_jsx=True, interpolation_mark="`"),
    names=NameTraits(
        binders={"import_clause": {"": "import"}},
        visible_roles=frozenset({"import", "variable", "function", "class"}),
        types_are_values=True,
        non_access_operators=frozenset({"->"}),
        is_block_scoped=True,
        global_names=frozenset(GLOBAL_NAMES.split()),
        binding_keyword="const",
        loop_head="for (const {name} of",
        allows_underscore=True,
        self_name="this",
    ),
    imports=ImportTraits(has_require_calls=True, form="module-import"),
    tests=TestTraits(
        node="call_expression",
        head="function",
        test=rf"(?:test|it|specify){TEST_MODIFIERS}",
        group=rf"(?:describe|context|suite){TEST_MODIFIERS}",
        calls={"call_expression": "function", "member_expression": "property"},
        checks=r"(?i:assert|expect|should|check|verify|throws|fail|reject)|^t\.\w+$",
    ),
    recovery=RecoveryTraits(
        meant_by_equals=(b"=>", b":"),
        else_if=b"else if",
        inserts_semicolons=True,
        needs_semicolons=True,
        quotes="\"'`",
        long_quotes=(b"`",),
        wrappers=((b"", b""), (b"class X {\n", b"\n}"), (b"x = {\n", b"\n}"), (b"x(", b")")),
        requires_declarations=True,
    ),
    declarations=DeclarationTraits(documentation=STAR_COMMENT, public_word="export"),
    type_checker="typescript",
    packages=PackageTraits(Ecosystem.NPM, language="typescript", constructor_names=("constructor",)),
    lines=LineSyntax(indent_width=2),
)
