"""Swift."""

from lsp_harness.languages.language_spec import LanguageSpec

SPEC = LanguageSpec(
    id="swift",
    grammar_module="tree_sitter_swift",
    is_optional=True,
    comment="//",
)
