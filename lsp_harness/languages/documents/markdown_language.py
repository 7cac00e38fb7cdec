"""Markdown."""

from lsp_harness.languages.language_spec import LanguageSpec
from lsp_harness.text.code_lines import LineSyntax

SPEC = LanguageSpec(
    id="markdown",
    grammar_module="tree_sitter_markdown",
    extensions=("md", "markdown", "mdown"),
    lines=LineSyntax(is_prose=True),
)
