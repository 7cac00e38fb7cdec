"""The declarations and imports of a whole text, by the fastest method for its language."""

from lsp_harness.languages.language_spec import LanguageSpec
from lsp_harness.syntax.parse_budget import FILE_BUDGET, Allowance
from lsp_harness.syntax.symbols.declarations import Declaration, Import, find_declarations
from lsp_harness.syntax.symbols.python_lines import read_python_lines
from lsp_harness.syntax.tree import parse_root


def read_declarations(language: LanguageSpec, data: bytes) -> tuple[list[Declaration], list[Import]]:
    """Return the declarations and imports of a text, as `find_declarations` does for its tree.

    For a text with syntax errors the result may differ from that of the tree.

    Raises:
        ParseBudgetExceeded: Parsing exceeds the budget of a file.
    """
    fast_result = read_python_lines(data) if language.declarations.has_line_scanner else None
    return fast_result or find_declarations(
        language, data, parse_root(language, data, Allowance(FILE_BUDGET.text_s), FILE_BUDGET)
    )
