"""JSON, also with comments."""

from lsp_harness.languages.language_spec import LanguageSpec
from lsp_harness.languages.recovery_traits import RecoveryTraits
from lsp_harness.languages.token_traits import TokenTraits

SPEC = LanguageSpec(
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
