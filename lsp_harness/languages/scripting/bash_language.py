"""Bash and other shells."""

from lsp_harness.languages.declaration_traits import CommentStyle, DeclarationTraits
from lsp_harness.languages.import_traits import ImportTraits
from lsp_harness.languages.language_spec import LanguageSpec
from lsp_harness.languages.recovery_traits import RecoveryTraits
from lsp_harness.languages.token_traits import Interpolation, TokenTraits
from lsp_harness.text.code_lines import LineSyntax

SPEC = LanguageSpec(
    id="bash",
    grammar_module="tree_sitter_bash",
    lsp_ids=("shellscript", "sh", "shell"),
    extensions=("sh", "bash", "bats", "ebuild"),
    file_names=(".bashrc", ".bash_profile", ".bash_aliases", ".profile", "pkgbuild"),
    queries=("bash",),
    comment="#",
    block="end",
    tokens=TokenTraits(
        interpolation=Interpolation(r"\$[({]"),
        operand=":",
        block_begin_words=frozenset(b"if for while until case select do then".split()),
        block_end_words=frozenset({b"fi", b"done", b"esac"}),
        block_closers={"if": "fi", "do": "done", "case": "esac"},
        header_ends=("; then :", "; do :\ndone", " in x; do :\ndone"),
    ),
    recovery=RecoveryTraits(
        signs_between=(b"then", b"do", b"in", b"="),
        words_behind_semicolon=(b"then", b"do"),
        inserts_braces=False,
        quotes="\"'`",
        has_multiline_strings=True,
        comment_pattern=r"(?<!\S)#",
    ),
    imports=ImportTraits(form="source-file"),
    declarations=DeclarationTraits(documentation=CommentStyle("# ", "", "# ")),
    lines=LineSyntax(comment_style="hash", has_block_words=True),
)
