"""The places in the documentation of a function that name a parameter."""

import pytest

from lsp_harness.syntax.names.documented_parameters import find_documented_parameters
from lsp_harness.syntax.tree import parse
from lsp_harness.text.document import Document

GOOGLE = '''def scale(size, unit):
    """Scale a size: the size counts in the unit.

    Args:
        size (int): The size.
            size: is no parameter here
        unit: The unit of size: a name.

    Returns:
        size: the result
    """
'''
SPHINX = """def scale(size):
    '''Scale.

    :param size: The size
    :param int size: the size again
    :type size: int
    :param sizes: another one
    '''
"""
NUMPY = '''def scale(size, unit):
    """Scale.

    Parameters
    ----------
    size, unit : int
        The size : of something
    unit
        The unit

    Returns
    -------
    size : int
    """
'''
STARRED = """def scale(*size):
    '''Args:
        *size: The sizes.
    '''
"""
CLASS = '''class Box:
    """A box.

    Args:
        size: The size.
    """

    def __init__(self, size):
        self.size = size

    def grow(self, size):
        self.size += size
'''
JSDOC = """/**
 * Scale a size.
 * @param {{ a: number }} size - The size
 * @param {number} [size=1] the same
 * @param sizes another one
 * @returns size
 */
"""
TAGS = [" * @param {{ a: number }} size - The size", " * @param {number} [size=1] the same"]
JAVADOC = """class Box {
    /**
     * Scales.
     * @param size the size
     */
    int scale(int size) { return size; }
}
"""


@pytest.mark.parametrize(
    ("name", "text", "function", "expected"),
    [
        ("a.py", GOOGLE, "scale", ["        size (int): The size."]),
        (
            *("a.py", SPHINX, "scale"),
            ["    :param size: The size", "    :param int size: the size again", "    :type size: int"],
        ),
        ("a.py", NUMPY, "scale", ["    size, unit : int"]),
        ("a.py", STARRED, "scale", ["        *size: The sizes."]),
        ("a.py", CLASS, "__init__", ["        size: The size."]),
        ("a.py", CLASS, "grow", []),
        ("a.py", "def scale(size): return size\n", "scale", []),
        ("a.ts", f"{JSDOC}export const scale = (size: number) => size;\n", "scale =", TAGS),
        ("a.js", f"{JSDOC}function scale(size) {{ return size; }}\n", "scale(", TAGS),
        ("a.js", f"class A {{\n{JSDOC}  scale = (size) => size;\n}}\n", "scale =", TAGS),
        ("A.java", JAVADOC, "scale", ["     * @param size the size"]),
    ],
)
def test_the_entries_of_a_parameter_are_found(name: str, text: str, function: str, expected: list[str]) -> None:
    tree = parse(Document.from_text(f"file:///{name}", text))
    assert tree
    places = find_documented_parameters(tree, text.index(function), "size")
    assert all(tree.data[slice(*place)] == b"size" for place in places)
    assert [tree.document.line(tree.document.line_of(place.start)).decode() for place in places] == expected
