"""Names that the code below needs and a suggestion leaves unbound.

A small model sees the code below, but it often writes another statement first. If the code below uses `total` and
nothing binds it, the next statement probably does. Then the model continues a statement that binds the name.
"""

from lsp_harness.syntax.names.unbound_names import suggest_bindings
from lsp_harness.syntax.parse_budget import BUDGET, Allowance, ParseBudgetExceeded
from lsp_harness.text.edit import Edit
from lsp_harness.text.position import encode
from lsp_harness.workspace.cursor import Cursor


def find_binding_start(cursor: Cursor, unbound_names: tuple[str, ...], text: str) -> str:
    """Return the start of a statement that binds a name, if a suggestion binds none of those that are missing.

    Args:
        cursor: The place.
        unbound_names: What `suggest_bindings` returns for the place.
        text: The suggestion.

    Returns:
        The indentation of the suggestion and a text such as `total =`, `const total` or `for item in`. It is empty if
        the suggestion binds a missing name, or if it does not begin a line.
    """
    tree, new = cursor.tree, encode(text)
    if not (unbound_names and tree and text.strip()):
        return ""
    indentation = text[: len(text) - len(text.lstrip())]
    line_start = cursor.document.data.rfind(b"\n", 0, cursor.offset) + 1
    if cursor.document.data[line_start : cursor.offset].strip() and "\n" not in indentation:
        return ""
    try:
        tree_after = tree.apply_edit(Edit(cursor.offset, cursor.offset, new), Allowance(BUDGET.gate_s))
    except ParseBudgetExceeded:
        return ""
    if tree_after is None:
        return ""
    names_after = {_name(binding) for binding in suggest_bindings(tree_after, cursor.offset + len(new.rstrip()))}
    if not all(_name(binding) in names_after for binding in unbound_names):
        return ""
    binding, traits = unbound_names[0], tree.language.names
    if binding.startswith(" "):
        statement = traits.loop_head.format(name=binding.strip())
    else:
        statement = binding if traits.binding_keyword else f"{binding} ="
    return f"{indentation}{statement}" if statement else ""


def _name(binding: str) -> str:
    return binding.split()[-1]
