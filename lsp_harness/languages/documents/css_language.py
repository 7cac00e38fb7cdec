"""CSS."""

from lsp_harness.languages.language_spec import LanguageSpec
from lsp_harness.languages.token_traits import TokenTraits
from lsp_harness.text.code_lines import LineSyntax

SPEC = LanguageSpec(
    id="css",
    grammar_module="tree_sitter_css",
    extensions=("css",),
    tokens=TokenTraits(has_block_comments=True),
    lines=LineSyntax(indent_width=2, is_style_sheet=True),
)
