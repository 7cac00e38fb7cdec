"""The names that a module exports, judged by its declarations."""

import re

from lsp_harness.index.index_view import IndexView
from lsp_harness.index.symbol_table import Symbol
from lsp_harness.languages.language_table import find_language


def find_exported_names(view: IndexView, path: str, language: str, module: str) -> list[str]:
    """Return the public names of a module of the workspace, in their order in its file; empty if it has no such module.

    Args:
        view: The index.
        path: The file that imports the module.
        language: The language of that file.
        module: The module, as that file names it.
    """
    return [symbol.name for symbol in view.find_module_symbols(path, language, module) if is_public(view, symbol)]


def is_public(view: IndexView, symbol: Symbol) -> bool:
    """Return whether other files may import a symbol, judged by its declaration."""
    word = find_language(symbol.language).declarations.public_word
    if not word:
        return not symbol.name.startswith("_")
    line_start = view.texts.read_line_start(symbol)
    return symbol.kind != "implementation" and re.search(rf"\b{word}\b", line_start) is not None
