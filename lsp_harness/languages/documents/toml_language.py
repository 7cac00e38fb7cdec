"""TOML."""

from lsp_harness.languages.language_spec import LanguageSpec
from lsp_harness.text.code_lines import LineSyntax

SPEC = LanguageSpec(
    id="toml",
    grammar_module="tree_sitter_toml",
    extensions=("toml",),
    file_names=("cargo.lock", "poetry.lock", "uv.lock"),
    comment="#",
    lines=LineSyntax(comment_style="hash"),
)
