"""The table of languages: every language has one file, and an added language changes what users see."""

import pytest

from lsp_harness.completion.rules.ghost_text import choose_display_mode
from lsp_harness.languages import language_table
from lsp_harness.languages.language_spec import LanguageSpec
from lsp_harness.languages.language_table import (
    UNKNOWN_LANGUAGE,
    LanguageTable,
    find_language,
    find_language_of_file,
    load_table,
)
from lsp_harness.syntax.tree import parse
from lsp_harness.text.code_lines import LineSyntax
from lsp_harness.text.document import Document


def test_no_two_languages_have_the_same_name_or_file():
    specs = load_table().by_id.values()
    for names in (
        [name for spec in specs for name in (spec.id, *spec.lsp_ids)],
        [name for spec in specs for name in spec.extensions],
        [name for spec in specs for name in spec.file_names],
    ):
        assert sorted(names) == sorted(set(names))


def test_a_language_refers_to_languages_that_exist():
    table = load_table().by_id
    for spec in table.values():
        assert {spec.parent, spec.dialect_of, spec.sibling, spec.packages.language} - {""} <= table.keys()


@pytest.mark.parametrize(("name", "expected"), [("typescriptreact", "tsx"), ("C++", "cpp"), ("x", ""), ("", "")])
def test_a_language_is_found_by_the_identifier_of_lsp(name: str, expected: str):
    assert find_language(name).id == expected
    assert (find_language(name) is UNKNOWN_LANGUAGE) == (not expected)


def test_an_added_language_is_parsed_and_changes_suggestions(monkeypatch: pytest.MonkeyPatch):
    prefix = "when x do\n"
    assert choose_display_mode(prefix, "", "sample") == "line"
    sample = LanguageSpec(
        "sample",
        "tree_sitter_ruby",
        lsp_ids=("sam",),
        extensions=("sample",),
        lines=LineSyntax(comment_style="hash", has_block_words=True),
    )
    monkeypatch.setattr(language_table, "load_table", lambda: LanguageTable([*load_table().by_id.values(), sample]))
    tree = parse(Document.from_text("file:///a.sample", "x = 1"))
    assert tree is not None
    assert tree.language is sample
    assert find_language_of_file("b.sample") is find_language("sam") is sample
    assert choose_display_mode(prefix, "", "sample") == "block"
