"""A cache of outlines, which stay valid while only the text around the cursor changes.

An outline of a large file takes tens of milliseconds to compute, and half-typed code inside the window may turn the
rest of the file into a syntax error. So an outline is computed again only if the text outside of the window changed.
This also keeps the start of the prompt unchanged, so that the engine can reuse its evaluation. Declarations with a
secret are left out.
"""

from collections import OrderedDict
from collections.abc import Sequence
from hashlib import blake2b

from lsp_harness.files.secrets import find_secret_lines, find_secrets
from lsp_harness.syntax.outline import OutlineLine, build_outline
from lsp_harness.syntax.tree import SyntaxTree
from lsp_harness.text.position import encode


class OutlineCache:
    """A cache of the outlines of files that prompts quoted last."""

    MAX_OUTLINES = 32

    def __init__(self) -> None:
        self._outlines: OrderedDict[bytes, Sequence[OutlineLine]] = OrderedDict()

    def find_outline(self, tree: SyntaxTree, window: tuple[int, int]) -> Sequence[OutlineLine]:
        """Return the declarations outside of a window.

        Args:
            tree: The tree of the text.
            window: The start and the end of the window, in bytes.

        Returns:
            The lines of the outline. The offsets of lines below the window may belong to an earlier version of the
            text.
        """
        start, end = window
        digest = blake2b(tree.language.id.encode(), digest_size=16)
        digest.update(start.to_bytes(8, "little"))
        digest.update(tree.data[:start])
        digest.update(tree.data[end:])
        key = digest.digest()
        if key not in self._outlines:
            hidden = find_secret_lines(tree.document)
            self._outlines[key] = [
                line
                for line in build_outline(tree, exclude=window)
                if tree.document.line_of(line.start) not in hidden and not find_secrets(encode(line.text))
            ]
            while len(self._outlines) > self.MAX_OUTLINES:
                self._outlines.popitem(last=False)
        self._outlines.move_to_end(key)
        return self._outlines[key]
