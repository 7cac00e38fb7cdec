"""How a file of each language is cut into chunks. `cut/<language>.txt` hold what is expected of the sources of
declarations."""

from pathlib import Path

import pytest

from lsp_harness.index.builder.chunks import split_chunks
from lsp_harness.languages.language_table import shipped_languages
from lsp_harness.syntax.symbols.declarations import find_declarations, qualified_names
from tests.syntax.markup import read_fixture, read_golden

SOURCES = Path(__file__).parents[1] / "syntax" / "declarations"
NAMES = sorted(language.id for language in shipped_languages() if language.queries)


@pytest.mark.parametrize("language", NAMES)
def test_a_source_is_cut_into_the_expected_chunks(language: str, golden_update: bool):
    _, tree = read_fixture(SOURCES / f"{language}.txt", "-- declarations --\n")
    declarations = find_declarations(tree.language, tree.data, tree.root)[0]
    names = qualified_names(declarations)
    result = ""
    for symbol, start, end in split_chunks(tree.data, declarations):
        first, last = tree.document.line_of(start) + 1, tree.document.line_of(end - 1) + 1
        result += f"{first:>2}-{last:<2} {names[symbol] if symbol >= 0 else '-'}\n"
    file = Path(__file__).parent / "cut" / f"{language}.txt"
    assert result == read_golden(file, result, update=golden_update)
