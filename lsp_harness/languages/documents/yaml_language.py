"""YAML."""

from lsp_harness.languages.language_spec import LanguageSpec
from lsp_harness.text.code_lines import LineSyntax

SPEC = LanguageSpec(
    id="yaml",
    grammar_module="tree_sitter_yaml",
    lsp_ids=("dockercompose", "github-actions-workflow"),
    extensions=("yaml", "yml"),
    file_names=(".clang-format",),
    comment="#",
    # The scanner writes behind the end of its buffer when blocks are nested more than 253 levels deep. A level is
    # indented by at least one column.
    crash_pattern=rb"(?m)^[ \t?:-]{200}",
    lines=LineSyntax(comment_style="hash"),
)
