"""What `scopes.scm` says of each language. `scopes/<language>.txt` hold what is expected of the sources in `references/`."""

from pathlib import Path

import pytest

from lsp_harness.syntax.languages import LANGUAGES
from lsp_harness.syntax.query import captures
from tests.syntax.markup import tree_of

SOURCES = Path(__file__).parent / "references"
NAMES = sorted(one.id for one in LANGUAGES if one.queries)


@pytest.mark.parametrize("language", NAMES)
def test_scopes_of(language: str, golden_update: bool):
    given = (SOURCES / f"{language}.txt").read_text("utf-8").split("-- references --\n")[0]
    name, source = given.removeprefix("-- ").split(" --\n", 1)
    tree = tree_of(name, source)
    rows = sorted(
        (node.start_byte, -node.end_byte, kind, node)
        for kind, nodes in captures(tree.language, "scopes", tree.root).items()
        for node in dict.fromkeys(nodes)
    )
    found = "".join(
        f"{kind:<9} {node.start_point.row + 1:>2}-{node.end_point.row + 1:<2} {source[node.start_byte :].splitlines()[0].strip()}\n"
        for _, _, kind, node in rows
    )
    file = Path(__file__).parent / "scopes" / f"{language}.txt"
    if golden_update:
        file.write_text(found, "utf-8")
    else:
        assert found == file.read_text("utf-8")
