"""HTML."""

from lsp_harness.languages.language_spec import LanguageSpec
from lsp_harness.text.code_lines import LineSyntax

SPEC = LanguageSpec(
    id="html",
    grammar_module="tree_sitter_html",
    extensions=("html", "htm", "xhtml"),
    lines=LineSyntax(has_tags=True, indent_width=2),
)
