"""Elixir."""

from lsp_harness.languages.language_spec import LanguageSpec

SPEC = LanguageSpec(
    id="elixir",
    grammar_module="tree_sitter_elixir",
    is_optional=True,
    comment="#",
)
