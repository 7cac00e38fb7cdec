"""The kind of text at an offset: code, comment or string. It is also known while a string is still being typed.

The tree gives the answer if the text is complete. A quote without its partner makes an error instead, and the text is
then scanned from the start of the error on. An expression interpolated into a string is code. In languages whose
content is strings (JSON, YAML, markup) a string counts as code.
"""

import re
from functools import cache
from typing import Literal

from tree_sitter import Node

from lsp_harness.languages.language_spec import LanguageSpec
from lsp_harness.syntax.tree import SyntaxTree, nodes_around
from lsp_harness.text.position import decode

TextKind = Literal["code", "comment", "string"]

COMMENT_NODES = frozenset({"comment", "line_comment", "block_comment", "html_comment", "hash_bang_line"})
STRING_NODES = frozenset(
    {"string", "template_string", "regex", "string_literal", "raw_string_literal", "interpreted_string_literal"}
    | {"verbatim_string_literal", "interpolated_string_expression", "encapsed_string", "raw_string", "ansi_c_string"}
    | {"char_literal", "character_literal", "rune_literal", "system_lib_string", "string_array", "symbol_array"}
    | {"heredoc_body", "heredoc", "nowdoc", "delimited_symbol", "subshell", "shell_command_expression"}
)
INTERPOLATION_NODES = frozenset(
    {"interpolation", "template_substitution", "string_interpolation", "command_substitution", "expansion"}
)
BLOCK_COMMENT_STARTS = ("/*", "<!--", "--[[", "--[=", "=begin")
"""The openers of comments that may end in the middle of a line."""

LOOKBACK_BYTES = 4000
"""Maximum number of bytes before the cursor that are scanned if there is a syntax error."""


def text_kind_at(tree: SyntaxTree, offset: int) -> TextKind:
    """Return the kind of the text that is typed at a byte offset."""
    if not offset:
        return "code"
    # The nodes around the character before the cursor are used: the cursor is outside of a node that starts at it.
    error: Node | None = None
    for node in nodes_around(tree.root, offset - 1, offset):
        if node.type == "ERROR":
            error = node
        elif node.type in INTERPOLATION_NODES and _is_within(node, offset):
            return "code"
        elif node.type in COMMENT_NODES and _is_within_comment(node, offset):
            return "comment"
        elif (
            node.type in STRING_NODES
            and tree.language.block != "none"
            and (_is_within(node, offset) or _is_unterminated(node, offset))
        ):
            return "string"
    return _scan_text(tree, offset, error) if tree.root.has_error else "code"


def _is_within(node: Node, offset: int) -> bool:
    return node.start_byte < offset < node.end_byte


def _is_unterminated(node: Node, offset: int) -> bool:
    """Return whether a string ends at `offset` because its closing quote is missing."""
    return node.end_byte == offset and any(child.is_missing for child in node.children[-1:])


def _is_within_comment(node: Node, offset: int) -> bool:
    text = node.text or b""
    # Text typed at the end of a line comment belongs to the comment. Some grammars include the newline in the comment.
    has_end = decode(text[:4]).startswith(BLOCK_COMMENT_STARTS) or text.endswith(b"\n")
    return node.start_byte < offset and (offset < node.end_byte or not has_end)


def _scan_text(tree: SyntaxTree, offset: int, error: Node | None) -> TextKind:
    """Find the comment or string that is open at `offset` in the text from the start of the line or the error on."""
    data = tree.data
    start = data.rfind(b"\n", 0, offset) + 1
    if error:
        start = max(min(start, error.start_byte), offset - LOOKBACK_BYTES)
    text = decode(data[start:offset])
    last = next((token for token in _token_pattern(tree.language).finditer(text) if token.end() == len(text)), None)
    if last is None:
        return "code"
    token, kind = last.group(), last.lastgroup
    if kind == "comment":
        return "comment"
    if kind == "block":
        return "code" if len(token) >= 4 and token.endswith("*/") else "comment"
    quote = '"""' if token.startswith('"""') else "'''" if token.startswith("'''") else token[0]
    is_closed = len(token) >= 2 * len(quote) and token.endswith(quote) and not _has_escaped_end(token)
    if is_closed or tree.language.block == "none" or _ends_in_interpolation(tree.language, text[: last.start()], token):
        return "code"
    return "string"


def _ends_in_interpolation(language: LanguageSpec, before: str, token: str) -> bool:
    """Return whether an open string ends inside of an interpolated expression."""
    interpolation = language.tokens.interpolation
    if interpolation is None:
        opener, text = r"\$\{" if token[0] == "`" else "", token
    elif re.search(interpolation.prefix, before):
        opener = interpolation.opener
        text = token.replace("{{", "").replace("}}", "") if interpolation.doubles_braces else token
    else:
        return False
    if not opener:
        return False
    return re.search(rf"{opener}[^{{}}()]*(?:\([^()]*)?$", text) is not None


def _has_escaped_end(token: str) -> bool:
    body = token[:-1]
    return (len(body) - len(body.rstrip("\\"))) % 2 == 1


@cache
def _token_pattern(language: LanguageSpec) -> re.Pattern[str]:
    """Return a pattern for comments and strings. One without an end reaches to the end of the text."""
    # In the other languages ' encloses characters or marks lifetimes, so that an unclosed one does not open a string.
    has_single_quotes = not language.tokens.has_character_literals
    parts = [
        r"(?P<triple>\"\"\"(?:\\.|[^\\])*?(?:\"\"\"|\Z)|'''(?:\\.|[^\\])*?(?:'''|\Z))"
        if language.tokens.has_triple_quotes
        else "",
        r"(?P<block>/\*.*?(?:\*/|\Z))" if language.tokens.has_block_comments else "",
        rf"(?P<comment>(?<![^\s;]){re.escape(language.comment)}[^\n]*)" if language.comment else "",
        r"(?P<double>\"(?:\\.|[^\"\\\n])*\"?)",
        r"(?P<back>`(?:\\.|[^`\\])*`?)" if language.tokens.has_backquoted_strings else "",
        r"(?P<single>'(?:\\.|[^'\\\n])*'?)" if has_single_quotes else r"(?P<char>'(?:\\[^\n]{1,10}?|[^'\\\n])')",
    ]
    return re.compile("|".join(part for part in parts if part), re.DOTALL)
