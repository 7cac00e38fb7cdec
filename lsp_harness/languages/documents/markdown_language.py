"""Markdown."""

from lsp_harness.languages.language_spec import LanguageSpec

SPEC = LanguageSpec(id="markdown", grammar_module="tree_sitter_markdown", extensions=("md", "markdown", "mdown"))
