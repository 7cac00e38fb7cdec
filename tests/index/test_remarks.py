"""Tests of search by meaning outside of declarations: docstrings of modules, and comments between declarations."""

from contextlib import closing
from pathlib import Path

import pytest

from lsp_harness.files.walk import WalkedFile
from lsp_harness.index.builder.file_extract import extract_file
from lsp_harness.index.query.code_search import SearchRequest
from tests.index.place import IndexedFolder

SHOP = '"""What customers pay."""\n\nimport os\n\n\ndef total(prices):\n    return sum(prices)\n'


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("a.py", SHOP, [True, True]),
        ("a.py", "import os\n\n# rates are in percent\nVAT = 20\n", [True]),
        ("a.py", "r'''Says it.'''\n", [True]),
        # words alone find it
        ("a.py", "import os\n\nVAT = 20\nprint('# no')\n", [False]),
        ("a.py", "from typing import overload\n\n\n@overload\ndef f(a: int) -> int: ...\n", [False]),
        ("a.ts", "/** What customers pay. */\n\nimport { a } from './a'\n\n\nsetUp(a)\n", [True]),
        ("a.ts", "'use strict'\nimport { a } from './a'\n", [False]),
        ("a.go", "// Package shop sells.\npackage shop\n", [True]),
        ("a.go", "package shop\n", [False]),
        ("a.c", "#include <math.h>\n", [False]),
        # a file of data, and prose
        ("a.yaml", "# what it is\na: 1\n", [False]),
        ("a.md", "# What it is\n\nSome words.\n", [False]),
    ],
)
def test_only_chunks_with_words_have_a_vector(name: str, text: str, expected: list[bool]):
    file = extract_file(WalkedFile(name, 1, len(text)), text.encode())
    assert [bool(digest) for *_, digest in file.chunks] == expected


def test_a_comment_is_found_by_its_vector_and_listed_after_equally_near_code(tmp_path: Path):
    tax = '"""How much the state gets."""\n\nRATE = 5\n'
    with closing(IndexedFolder(tmp_path, {"shop.py": SHOP, "tax.py": tax})) as indexed:
        rows = indexed.reader.rows(
            "SELECT path, symbol < 0, chunks.digest FROM chunks JOIN files ON files.id = file WHERE chunks.digest "
            "!= x''"
        )
        digests = {(path, bool(outside)): digest for path, outside, digest in rows}
        items = [digests["tax.py", True], digests["shop.py", False], digests["shop.py", True]]
        hits = [(hit.path, hit.symbol, hit.reasons) for hit in indexed.search.search(SearchRequest("zzz", 5, items))]
    assert hits == [
        ("shop.py", "total", ("meaning 1",)),
        ("tax.py", "", ("remarks 1",)),
        ("shop.py", "", ("remarks 2",)),
    ]
