"""Scala."""

from lsp_harness.languages.language_spec import LanguageSpec

SPEC = LanguageSpec(
    id="scala",
    grammar_module="tree_sitter_scala",
    is_optional=True,
    comment="//",
)
