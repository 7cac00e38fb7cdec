"""The names that a module exports, judged by its declarations."""

from lsp_harness.index.index_view import IndexView
from lsp_harness.index.symbol_table import Symbol


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
    match symbol.language:
        case "python":
            return not symbol.name.startswith("_")
        case "rust":
            return symbol.kind != "implementation" and view.texts.read_line_start(symbol).lstrip().startswith("pub")
        case _:
            return "export" in view.texts.read_line_start(symbol)
