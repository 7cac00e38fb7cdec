"""Lua."""

from lsp_harness.languages.declaration_traits import CommentStyle, DeclarationTraits
from lsp_harness.languages.import_traits import ImportTraits
from lsp_harness.languages.language_spec import LanguageSpec
from lsp_harness.languages.recovery_traits import RecoveryTraits
from lsp_harness.languages.token_traits import TokenTraits
from lsp_harness.text.code_lines import LineSyntax

SPEC = LanguageSpec(
    id="lua",
    grammar_module="tree_sitter_lua",
    extensions=("lua",),
    file_names=(".luacheckrc",),
    queries=("lua",),
    comment="--",
    block="end",
    tokens=TokenTraits(
        block_begin_words=frozenset(b"function if for while do repeat".split()),
        block_end_words=frozenset({b"end", b"until"}),
        block_closers={"function": "end", "if": "end", "do": "end", "repeat": "until x"},
        opens_blocks_in_expressions=True,
        header_ends=(" then", " do\nend", ", x do\nend"),
    ),
    recovery=RecoveryTraits(
        signs_between=(b",", b"=", b"then", b"do", b"in", b"."), inserts_braces=False, comment_pattern="--"
    ),
    imports=ImportTraits(form="require-module"),
    declarations=DeclarationTraits(documentation=CommentStyle("--- ", "", "--- ")),
    lines=LineSyntax(has_block_words=True),
)
