"""The start of a better suggestion, where a suggestion leaves a name unbound that the code below needs.

A small model sees the code below, but it often writes another statement first. If the code below uses `total` and
nothing binds it, the next statement probably does. Then the model continues a start that binds the name.
"""

import re

from lsp_harness.languages.traits import NameTraits
from lsp_harness.syntax.names.unbound_names import MissingNames, find_missing_names
from lsp_harness.syntax.parse_budget import BUDGET, Allowance, ParseBudgetExceeded
from lsp_harness.syntax.tree import SyntaxTree
from lsp_harness.text.edit import Edit
from lsp_harness.text.position import decode, encode
from lsp_harness.workspace.cursor import Cursor

DOCSTRING = re.compile(r"\s*[rRuU]?(?:\"\"\"|''')")
"""The code below the head of a function that is missing."""
MAX_BYTES_BELOW = 3_000
"""How much of the code below is searched for a call of the name."""
ANNOTATED_PARAMETER = re.compile(r"\s*\**\w+\??\s*:")


def find_binding_start(cursor: Cursor, missing: MissingNames, text: str | None, model_text: str) -> str:
    """Return the start of a text that binds a missing name, if a suggestion binds none of them.

    Args:
        cursor: The place.
        missing: The names that are missing there.
        text: The suggestion, or None if there is nothing to show.
        model_text: What the model wrote.

    Returns:
        The indentation and a text such as `total =`, `const total =` or `for item in`. It is empty if the suggestion
        binds a missing name, or if it does not begin a line.
    """
    if not (missing.names and cursor.tree):
        return ""
    shown_text = text or model_text
    indentation = shown_text[: len(shown_text) - len(shown_text.lstrip())]
    line_start = cursor.document.data.rfind(b"\n", 0, cursor.offset) + 1
    if cursor.document.data[line_start : cursor.offset].strip() and "\n" not in indentation:
        return ""
    if text and not _leaves_all_unbound(cursor.tree, cursor.offset, missing, text):
        return ""
    start = _choose_start(cursor, cursor.tree.language.names, missing)
    return f"{indentation}{start}" if start else ""


def _leaves_all_unbound(tree: SyntaxTree, offset: int, missing: MissingNames, text: str) -> bool:
    new = encode(text.rstrip())
    try:
        tree_after = tree.apply_edit(Edit(offset, offset, new), Allowance(BUDGET.gate_s))
    except ParseBudgetExceeded:
        return False
    return tree_after is not None and {*missing.names} <= {*find_missing_names(tree_after, offset + len(new)).names}


def _choose_start(cursor: Cursor, traits: NameTraits, missing: MissingNames) -> str:
    """Return the start of what binds the first name. It is empty if several kinds of code could bind the names."""
    name = missing.names[0]
    # a start ends after the name, or the model could continue it to a longer name
    if missing.place == "parameter":
        return f"{name}:" if _has_annotations(cursor) else name
    if missing.place == "statement":
        return f"{missing.keyword} {name} =".lstrip()
    below = decode(cursor.document.data[cursor.offset : cursor.offset + MAX_BYTES_BELOW])
    if DOCSTRING.match(below):
        return traits.function_keyword
    if re.search(rf"\b{re.escape(name)}\(", below):
        # a loop variable is rarely called
        return f"{traits.function_keyword} {name}(" if traits.function_keyword else ""
    return traits.loop_head.format(name=name) if len(missing.names) == 1 else ""


def _has_annotations(cursor: Cursor) -> bool:
    """Return whether the line above or below the cursor is a parameter with a type."""
    document = cursor.document
    line = document.line_of(cursor.offset)
    neighbours = (decode(document.line(n)) for n in (line - 1, line + 1) if 0 <= n < len(document.line_starts))
    return any(ANNOTATED_PARAMETER.match(text) for text in neighbours)
