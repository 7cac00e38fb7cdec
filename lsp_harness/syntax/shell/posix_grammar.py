"""Parts of the grammar of bash that a POSIX shell does not have."""

import re

from tree_sitter import Node

BASH_NODES = frozenset(
    {"ansi_c_string", "translated_string", "herestring_redirect", "process_substitution", "array", "subscript"}
    | {"c_style_for_statement", "extglob_pattern", "regex", "brace_expression"}
)
"""Nodes of the grammar of bash that POSIX does not have."""


def foreign_to_posix(node: Node, text: str) -> str:
    """Return the part of a node that a shell of POSIX reads in another way than bash; empty if there is none.

    Args:
        node: A node of the grammar of bash.
        text: Its text.
    """
    if node.type in BASH_NODES:
        return node.type.replace("_", " ")
    match node.type:
        case "test_command" if text.startswith(("[[", "((")):
            return text[:2]
        case "compound_statement" if text.startswith("(("):
            return "(("
        case "for_statement" if text.startswith("select"):
            return "select"
        case "function_definition" if text.startswith("function"):
            return "function"
        case "expansion" if not re.fullmatch(r"\$\{#?\w+(?:(?::?[-+?=]|##?|%%?)[^}]*)?\}", text):
            return text
        case "pipeline" if any(child.type == "|&" for child in node.children):
            return "|&"
        case "case_item" if re.search(r";;?&\s*$", text):
            return ";&"
        case "file_redirect" if found := re.search(r"&>>?|<>|>&(?![\d-])", text):
            return found[0]
        case "variable_assignment" if "+=" in text.partition("=")[0] + "=":
            return "+="
        case "word" | "concatenation" if "{" in text and ("," in text or ".." in text):
            return "a list in braces"
        case _:
            return ""
