"""Interface files of OCaml, which have a grammar of their own."""

from lsp_harness.languages.language_spec import LanguageSpec

SPEC = LanguageSpec(
    id="ocaml_interface",
    grammar_module="tree_sitter_ocaml",
    grammar_function="language_ocaml_interface",
    is_optional=True,
)
