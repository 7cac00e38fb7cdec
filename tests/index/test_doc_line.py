"""Tests of the first line of the documentation of a declaration."""

from contextlib import closing
from pathlib import Path

import pytest

from lsp_harness.index.query.name_lookup import read_doc_line
from tests.index.place import IndexedFolder

FILES = {
    "a.py": (
        '"""Of the file."""\n\nLIMIT = 3\n"""How much."""\nBARE = 4\n\n\n@deco\nclass A:\n    """What it is.\n\n'
        '    And more.\n    """\n\n'
        "    x: int = 1\n    'Where.'\n\n    def one(self, a,\n            b): 'Short.'\n\n    async def two(self):\n"
        "        r'''\n        Begins below.\n        '''\n        def inner():\n            return 'no'\n\n"
        "    # said above\n    def three(self):\n        return 'nothing'\n\n\n# noqa: E501\ndef four(): ...\n"
    ),
    "a.ts": (
        "// licence\n\n/**\n * Adds them.\n * @param a one\n */\nexport function add(a: number) {}\n"
        "/** On one line. */\n@Deco()\nexport class B {\n  // the size\n  size = 1;\n  none = 2;\n}\n\n"
        "// eslint-disable-next-line\nexport const f = () => 1;\n"
    ),
    "a.go": "package a\n\n// Add adds.\n// More.\nfunc Add() {}\n\nfunc None() {}\n",
    "a.rs": "/// A shape.\n#[derive(Debug)]\npub struct Shape;\n\n#[test]\nfn none() {}\n",
    "A.java": "/**\n * The A.\n */\n@Entity\nclass A {\n  /* of b */\n  int b() { return 1; }\n}\n",
    "a.rb": "# Circles.\nclass C\nend\n",
    "a.lua": "--- Opens it.\nfunction open() end\n",
}


@pytest.mark.parametrize(
    ("path", "name", "expected"),
    [
        ("a.py", "LIMIT", "How much."),
        ("a.py", "BARE", ""),
        ("a.py", "A", "What it is."),
        ("a.py", "A.x", "Where."),
        ("a.py", "A.one", "Short."),
        ("a.py", "A.two", "Begins below."),
        ("a.py", "A.two.inner", ""),
        ("a.py", "A.three", "said above"),
        ("a.py", "four", ""),
        ("a.ts", "add", "Adds them."),
        ("a.ts", "B", "On one line."),
        ("a.ts", "B.size", "the size"),
        ("a.ts", "B.none", ""),
        ("a.ts", "f", ""),
        ("a.go", "Add", "Add adds."),
        ("a.go", "None", ""),
        ("a.rs", "Shape", "A shape."),
        ("a.rs", "none", ""),
        ("A.java", "A", "The A."),
        ("A.java", "A.b", "of b"),
        ("a.rb", "C", "Circles."),
        ("a.lua", "open", "Opens it."),
    ],
)
def test_the_first_line_of_documentation_is_read(tmp_path: Path, path: str, name: str, expected: str):
    with closing(IndexedFolder(tmp_path, FILES)) as indexed:
        symbol = indexed.view.symbols.find_symbol(path, name)
        assert symbol
        assert read_doc_line(indexed.view, symbol) == expected
