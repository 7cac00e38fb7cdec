"""Julia. There is no grammar, so only single lines are known."""

from lsp_harness.languages.language_spec import LanguageSpec
from lsp_harness.text.code_lines import LineSyntax

SPEC = LanguageSpec(id="julia", lines=LineSyntax(has_block_words=True))
