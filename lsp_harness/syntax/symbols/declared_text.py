"""What a whole text declares and imports, as cheaply as that is known."""

from lsp_harness.syntax.languages import Language
from lsp_harness.syntax.parse_budget import FILE_BUDGET, Allowance
from lsp_harness.syntax.symbols.declarations import Declaration, Import, declared
from lsp_harness.syntax.symbols.python_lines import by_lines
from lsp_harness.syntax.tree import root_of


def declared_in(language: Language, data: bytes) -> tuple[list[Declaration], list[Import]]:
    """As `declared` of the text's tree; a text that is wrong may declare other things here. Raises TooCostly where parsing it takes more
    than the budget of a file."""
    told = by_lines(data) if language.id == "python" else None
    return told or declared(language, data, root_of(language, data, Allowance(FILE_BUDGET.text_s), FILE_BUDGET))
