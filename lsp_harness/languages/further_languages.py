"""Languages without queries of ours, one row each.

The declarations of those with an optional grammar come from the tag query of tree-sitter-language-pack. Of those
without a grammar only single lines are known.
"""

from lsp_harness.languages.language_spec import LanguageSpec
from lsp_harness.text.code_lines import LineSyntax

LANGUAGES = (
    # The tag query of tree-sitter-language-pack does not fit the grammar of Kotlin.
    LanguageSpec("kotlin", "tree_sitter_kotlin", is_optional=True, comment="//", has_fitting_tags=False),
    LanguageSpec("ocaml_interface", "tree_sitter_ocaml", "language_ocaml_interface", is_optional=True),
    LanguageSpec("ocaml", "tree_sitter_ocaml", "language_ocaml", is_optional=True),
    LanguageSpec("scala", "tree_sitter_scala", is_optional=True, comment="//"),
    LanguageSpec("swift", "tree_sitter_swift", is_optional=True, comment="//"),
    LanguageSpec(
        "elixir",
        "tree_sitter_elixir",
        is_optional=True,
        comment="#",
        lines=LineSyntax(comment_style="hash", has_block_words=True),
    ),
    LanguageSpec("julia", lines=LineSyntax(has_block_words=True)),
    LanguageSpec("latex", lines=LineSyntax(is_prose=True)),
    LanguageSpec("less", lines=LineSyntax(is_style_sheet=True)),
    LanguageSpec("makefile", lines=LineSyntax(comment_style="hash", indents_with_tabs=True)),
    LanguageSpec("mdx", lines=LineSyntax(is_prose=True)),
    LanguageSpec("perl", lines=LineSyntax(comment_style="hash")),
    LanguageSpec("plaintext", lines=LineSyntax(is_prose=True)),
    LanguageSpec("r", lines=LineSyntax(comment_style="hash")),
    LanguageSpec("restructuredtext", lines=LineSyntax(is_prose=True)),
    LanguageSpec("scss", lines=LineSyntax(is_style_sheet=True)),
    LanguageSpec("svelte", lines=LineSyntax(has_tags=True)),
    LanguageSpec("svg", lines=LineSyntax(has_tags=True)),
    LanguageSpec("vue", lines=LineSyntax(has_tags=True)),
    LanguageSpec("xml", lines=LineSyntax(has_tags=True)),
)
