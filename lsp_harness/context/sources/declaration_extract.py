"""A declaration taken out of its file, with what it needs to be understood: its own text, and the imports that this uses."""

from dataclasses import dataclass

from lsp_harness.context.sources.required_imports import find_required_imports
from lsp_harness.syntax.symbols.declarations import declared, qualified
from lsp_harness.syntax.tree import SyntaxTree
from lsp_harness.text.position import Span, decode


@dataclass(frozen=True, slots=True)
class Extract:
    """`line` of its name, counted from 0; `text` as it stands in the file."""

    path: str
    qualified: str
    line: int
    imports: tuple[str, ...]
    text: str

    def __str__(self) -> str:
        return "\n".join([*self.imports, *["" for _ in self.imports[:1]], self.text])


def extract_declarations(tree: SyntaxTree, path: str, name: str) -> list[Extract]:
    """The declarations of this qualified name; several where it is declared again or overloaded."""
    declarations = declared(tree.language, tree.data, tree.root)[0]
    return [
        Extract(
            path, name, one.line, tuple(find_required_imports(tree, span)), decode(tree.data[slice(*span)]).rstrip()
        )
        for one in declarations
        if qualified(declarations, one) == name and (span := _lines(tree, one.start, one.end))
    ]


def _lines(tree: SyntaxTree, start: int, end: int) -> Span:
    """With the indentation before it, where nothing else is."""
    line = tree.data.rfind(b"\n", 0, start) + 1
    return Span(start if tree.data[line:start].strip() else line, end)
