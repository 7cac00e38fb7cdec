"""A file's declarations, a line each. `outlines/<language>.txt` hold a source and what is expected of it."""

from pathlib import Path

import pytest

from lsp_harness.languages.language_table import shipped_languages
from lsp_harness.syntax.outline import MAX_LINE_CHARS, OutlineLine, build_outline
from tests.syntax.markup import parse_marked, parse_tree

FILES = sorted((Path(__file__).parent / "outlines").glob("*.txt"))
EXPECTED = "-- outline --\n"


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_source_has_the_expected_outline(file: Path, golden_update: bool):
    result, expected = file.read_text("utf-8").split(EXPECTED)
    name, source = result.removeprefix("-- ").split(" --\n", 1)
    tree = parse_tree(name, source)
    assert not tree.root.has_error
    lines = build_outline(tree)
    outcome = "".join(f"{line.kind:<9} {line.depth} {line.text}\n" for line in lines)
    if golden_update:
        file.write_text(result + EXPECTED + outcome, "utf-8")
    else:
        assert outcome == expected
    assert [line.start for line in lines] == sorted(line.start for line in lines)


def test_every_language_with_queries_has_one():
    # tsx is typescript's
    assert {file.stem for file in FILES} == {
        shipped_language.id for shipped_language in shipped_languages() if shipped_language.queries
    } - {"tsx"}


def test_a_declaration_inside_the_excluded_range_is_left_out():
    src = parse_marked("a.py", "import a\n<|>import b\n\ndef f():\n    pass\n<|>\nclass C:\n    def g(self): pass\n")
    assert build_outline(src.tree, exclude=(src.start, src.end)) == [
        OutlineLine(0, "import a", 0, "import"),
        OutlineLine(38, "class C:", 0, "class"),
        OutlineLine(51, "    def g(self): ...", 1, "function"),
    ]


def test_a_declaration_that_only_reaches_into_the_excluded_range_stays():
    src = parse_marked("a.py", "class C:\n    def f(self):\n<|>        return 1\n\n    def g(self): pass<|>\n")
    assert [line.text for line in build_outline(src.tree, exclude=(src.start, src.end))] == [
        "class C:",
        "    def f(self): ...",
    ]


def test_a_broken_file_has_an_outline_of_its_intact_parts():
    tree = parse_tree(
        "a.py", "import os\n\ndef f(a):\n    return a\n\nx = = 1\n\nclass C:\n    def g(self, é='🎉'):\n        foo(\n"
    )
    assert "def f(a): ..." in [line.text for line in build_outline(tree)]


def test_a_long_line_is_cut():
    (line,) = build_outline(parse_tree("a.py", f"def f({', '.join(f'argument_{n}' for n in range(90))}): pass\n"))
    assert len(line.text) == MAX_LINE_CHARS
    assert line.text.endswith("…")


def test_data_has_no_outline():
    assert build_outline(parse_tree("a.toml", "[a]\nb = 1\n")) == []
