"""TOML."""

from lsp_harness.languages.language_spec import LanguageSpec

SPEC = LanguageSpec(
    id="toml",
    grammar_module="tree_sitter_toml",
    extensions=("toml",),
    file_names=("cargo.lock", "poetry.lock", "uv.lock"),
    comment="#",
)
