"""Whether an offset is in code, in a comment or in a string, also while the string is still being typed.

The tree says it where the text is whole. Half-typed quotes leave errors in it instead, and there the text itself is read
again, from where the error begins. What is interpolated into a string is code. Where strings are the content (JSON, YAML,
markup), being in one says nothing, so there are only comments.
"""

import re
from functools import cache
from typing import Literal

from tree_sitter import Node

from lsp_harness.syntax.languages import Language
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
"""What comments begin with that end somewhere within a line."""

LOOKBACK_BYTES = 4000
"""Bytes that are read again at most."""
INTERPOLATION_OPENERS = {"python": r"\{", "csharp": r"\{", "ruby": r"#\{", "bash": r"\$[({]"}
"""What opens an interpolation; in the other languages it is `${`, within backquotes only."""


def text_kind_at(tree: SyntaxTree, offset: int) -> TextKind:
    """Where a cursor at `offset` is."""
    if not offset:
        return "code"
    # the character before the cursor: what ends right there is left, what begins there is not entered
    broken: Node | None = None
    for node in nodes_around(tree.root, offset - 1, offset):
        if node.type == "ERROR":
            broken = node
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
    return _scan_text(tree, offset, broken) if tree.root.has_error else "code"


def _is_within(node: Node, offset: int) -> bool:
    return node.start_byte < offset < node.end_byte


def _is_unterminated(node: Node, offset: int) -> bool:
    """Whether a string reaches to `offset` for want of an end."""
    return node.end_byte == offset and any(child.is_missing for child in node.children[-1:])


def _is_within_comment(node: Node, offset: int) -> bool:
    text = node.text or b""
    # one that ends with its line goes on for whoever types at that end; some grammars count the newline in
    ends = decode(text[:4]).startswith(BLOCK_COMMENT_STARTS) or text.endswith(b"\n")
    return node.start_byte < offset and (offset < node.end_byte or not ends)


def _scan_text(tree: SyntaxTree, offset: int, broken: Node | None) -> TextKind:
    """What the text before `offset` has open, from the cursor's line or the error on."""
    data = tree.data
    start = data.rfind(b"\n", 0, offset) + 1
    if broken:
        start = max(min(start, broken.start_byte), offset - LOOKBACK_BYTES)
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
    closed = len(token) >= 2 * len(quote) and token.endswith(quote) and not _has_escaped_end(token)
    if closed or tree.language.block == "none" or _ends_in_interpolation(tree.language, text[: last.start()], token):
        return "code"
    return "string"


def _ends_in_interpolation(language: Language, before: str, token: str) -> bool:
    """Whether an open string ends in an expression that is interpolated into it."""
    opener = INTERPOLATION_OPENERS.get(language.id, r"\$\{" if token[0] == "`" else "")
    if not opener or (language.id == "python" and not re.search(r"(?i)\b(?:f|rf|fr)$", before)):
        return False
    if language.id == "csharp" and not before.endswith("$"):
        return False
    plain = token.replace("{{", "").replace("}}", "") if language.id in ("python", "csharp") else token
    return re.search(rf"{opener}[^{{}}()]*(?:\([^()]*)?$", plain) is not None


def _has_escaped_end(token: str) -> bool:
    body = token[:-1]
    return (len(body) - len(body.rstrip("\\"))) % 2 == 1


@cache
def _token_pattern(language: Language) -> re.Pattern[str]:
    """Comments and strings, each to its end or to that of the text."""
    # where ' is for characters and lifetimes, one that is not closed is no string
    single = language.block != "braces" or language.id in ("javascript", "typescript", "tsx", "php")
    parts = [
        r"(?P<triple>\"\"\"(?:\\.|[^\\])*?(?:\"\"\"|\Z)|'''(?:\\.|[^\\])*?(?:'''|\Z))"
        if _has_triple_quotes(language)
        else "",
        r"(?P<block>/\*.*?(?:\*/|\Z))" if language.block == "braces" or language.id == "css" else "",
        rf"(?P<comment>(?<![^\s;]){re.escape(language.comment)}[^\n]*)" if language.comment else "",
        r"(?P<double>\"(?:\\.|[^\"\\\n])*\"?)",
        r"(?P<back>`(?:\\.|[^`\\])*`?)" if language.id in ("javascript", "typescript", "tsx", "go") else "",
        r"(?P<single>'(?:\\.|[^'\\\n])*'?)" if single else r"(?P<char>'(?:\\[^\n]{1,10}?|[^'\\\n])')",
    ]
    return re.compile("|".join(part for part in parts if part), re.DOTALL)


def _has_triple_quotes(language: Language) -> bool:
    return language.id in ("python", "java", "csharp")
