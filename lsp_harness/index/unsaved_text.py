"""A text that is open and was edited: it counts as it is, not as it was when it was indexed."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from lsp_harness.index.build.chunks import Chunk, split_chunks
from lsp_harness.syntax.symbols.declarations import Declaration, Import, all_qualified


@dataclass(frozen=True)
class UnsavedText:
    """`data` is without secrets, and has as many bytes and lines as with them. A file of the index has what it declares and
    imports from here; what words find in it is as it was saved."""

    language: str
    data: bytes
    declarations: Sequence[Declaration]
    imports: Sequence[Import]

    @cached_property
    def qualified_names(self) -> list[str]:
        """The names of what it declares."""
        return all_qualified(self.declarations)

    @cached_property
    def chunks(self) -> list[Chunk]:
        """As the index would cut it."""
        return split_chunks(self.data, self.declarations)

    def is_top_level(self, n: int) -> bool:
        """Whether a declaration is at the top, or in no more than a namespace."""
        parent = self.declarations[n].parent
        return parent < 0 or self.declarations[parent].kind == "namespace"
