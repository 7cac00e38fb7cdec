"""Tests of code search: the hits of a query, and their reasons."""

from contextlib import closing
from itertools import chain, repeat
from pathlib import Path

import pytest

from lsp_harness.index.query.anchor import FilePosition, SymbolName
from lsp_harness.index.query.code_search import CodeSearch, Hit, SearchRequest
from lsp_harness.index.query.rankers import MAX_SAME_NAME, find_query_names
from tests.index.place import IndexedFolder

FILES = {
    "shop.py": (
        "class Cart:\n"
        "    def total(self):\n        return sum(price for price in self.prices)\n\n"
        "    def discount(self):\n        return 3\n\n\n"
        "def parse_order(text):\n    return text.split()\n\n\n"
        "def size(of):\n    return 1\n"
    ),
    "many.py": "".join(f"class C{n}:\n    def run(self):\n        return {n}\n\n\n" for n in range(MAX_SAME_NAME + 5)),
    "typed.py": (
        "from typing import overload\n\n\n"
        "@overload\ndef convert(zloty: int) -> int: ...\n\n\n@overload\ndef convert(zloty: str) -> str: ...\n\n\n"
        "def convert(zloty):\n    return zloty\n"
    ),
}


@pytest.fixture
def indexed_folder(tmp_path: Path):
    with closing(IndexedFolder(tmp_path, FILES)) as result:
        yield result


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
def test_a_query_is_taken_as_a_name_or_as_words(indexed_folder: IndexedFolder, query: str, way: str):
    result, chunks = indexed_folder.search.rank_by_name(query)
    assert (result if chunks else "") == way


def test_a_mention_counts_half_of_a_name(indexed_folder: IndexedFolder):
    [result] = [hit for hit in indexed_folder.search.search(SearchRequest("size")) if hit.symbol == "size"]
    [outcome] = [
        hit for hit in indexed_folder.search.search(SearchRequest("what does `size` say")) if hit.symbol == "size"
    ]
    assert result.reasons[0] == "name 1"
    assert outcome.reasons[0] == "mention 1"
    assert outcome.score < result.score


def test_members_of_one_type_support_each_other(indexed_folder: IndexedFolder):
    search = indexed_folder.search
    [total], [discount], [parse] = (
        search.rank_by_name(name)[1] for name in ("Cart.total", "Cart.discount", "parse_order")
    )
    alone, _ = search.fuse_rankings([("words", [total, parse])], 2)
    supported, _ = search.fuse_rankings([("words", [total, discount])], 2)
    assert alone.symbol == supported.symbol == "Cart.total"
    assert supported.score > alone.score


def test_signatures_of_an_overload_are_no_hits(indexed_folder: IndexedFolder):
    hits = [hit for hit in indexed_folder.search.search(SearchRequest("convert zloty")) if hit.symbol == "convert"]
    assert len(hits) == 1
    assert b"return zloty" in FILES["typed.py"].encode()[hits[0].start : hits[0].end]


SAME = "def convert_currency(amount):\n    return amount\n"
LINKED = {
    "a/money.py": SAME,
    "b/money.py": SAME,
    "c/money.py": SAME,
    "__init__.py": "",
    "till.py": "from b.money import convert_currency\n",
    "shop.py": "import till\n",
}


@pytest.mark.parametrize(
    ("beside", "first"), [("till.py", "b/money.py"), ("shop.py", "b/money.py"), ("c/money.py", "c/money.py")]
)
def test_the_hit_nearest_to_the_current_file_comes_first(tmp_path: Path, beside: str, first: str):
    with closing(IndexedFolder(tmp_path, LINKED)) as result:
        plain = [hit.path for hit in result.search.search(SearchRequest("convert currency")) if "money" in hit.path]
        assert plain == ["a/money.py", "b/money.py", "c/money.py"]
        best, *_ = result.search.search(SearchRequest("convert currency", current_path=beside))
        assert best.path == first
        assert any(reason.startswith("imports") for reason in best.reasons)
        # nobody is near a file that is not there
        assert [hit.path for hit in result.search.search(SearchRequest("convert currency", current_path="no.py"))][
            :1
        ] == ["a/money.py"]


def test_near_an_open_file_the_last_written_file_comes_first(tmp_path: Path):
    with closing(IndexedFolder(tmp_path, {**LINKED, "far.py": "x = 1\n"})) as result:
        with result.writer.transaction():
            result.writer.execute("UPDATE files SET mtime = 7 WHERE path = 'c/money.py'")
        hits = result.search.search(SearchRequest("convert currency", current_path="far.py"))
        assert [hit.path for hit in hits if "lately 1" in hit.reasons] == ["c/money.py"]
        assert not any(
            "lately" in reason
            for hit in result.search.search(SearchRequest("convert currency"))
            for reason in hit.reasons
        )


def test_equal_hits_do_not_depend_on_the_order_of_indexing(tmp_path: Path):
    files = {f"part_{n}.py": f"def check_stock_{n}(given):\n    return given\n" for n in range(9)}
    requests = [SearchRequest("check the stock", 20, (), path) for path in ("", "part_3.py")]
    found: list[list[list[Hit]]] = []
    for name, paths in (("forward", [*files]), ("backward", [*files][::-1])):
        with closing(IndexedFolder(tmp_path / name, {path: files[path] for path in paths})) as indexed:
            found.append([indexed.search.search(request) for request in requests])
    assert len(found[0][0]) == len(files)
    assert found[0] == found[1]


def test_without_time_only_the_search_by_words_is_used(indexed_folder: IndexedFolder):
    [hit, *_] = indexed_folder.search.search(SearchRequest("parse_order", seconds=0.0))
    assert (hit.symbol, hit.reasons) == ("parse_order", ("words 1",))


def test_a_ranking_that_is_not_finished_in_time_is_left_out(tmp_path: Path):
    many = "".join(f"class C{n}:\n    def parse_order(self):\n        return {n}\n\n\n" for n in range(400))
    with closing(IndexedFolder(tmp_path, {**FILES, "orders.py": many})) as result:
        # as long as nothing is asked of the index there is time
        for before, ways in ((2, {"words"}), (1_000_000, {"name", "words"})):
            times = chain([0.0] * before, repeat(1.0))
            search = CodeSearch(result.reader, lambda times=times: next(times))
            hits = search.search(SearchRequest("parse_order", seconds=1.0))
            assert {reason.split()[0] for hit in hits for reason in hit.reasons} == ways


CART_FILES = {
    "shop/cart.py": (
        "class Base:\n    pass\n\n\nclass Cart(Base):\n    def total(self):\n        return tax(1)\n\n\ndef tax(of):\n"
        "    return of\n"
    ),
    "shop/till.py": "from shop.cart import Cart\n\n\ndef pay(cart: Cart):\n    return cart.total()\n",
    "other.py": "def total_of(them):\n    return 'a total of what is in no cart'\n",
    "far.py": "def pay_later(bill):\n    return bill.total()\n",
}


@pytest.fixture
def indexed_carts(tmp_path: Path):
    with closing(IndexedFolder(tmp_path, CART_FILES)) as result:
        yield result


def group_reasons_by_symbol(hits: list[Hit]) -> dict[str, set[str]]:
    """Return the symbol → the kinds of reasons why it was found."""
    return {hit.symbol: {reason.rpartition(" ")[0] for reason in hit.reasons} for hit in hits if hit.symbol}


def test_code_that_has_to_do_with_a_place_but_not_itself(indexed_carts: IndexedFolder):
    source = CART_FILES["shop/cart.py"]
    result = group_reasons_by_symbol(
        indexed_carts.search.search(SearchRequest(FilePosition("shop/cart.py", source.index("return tax"))))
    )
    assert "Cart.total" not in result
    assert {"used there", "imports"} <= result["tax"]
    assert {"uses it", "words", "imports"} <= result["pay"]
    # it says the name, but nothing leads from there to here
    assert result["pay_later"] == {"words", "lately"}
    assert result["total_of"] == {"words", "lately"}


def test_a_place_between_declarations_belongs_to_the_one_above(indexed_carts: IndexedFolder):
    source = CART_FILES["shop/cart.py"]
    blank = source.index("\n\n\ndef tax") + 2
    at, above = (
        indexed_carts.search.search(SearchRequest(FilePosition("shop/cart.py", offset)))
        for offset in (blank, source.index("return tax"))
    )
    assert at == above


def test_a_symbol_is_found_with_the_symbols_that_it_uses_or_that_use_it(indexed_carts: IndexedFolder):
    hits = indexed_carts.search.search(SearchRequest(SymbolName("Cart")))
    assert (hits[0].symbol, hits[0].reasons[0]) == ("Cart", "named 1")
    result = group_reasons_by_symbol(hits)
    assert "used there" in result["Base"]
    assert "uses it" in result["pay"]
    assert "uses it" not in result["total_of"]


def test_neighbours_of_the_best_hits_are_ranked_higher(indexed_carts: IndexedFolder):
    values = {
        hit.symbol: hit
        for hit in indexed_carts.search.search(SearchRequest("cart tax pay later total of them", 20, seconds=60.0))
        if hit.symbol
    }
    best, others = [values["Cart.total"]], [values[name] for name in ("tax", "pay", "pay_later", "total_of")]

    linked = indexed_carts.search.boost_linked(best, others, 60.0)

    # what it uses and what uses it; nothing leads from one that only has the same words
    assert [hit.reasons[-1].split()[0] == "linked" for hit in linked] == [True, True, False, False]
    assert [new.score > old.score for new, old in zip(linked, others, strict=True)] == [True, True, False, False]
    assert indexed_carts.search.boost_linked(best, others, 0.0) == others


def test_the_symbol_of_the_named_file_comes_first(tmp_path: Path):
    with closing(IndexedFolder(tmp_path, {"a.py": SAME, "b.py": SAME})) as result:
        for path in ("a.py", "b.py"):
            [first, *_] = result.search.search(SearchRequest(SymbolName("convert_currency", path)))
            assert (first.path, first.reasons[0]) == (path, "named 1")


def test_the_names_nearest_to_a_place_come_first(tmp_path: Path):
    text = "from a import one, two, three\n\n\ndef all():\n    one()\n    two()\n    three()\n"
    files = {"a.py": "".join(f"def {name}():\n    return 1\n\n\n" for name in ("one", "two", "three")), "b.py": text}
    with closing(IndexedFolder(tmp_path, files)) as result:
        for name in ("one", "two", "three"):
            hits = result.search.search(SearchRequest(FilePosition("b.py", text.index(f"    {name}()"))))
            assert [hit.symbol for hit in hits if "used there 1" in hit.reasons] == [name]


def test_a_search_for_missing_words_has_no_hit(indexed_carts: IndexedFolder):
    assert indexed_carts.search.search(SearchRequest(SymbolName("nothing"))) == []
    assert indexed_carts.search.search(SearchRequest(FilePosition("nowhere.py", 0))) == []


def test_the_names_of_a_long_task_are_found_at_once():
    assert find_query_names("fix `total` in Cart.add, so run() and total are the same") == {"total", "Cart.add", "run"}
    # otherwise each would take minutes
    assert find_query_names("a." * 100_000 + " b") == {".".join("a" * 100_000)}
    assert find_query_names("a" * 200_000 + " b") == set()
