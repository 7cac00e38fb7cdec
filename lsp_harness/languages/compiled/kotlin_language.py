"""Kotlin."""

from lsp_harness.languages.language_spec import LanguageSpec

SPEC = LanguageSpec(
    id="kotlin",
    grammar_module="tree_sitter_kotlin",
    is_optional=True,
    comment="//",
    # The tag query of tree-sitter-language-pack does not fit the grammar.
    has_fitting_tags=False,
)
