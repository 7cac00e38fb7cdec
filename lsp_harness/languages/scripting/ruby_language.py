"""Ruby."""

from lsp_harness.languages.declaration_traits import CommentStyle, DeclarationTraits
from lsp_harness.languages.import_traits import ImportTraits
from lsp_harness.languages.language_spec import LanguageSpec
from lsp_harness.languages.name_traits import NameTraits
from lsp_harness.languages.recovery_traits import RecoveryTraits
from lsp_harness.languages.token_traits import Interpolation, TokenTraits
from lsp_harness.text.code_lines import LineSyntax

SPEC = LanguageSpec(
    id="ruby",
    grammar_module="tree_sitter_ruby",
    extensions=("rb", "rake", "gemspec", "ru"),
    file_names=("rakefile", "gemfile", "podfile", "vagrantfile", "brewfile"),
    queries=("ruby",),
    comment="#",
    block="end",
    tokens=TokenTraits(
        interpolation=Interpolation(r"#\{"),
        block_begin_words=frozenset(b"def class module if unless while until for case begin do".split()),
        block_end_words=frozenset({b"end"}),
        block_closers=dict.fromkeys(
            ["def", "class", "module", "begin", "do", "if", "unless", "case", "while", "until"], "end"
        ),
        has_optional_loop_do=True,
    ),
    names=NameTraits(
        binders={"assignment": {"left": "variable"}},
        # Functions do not see the variables of the file.
        visible_roles=frozenset({"function", "class"}),
        types_are_values=True,
        non_access_operators=frozenset({"->"}),
        has_block_functions=True,
        has_bare_members=True,
        has_function_namespace=True,
        assignments_declare=True,
        allows_underscore=True,
        member_sigil="@",
        has_common_members=True,
    ),
    imports=ImportTraits(
        has_require_calls=True, form="require-file", imports_everything=True, shares_declarations=True, has_prelude=True
    ),
    recovery=RecoveryTraits(
        signs_between=(b",", b":", b"=", b"=>", b"->", b"."),
        meant_by_equals=(b"=>",),
        else_if=b"elsif",
        inserts_semicolons=True,
        has_block_parameters=True,
        inserts_braces=False,
        has_multiline_strings=True,
        comment_pattern=r"#(?!\{)",
        wrappers=((b"", b""), (b"x(", b")"), (b"x {", b"}")),
        arrow_matches_patterns=True,
    ),
    declarations=DeclarationTraits(
        documentation=CommentStyle("# ", "", "# "), has_implicit_members=True, calls_need_brackets=False
    ),
    lines=LineSyntax(comment_style="hash", has_block_words=True, indent_width=2),
)
