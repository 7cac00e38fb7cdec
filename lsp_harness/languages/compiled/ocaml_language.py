"""OCaml."""

from lsp_harness.languages.language_spec import LanguageSpec

SPEC = LanguageSpec(
    id="ocaml",
    grammar_module="tree_sitter_ocaml",
    grammar_function="language_ocaml",
    is_optional=True,
)
