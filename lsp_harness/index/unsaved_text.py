"""A text that is open and was edited: it counts as it is, not as it was when it was indexed."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from lsp_harness.index.build.chunks import Chunk, chunks
from lsp_harness.syntax.symbols.declarations import Declaration, Import, qualified_names


@dataclass(frozen=True)
class Opened:
    """`data` is without secrets, and has as many bytes and lines as with them. A file of the index has what it declares and
    imports from here; what words find in it is as it was saved."""

    language: str
    data: bytes
    declared: Sequence[Declaration]
    imports: Sequence[Import]

    @cached_property
    def qualified(self) -> list[str]:
        """The names of what it declares."""
        return qualified_names(self.declared)

    @cached_property
    def chunks(self) -> list[Chunk]:
        """As the index would cut it."""
        return chunks(self.data, self.declared)

    def top(self, n: int) -> bool:
        """Whether a declaration is at the top, or in no more than a namespace."""
        parent = self.declared[n].parent
        return parent < 0 or self.declared[parent].kind == "namespace"
