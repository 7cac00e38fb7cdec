"""Outlines that are kept while the text around the cursor changes.

An outline of a large file costs tens of milliseconds, and half-typed code inside the window may turn the rest of the
file into an error. So an outline is made again only when something outside the window has changed, which also keeps
the beginning of the prompt, and what the engine has evaluated of it, as it is. Declarations with a secret are left out.
"""

from collections import OrderedDict
from collections.abc import Sequence
from hashlib import blake2b

from lsp_harness.files.secrets import secret_lines, spans
from lsp_harness.syntax.outline import OutlineLine, outline
from lsp_harness.syntax.tree import SyntaxTree
from lsp_harness.text.position import encode


class OutlineCache:
    """The last `KEPT` outlines."""

    KEPT = 32

    def __init__(self) -> None:
        self._known: OrderedDict[bytes, Sequence[OutlineLine]] = OrderedDict()

    def of(self, tree: SyntaxTree, window: tuple[int, int]) -> Sequence[OutlineLine]:
        """What is declared outside the bytes of `window`; `start` of a line below it may be that of an earlier text."""
        start, end = window
        digest = blake2b(tree.language.id.encode(), digest_size=16)
        digest.update(start.to_bytes(8, "little"))
        digest.update(tree.data[:start])
        digest.update(tree.data[end:])
        key = digest.digest()
        if key not in self._known:
            hidden = secret_lines(tree.document)
            self._known[key] = [
                line
                for line in outline(tree, exclude=window)
                if tree.document.line_of(line.start) not in hidden and not spans(encode(line.text))
            ]
            while len(self._known) > self.KEPT:
                self._known.popitem(last=False)
        self._known.move_to_end(key)
        return self._known[key]
