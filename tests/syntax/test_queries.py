"""The query files fit their grammars, and are found in a checkout as in a wheel."""

import re
from pathlib import Path

import pytest
from tree_sitter import Query

from lsp_harness.config import resources
from lsp_harness.config.resources import find_grammar_folder, find_resource
from lsp_harness.languages.language_spec import LanguageSpec
from lsp_harness.languages.language_table import find_language, shipped_languages
from lsp_harness.syntax.grammars import grammar, language_for
from lsp_harness.syntax.tree_query import load_query, read_query_source

FILES = sorted(find_resource("queries").glob("*/*.scm"))
# Queries are never freed, see query.py; these are not in its cache.
COMPILED_QUERIES: list[Query] = []


@pytest.mark.parametrize("file", FILES, ids=lambda file: f"{file.parent.name}/{file.stem}")
def test_a_query_file_fits_its_grammar(file: Path):
    language = language_for(file.parent.name, "")
    assert language is not None
    assert file.parent.name in language.queries
    text = file.read_text("utf-8")
    assert "#is-not?" not in text
    assert "#is?" not in text
    COMPILED_QUERIES.append(Query(grammar(language), text))


@pytest.mark.parametrize(
    "language", [language for language in shipped_languages() if language.queries], ids=lambda language: language.id
)
@pytest.mark.parametrize("name", ["scopes", "outline"])
def test_inherited_queries_of_a_language_fit_its_grammar(language: LanguageSpec, name: str):
    built = load_query(language, name)
    assert built is not None
    assert built is load_query(language, name)


def test_data_and_prose_have_no_queries():
    toml = language_for("toml", "")
    assert toml is not None
    assert load_query(toml, "outline") is None
    assert load_query(toml, "no-such-query") is None


def test_the_queries_of_a_wheel_are_in_the_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    package = tmp_path / "lsp_harness"
    folder = package / "grammars" / "queries" / "python"
    folder.mkdir(parents=True)
    (folder / "outline.scm").write_text("(module) @const")
    # a folder of that name beside the package is somebody else's
    (tmp_path / "grammars" / "gbnf").mkdir(parents=True)
    monkeypatch.setattr(resources, "PACKAGE_FOLDER", package)
    assert read_query_source(find_language("python"), "outline") == "(module) @const"
    assert read_query_source(find_language("python"), "scopes") == ""
    assert find_grammar_folder() == package / "grammars" / "gbnf"


def test_the_queries_of_a_checkout_are_beside_the_package():
    assert (
        find_resource("queries", "python", "outline.scm")
        == Path(__file__).parents[2] / "grammars/queries/python/outline.scm"
    )


@pytest.mark.parametrize(
    "language", [language for language in shipped_languages() if language.queries], ids=lambda language: language.id
)
def test_a_pattern_for_a_parent_has_no_other_capture_of_it(language: LanguageSpec):
    # `lsp_harness.syntax.symbols.incremental_declarations` queries the children of such a node, not the node itself
    source = read_query_source(language, "symbols")
    parents = set(re.findall(r"^\((\w+) \(.+\)$", source, re.MULTILINE))
    for parent in parents:
        begun = re.findall(rf"^\(+{parent}\b", source, re.MULTILINE)
        assert len(begun) == len(read_query_source(language, f"symbols@{parent}").splitlines()), parent
