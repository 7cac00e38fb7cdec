"""Tests of the names that languages define without a package."""

import pytest

from lsp_harness.knowledge import python_stdlib
from lsp_harness.knowledge.stdlib_tables import common_words, load_standard
from lsp_harness.languages.language_table import shipped_languages

KNOWN = [
    ("python", "globals", "ValueError"),
    ("javascript", "globals", "setTimeout"),
    ("typescript", "types", "Record"),
    ("tsx", "members", "forEach"),
    ("go", "types", "rune"),
    ("rust", "globals", "println"),
    ("java", "types", "InterruptedException"),
    ("csharp", "keywords", "foreach"),
    ("php", "globals", "str_replace"),
    ("ruby", "types", "StandardError"),
    ("c", "types", "size_t"),
    ("cpp", "types", "size_t"),
]


@pytest.mark.parametrize(("language", "table", "name"), KNOWN)
def test_the_names_of_a_language_are_known(language: str, table: str, name: str):
    assert name in getattr(load_standard(language), table)


def test_the_exports_of_modules_are_known():
    assert "readFileSync" in load_standard("typescript").find_exports("node:fs")
    assert load_standard("java").find_exporting_modules("ArrayList") == ["java.util"]
    assert "ToUpper" in load_standard("go").find_exports("strings")


def test_a_language_without_a_table_has_no_names():
    assert load_standard("lua").globals == frozenset()
    assert {
        shipped_language.id for shipped_language in shipped_languages() if load_standard(shipped_language.id).globals
    } == {row[0] for row in KNOWN}


@pytest.mark.parametrize(
    ("name", "module"),
    [
        ("Path", "pathlib"),
        ("defaultdict", "collections"),
        ("dataclass", "dataclasses"),
        ("sqrt", "math"),
        ("Any", "typing"),
    ],
)
def test_the_usual_module_of_a_name_in_the_python_library_comes_first(name: str, module: str):
    assert python_stdlib.find_exporting_modules(name)[0] == module


def test_the_members_of_modules_and_classes_of_the_python_library_are_known():
    assert "dumps" in python_stdlib.find_members("json")
    assert "parse" in python_stdlib.find_members("urllib")
    assert "add_argument" in python_stdlib.find_class_members("argparse", "ArgumentParser")
    assert python_stdlib.find_exports("no_such_module") == frozenset()


def test_common_words_are_words():
    assert {"value", "handler", "index"} <= common_words()
    assert not {"valeu", "hanlder", "idnex"} & common_words()
