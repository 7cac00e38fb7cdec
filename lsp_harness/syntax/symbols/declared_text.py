"""What a whole text declares and imports, as cheaply as that is known."""

from lsp_harness.syntax.languages import Language
from lsp_harness.syntax.parse_budget import FILE_BUDGET, Allowance
from lsp_harness.syntax.symbols.declarations import Declaration, Import, find_declarations
from lsp_harness.syntax.symbols.python_lines import read_python_lines
from lsp_harness.syntax.tree import parse_root


def read_declarations(language: Language, data: bytes) -> tuple[list[Declaration], list[Import]]:
    """As `declared` of the text's tree; a text that is wrong may declare other things here. Raises TooCostly where parsing it takes more
    than the budget of a file."""
    told = read_python_lines(data) if language.id == "python" else None
    return told or find_declarations(
        language, data, parse_root(language, data, Allowance(FILE_BUDGET.text_s), FILE_BUDGET)
    )
