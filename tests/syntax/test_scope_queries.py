"""Tests of `scopes.scm` of each language.

`scopes/<language>.txt` hold the expected scopes of the sources in `references/`.
"""

from pathlib import Path

import pytest

from lsp_harness.languages.language_table import shipped_languages
from lsp_harness.syntax.tree_query import captures
from lsp_harness.text.position import decode
from tests.syntax.markup import read_fixture, read_golden

SOURCES = Path(__file__).parent / "references"
NAMES = sorted(language.id for language in shipped_languages() if language.queries)


@pytest.mark.parametrize("language", NAMES)
def test_a_source_has_the_expected_scopes(language: str, golden_update: bool):
    _, tree = read_fixture(SOURCES / f"{language}.txt", "-- references --\n")
    rows = sorted(
        (node.start_byte, -node.end_byte, kind, node)
        for kind, nodes in captures(tree.language, "scopes", tree.root).items()
        for node in dict.fromkeys(nodes)
    )
    # not by the node's points: to read these often corrupts memory in tree-sitter 0.26.0
    line_of = tree.document.line_of
    result = "".join(
        f"{kind:<9} {line_of(node.start_byte) + 1:>2}-{line_of(node.end_byte) + 1:<2} "
        f"{decode(tree.data[node.start_byte :]).splitlines()[0].strip()}\n"
        for _, _, kind, node in rows
    )
    file = Path(__file__).parent / "scopes" / f"{language}.txt"
    assert result == read_golden(file, result, update=golden_update)
