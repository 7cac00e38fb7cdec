"""The code that an instruction is about."""

from dataclasses import dataclass

from lsp_harness.syntax.tree import SyntaxTree
from lsp_harness.text.document import Document
from lsp_harness.text.position import Span, decode


@dataclass(frozen=True, slots=True)
class CodeSelection:
    """The span of a document that an instruction is about, with the syntax tree.

    Attributes:
        document: The version of the document.
        tree: The syntax tree of that version, or None if the text has none.
        span: The selected code, in bytes of the document.
        path: The path that prompts name: relative to the workspace folder if the file lies in one.
    """

    document: Document
    tree: SyntaxTree | None
    span: Span
    path: str

    @property
    def text(self) -> str:
        """The selected code."""
        return decode(self.document.data[slice(*self.span)])

    @property
    def comment(self) -> str:
        """The marker of a line comment in this language, or `#` if the language is unknown or has none."""
        return (self.tree.language.comment if self.tree else "") or "#"
