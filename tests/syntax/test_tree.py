"""Re-parsing after an edit gives the tree that parsing the new text would."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lsp_harness.syntax.parse_budget import BUDGET, MAX_TEXT_BYTES, Allowance, ParseBudgetExceeded
from lsp_harness.syntax.syntax_errors import find_faults
from lsp_harness.syntax.tree import SyntaxTree, parse
from lsp_harness.text.document import Document
from lsp_harness.text.edit import Edit
from tests.syntax.markup import parse_tree

SOURCES = {
    "a.py": '# ünïcode 🎉\nclass A(B):\n    """Doc 🎉."""\n    x: int = 1\n\n    def f(self, a, b="é"):\n'
    "        for i in range(10):\r\n            if a > b:\r\n                return [i, {'k': (1, 2)}]\r\n"
    '        return f"{a!r} 🎉"\n\n\ndef g():\n    pass\n',
    "a.js": "// ünïcode 🎉\nclass A extends B {\n  f(a, b = `é${a}`) {\r\n    for (const x of [1, 2]) {\r\n"
    '      if (x > b) { return { k: (1, 2) }; }\n    }\n    return a => a.map(y => "🎉");\n  }\n}\n'
    "function g() {\n  return 1;\n}\n",
}
PIECES = [*"()[]{}:;,#\"'` x", "", "\n", "\r\n", "    ", "🎉", "é", " = ", '"""', "/*", "*/", "//"]
PIECES += ["def h():\n", "return ", "if x:", "if (x) {", "x = 1\n", "foo(1)"]
EDITS = st.lists(st.tuples(st.integers(0, 1000), st.integers(0, 12), st.lists(st.sampled_from(PIECES), max_size=3)))


@settings(max_examples=300, deadline=None, derandomize=True)
@given(path=st.sampled_from(sorted(SOURCES)), edits=EDITS)
def test_an_edited_tree_is_the_tree_of_the_edited_text(path: str, edits: list[tuple[int, int, list[str]]]):
    tree = parse_tree(path, SOURCES[path])
    for at, size, pieces in edits:
        before = tree.document
        text = before.text
        start, end = at % (len(text) + 1), min(len(text), at % (len(text) + 1) + size)
        edit = Edit(len(text[:start].encode()), len(text[:end].encode()), "".join(pieces).encode())
        edited = tree.update(before, edit, before.apply_edit(edit, before.version + 1))
        assert edited is not None
        tree = edited
    whole = parse(Document.from_text(tree.document.uri, tree.data))
    assert whole is not None
    assert tree.root.end_byte == whole.root.end_byte
    # Where the parser gives up depends on the nodes it could reuse (about one in two hundred broken texts), whether it
    # does, never.
    assert tree.root.has_error == whole.root.has_error
    assert bool(find_faults(tree)) == bool(find_faults(whole))
    if not whole.root.has_error:
        assert str(tree.root) == str(whole.root)


def test_the_tree_before_an_edit_does_not_change():
    tree = parse_tree("a.py", "x = [1, 2]\n")
    shape, places = str(tree.root), [node.byte_range for node in tree.root.children]
    after = tree.apply_edit(Edit(0, 0, b"def f():\n    pass\n"), Allowance(BUDGET.text_s))
    assert after is not None
    assert after.data == b"def f():\n    pass\nx = [1, 2]\n"
    assert (str(tree.root), [node.byte_range for node in tree.root.children]) == (shape, places)


def test_an_edit_of_another_text_is_parsed_from_scratch():
    tree = parse_tree("a.py", "x = 1\n")
    other = Document.from_text("file:///a.py", "def f():\n    return 2\n")
    edit = Edit(0, 0, b"y = 1\n")
    after = tree.update(other, edit, other.apply_edit(edit, 1))
    assert isinstance(after, SyntaxTree)
    assert [node.type for node in after.root.children] == ["expression_statement", "function_definition"]


def test_a_text_that_grows_too_large_has_no_tree():
    with pytest.raises(ParseBudgetExceeded):
        parse_tree("a.py", "x = 1\n").apply_edit(Edit(0, 0, b"#" * MAX_TEXT_BYTES), Allowance(BUDGET.text_s))
