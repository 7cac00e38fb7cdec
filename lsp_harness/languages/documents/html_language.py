"""HTML."""

from lsp_harness.languages.language_spec import LanguageSpec

SPEC = LanguageSpec(id="html", grammar_module="tree_sitter_html", extensions=("html", "htm", "xhtml"))
