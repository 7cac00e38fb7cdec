"""Which code a question finds, and by what."""

from contextlib import closing
from pathlib import Path

import pytest

from lsp_harness.index.search import MANY
from tests.index.place import Indexed

FILES = {
    "shop.py": (
        "class Cart:\n"
        "    def total(self):\n        return sum(price for price in self.prices)\n\n"
        "    def discount(self):\n        return 3\n\n\n"
        "def parse_order(text):\n    return text.split()\n\n\n"
        "def size(of):\n    return 1\n"
    ),
    "many.py": "".join(f"class C{n}:\n    def run(self):\n        return {n}\n\n\n" for n in range(MANY + 5)),
    "typed.py": (
        "from typing import overload\n\n\n"
        "@overload\ndef convert(zloty: int) -> int: ...\n\n\n@overload\ndef convert(zloty: str) -> str: ...\n\n\n"
        "def convert(zloty):\n    return zloty\n"
    ),
}


@pytest.fixture
def indexed(tmp_path: Path):
    with closing(Indexed(tmp_path, FILES)) as made:
        yield made


@pytest.mark.parametrize(
    ("query", "way"),
    [
        ("size", "name"),
        ("Cart.total", "name"),
        ("parse_order Cart.total", "name"),
        ("what is the size", ""),
        ("what does `size` say", "mention"),
        ("where is size() used", "mention"),
        ("the words of parse_order", "mention"),
        # too many are called that for one of them to be meant
        ("where is run() used", ""),
        ("run", "name"),
    ],
)
def test_a_name_is_what_is_asked_for_or_written_as_one(indexed: Indexed, query: str, way: str):
    found, chunks = indexed.search.by_name(query)
    assert (found if chunks else "") == way


def test_a_mention_counts_half_of_a_name(indexed: Indexed):
    [asked] = [hit for hit in indexed.search.search("size") if hit.symbol == "size"]
    [said] = [hit for hit in indexed.search.search("what does `size` say") if hit.symbol == "size"]
    assert asked.reasons[0] == "name 1"
    assert said.reasons[0] == "mention 1"
    assert said.score < asked.score


def test_members_of_one_type_support_each_other(indexed: Indexed):
    search = indexed.search
    [total], [discount], [parse] = (search.by_name(name)[1] for name in ("Cart.total", "Cart.discount", "parse_order"))
    alone, _ = search.fused([("words", [total, parse])], 2)
    supported, _ = search.fused([("words", [total, discount])], 2)
    assert alone.symbol == supported.symbol == "Cart.total"
    assert supported.score > alone.score


def test_signatures_of_an_overload_are_no_hits(indexed: Indexed):
    hits = [hit for hit in indexed.search.search("convert zloty") if hit.symbol == "convert"]
    assert len(hits) == 1
    assert b"return zloty" in FILES["typed.py"].encode()[hits[0].start : hits[0].end]
