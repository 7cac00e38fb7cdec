"""Where a declaration is meant: files in which its name occurs are parsed when somebody asks, and each occurrence is looked up
as if the cursor were there. See docs/adr/0011."""

from collections.abc import Iterator

from lsp_harness.index.resolve import Meant, Text, meant, name_at
from lsp_harness.index.view import View
from lsp_harness.store.database import Reader
from lsp_harness.syntax.declarations import qualified
from lsp_harness.syntax.tree import SyntaxTree
from lsp_harness.text.position import encode

FILES = 500
"""That are parsed at most for one question."""

Key = tuple[str, str]
"""The path of a declaration and its qualified name: offsets may be those of an older text."""


def occurring(reader: Reader, name: str) -> list[str]:
    """The paths of files that may have this name in their code."""
    rows = reader.rows(
        "SELECT DISTINCT path FROM texts JOIN chunks ON chunks.id = texts.rowid JOIN files ON files.id = chunks.file "
        "WHERE texts MATCH ? AND language != '' LIMIT ?",
        ('text: "' + name.replace('"', "") + '"', FILES),
    )
    return sorted(path for (path,) in rows)


def key(text: Text, one: Meant) -> Key:
    """By which two meanings are known to be the same."""
    if one.there:
        return one.there.path, one.there.qualified
    return text.path, qualified(text.declared, text.declared[one.here])


def referring(view: View, text: Text, tree: SyntaxTree, name: str, target: Key) -> Iterator[int]:
    """Byte offsets at which a text means the `target` by its name, the declaration included."""
    data, word = tree.data, encode(name)
    at = data.find(word)
    while at >= 0:
        found = name_at(data, at) if _whole(tree, at, at + len(word)) else None
        if found and found.start == at and target in (key(text, one) for one in meant(view, text, found)):
            yield at
        at = data.find(word, at + len(word))


def _whole(tree: SyntaxTree, start: int, end: int) -> bool:
    """Whether these bytes are a token by themselves: in a comment or a string they are not."""
    node = tree.root.descendant_for_byte_range(start, end)
    if node is None or (node.start_byte, node.end_byte) != (start, end) or node.child_count:
        return False
    around = node.parent
    return not any(
        word in kind for kind in (node.type, around.type if around else "") for word in ("string", "comment")
    )
