"""A text that was edited in the editor and not saved. It replaces the indexed version of its file."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from lsp_harness.index.builder.chunks import FileChunk, split_chunks
from lsp_harness.syntax.symbols.declarations import Declaration, Import, qualified_names


@dataclass(frozen=True)
class UnsavedText:
    """An open text with its declarations and imports.

    Secrets in `data` are replaced by the same number of bytes and lines. Full-text search still finds the saved
    version.
    """

    language: str
    data: bytes
    declarations: Sequence[Declaration]
    imports: Sequence[Import]

    @cached_property
    def qualified_names(self) -> list[str]:
        """The qualified names of the declarations."""
        return qualified_names(self.declarations)

    @cached_property
    def chunks(self) -> list[FileChunk]:
        """The chunks that the index would make of this text."""
        return split_chunks(self.data, self.declarations)

    def is_top_level(self, n: int) -> bool:
        """Return whether declaration `n` is in no other declaration than a namespace."""
        parent = self.declarations[n].parent
        return parent < 0 or self.declarations[parent].kind == "namespace"
