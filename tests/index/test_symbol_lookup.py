"""Tests of finding symbols by a part of their names."""

from contextlib import closing
from pathlib import Path

import pytest

from lsp_harness.index.query.symbol_lookup import MAX_SYMBOLS, find_symbols
from tests.index.place import IndexedFolder

SOURCE = """
parse = 1
class Config:
    parser_count = 0
    def parse_config(self): ...
    def preload_cache(self): ...
class HTTPServer:
    def parse(self): ...
def reparse(): ...
def Parse(): ...
def per_cent_100(): ...
"""


@pytest.fixture
def indexed_folder(tmp_path: Path):
    with closing(IndexedFolder(tmp_path, {"a.py": SOURCE, "b.py": "def parse_other(): ...\n"})) as indexed:
        yield indexed


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        # the very name, a beginning, the inside, letters in order; what holds data last among equals
        ("parse", "HTTPServer.parse parse Parse parse_other Config.parse_config Config.parser_count reparse"),
        ("Parse", "Parse HTTPServer.parse parse parse_other Config.parse_config Config.parser_count reparse"),
        ("pc", "Config.parse_config per_cent_100 Config.preload_cache Config.parser_count"),
        ("hs", "HTTPServer"),
        ("server", "HTTPServer"),
        ("Config.parse", "Config.parse_config Config.parser_count"),
        ("cfg.parse_", "Config.parse_config Config.parser_count"),
        ("_100", "per_cent_100"),
        ("nothing", ""),
    ],
)
def test_the_best_fit_comes_first(indexed_folder: IndexedFolder, query: str, expected: str):
    assert [match.symbol.qualified for match in find_symbols(indexed_folder.view, query)] == expected.split()


def test_a_wildcard_of_the_database_is_a_letter(indexed_folder: IndexedFolder):
    assert find_symbols(indexed_folder.view, "%") == []
    assert find_symbols(indexed_folder.view, "p_rse") == []


def test_files_may_be_left_out(indexed_folder: IndexedFolder):
    assert [match.symbol.path for match in find_symbols(indexed_folder.view, "parse", {"a.py"})] == ["b.py"]


def test_the_number_of_found_symbols_is_limited(tmp_path: Path):
    with closing(
        IndexedFolder(tmp_path, {"a.py": "".join(f"def f{n}(): ...\n" for n in range(MAX_SYMBOLS + 9))})
    ) as many:
        assert len(find_symbols(many.view, "")) == len(find_symbols(many.view, "f")) == MAX_SYMBOLS
