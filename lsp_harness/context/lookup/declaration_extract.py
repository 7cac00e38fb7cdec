"""A declaration with the imports that it needs, for readers who do not see the rest of the file."""

from dataclasses import dataclass

from lsp_harness.context.lookup.required_imports import find_required_imports
from lsp_harness.syntax.symbols.declarations import find_declarations, qualified_name
from lsp_harness.syntax.tree import SyntaxTree
from lsp_harness.text.position import Span, decode


@dataclass(frozen=True, slots=True)
class Extract:
    """A declaration taken out of its file.

    Attributes:
        path: The file.
        qualified: The qualified name of the declaration.
        line: The line of its name, counted from 0.
        imports: The import statements that the declaration needs.
        text: The declaration as it stands in the file.
    """

    path: str
    qualified: str
    line: int
    imports: tuple[str, ...]
    text: str

    def __str__(self) -> str:
        return "\n".join([*self.imports, *["" for _ in self.imports[:1]], self.text])


def extract_declarations(tree: SyntaxTree, path: str, name: str) -> list[Extract]:
    """Return the declarations with this qualified name: several if the name is declared again or overloaded."""
    declarations = find_declarations(tree.language, tree.data, tree.root)[0]
    return [
        Extract(
            path,
            name,
            item.line,
            tuple(find_required_imports(tree, span)),
            decode(tree.data[slice(*span)]).rstrip(),
        )
        for item in declarations
        if qualified_name(declarations, item) == name and (span := _with_indentation(tree, item.start, item.end))
    ]


def _with_indentation(tree: SyntaxTree, start: int, end: int) -> Span:
    """Return the span with the indentation before it, if nothing else precedes it on its line."""
    line_start = tree.data.rfind(b"\n", 0, start) + 1
    return Span(start if tree.data[line_start:start].strip() else line_start, end)
