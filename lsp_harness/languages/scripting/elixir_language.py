"""Elixir."""

from lsp_harness.languages.language_spec import LanguageSpec
from lsp_harness.text.code_lines import LineSyntax

SPEC = LanguageSpec(
    id="elixir",
    grammar_module="tree_sitter_elixir",
    is_optional=True,
    comment="#",
    lines=LineSyntax(comment_style="hash", has_block_words=True),
)
