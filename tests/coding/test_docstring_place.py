"""The place of a new docstring: inside of the function, or above its declaration."""

import pytest

from lsp_harness.coding.docstring import find_docstring_place
from lsp_harness.syntax.tree import parse
from lsp_harness.text.document import Document

CLASS = "class Box {\n  grow = (k) => k;\n  #hide = function (k) { return k; };\n}\n"


@pytest.mark.parametrize(
    ("name", "text", "line", "expected"),
    [
        ("a.py", "@cached\ndef f(a):\n    return a\n", 0, (2, "    ")),
        ("a.ts", "export const area = (r: number) => r * r;\n", 0, (0, "")),
        ("a.ts", "/** The area. */\nexport const area = (r: number) => r * r;\n", 1, None),
        ("a.js", CLASS, 1, (1, "  ")),
        ("a.js", CLASS, 2, (2, "  ")),
        ("a.js", "const a = 1;\n", 0, None),
        ("a.rs", "#[inline]\nfn f() {}\n", 1, (0, "")),
        ("a.rs", "/// Does it.\n#[inline]\nfn f() {}\n", 2, None),
    ],
)
def test_a_docstring_stands_where_people_write_it(
    name: str, text: str, line: int, expected: tuple[int, str] | None
) -> None:
    tree = parse(Document.from_text(f"file:///{name}", text))
    assert tree
    place = find_docstring_place(tree, tree.document.line_starts[line])
    assert (place and (tree.document.line_of(place.offset), place.indent)) == expected
