"""Languages of data, markup and style sheets that have a grammar."""

from lsp_harness.languages.language_spec import LanguageSpec
from lsp_harness.languages.traits import RecoveryTraits, TokenTraits
from lsp_harness.text.code_lines import LineSyntax

CSS = LanguageSpec(
    id="css",
    grammar_module="tree_sitter_css",
    extensions=("css",),
    tokens=TokenTraits(has_block_comments=True),
    lines=LineSyntax(indent_width=2, is_style_sheet=True),
)
"""CSS."""

HTML = LanguageSpec(
    id="html",
    grammar_module="tree_sitter_html",
    extensions=("html", "htm", "xhtml"),
    lines=LineSyntax(has_tags=True, indent_width=2),
)
"""HTML."""

JSON = LanguageSpec(
    id="json",
    grammar_module="tree_sitter_json",
    lsp_ids=("jsonc", "jsonl"),
    extensions=("json", "jsonc", "geojson", "ipynb", "webmanifest"),
    file_names=(".prettierrc", ".eslintrc"),
    comment="//",
    tokens=TokenTraits(operand="0", named_keywords=frozenset({b"true", b"false", b"null"})),
    recovery=RecoveryTraits(
        signs_between=(b",", b":"),
        joins_after_marks=False,
        inserts_braces=False,
        quotes='"',
        comment_pattern="//",
        wrappers=((b"", b""), (b"{", b"}"), (b"[", b"]")),
    ),
)
"""JSON, also with comments."""

MARKDOWN = LanguageSpec(
    id="markdown",
    grammar_module="tree_sitter_markdown",
    extensions=("md", "markdown", "mdown"),
    lines=LineSyntax(is_prose=True),
)
"""Markdown."""

TOML = LanguageSpec(
    id="toml",
    grammar_module="tree_sitter_toml",
    extensions=("toml",),
    file_names=("cargo.lock", "poetry.lock", "uv.lock"),
    comment="#",
    lines=LineSyntax(comment_style="hash"),
)
"""TOML."""

YAML = LanguageSpec(
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
"""YAML."""

LANGUAGES = (CSS, HTML, JSON, MARKDOWN, TOML, YAML)
