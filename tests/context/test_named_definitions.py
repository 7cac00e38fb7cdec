"""The definitions in other files of the names around a cursor."""

from contextlib import closing
from pathlib import Path

import pytest

from lsp_harness.context.lookup.cursor_names import read_cursor_names
from lsp_harness.context.sources.index_sources import fit_signatures
from lsp_harness.index.query.code_search import SimilarCode, find_similar_code
from lsp_harness.index.query.definition_lines import find_definition_lines
from tests.context.counting import count_words as count
from tests.index.place import IndexedFolder
from tests.syntax.markup import Source, parse_marked

FILES = {
    "shop/__init__.py": "",
    "shop/cart.py": (
        "class Cart:\n    def __init__(self, owner): ...\n    def total(self): ...\n"
        "    def add(self, item): ...\n    def _hide(self): ...\n"
    ),
    "shop/errors.py": (
        "class Empty(Exception):\n    def __init__(self, message: str, cart) -> None:\n        pass\n\n\n"
        "def unused(): ...\n"
    ),
    "other.py": (
        "def total(cart):\n    pass\n\n\ndef pay(cart, card):\n    amount = cart.total()\n    if not amount:\n"
        "        raise Empty('nothing', cart)\n    card.charge(amount)\n    return amount\n"
    ),
    "here.py": "from shop.cart import Cart\nfrom shop.errors import Empty, unused\n",
}
HERE = (
    "from shop.cart import Cart\nfrom shop.errors import Empty, unused\n\n\ndef check(cart: Cart):\n"
    "    amount = cart.total()\n"
    "    if not amount:\n        raise Empty(<|>)\n"
)


@pytest.fixture
def indexed_folder(tmp_path: Path):
    with closing(IndexedFolder(tmp_path, FILES)) as index:
        yield index


def find_names_at(source: Source):
    return read_cursor_names(source.tree, source.start)


def find_similar_code_at(indexed: IndexedFolder, path: str, source: Source) -> list[SimilarCode]:
    document = source.tree.document
    return find_similar_code(indexed.view, path, document, document.line_of(source.start))


def test_the_nearest_names_come_first():
    names = find_names_at(parse_marked("here.py", HERE))
    assert names.names[:3] == ("def", "check", "cart")
    assert names.members == {"total"}


async def test_definitions_of_used_names_are_shown_as_signatures(indexed_folder: IndexedFolder):
    lines = find_definition_lines(indexed_folder.view, "here.py", find_names_at(parse_marked("here.py", HERE)))
    fragments = await fit_signatures(lines, 1000, count, "#")
    assert [fragment.origin for fragment in fragments] == ["shop/cart.py", "shop/errors.py"]
    assert fragments[0].text == (
        "# shop/cart.py\nclass Cart:\n    def __init__(self, owner): ...\n    def total(self): ...\n"
        "    def add(self, item): ...\n"
        "    def _hide(self): ...\n"
    )
    assert "def __init__(self, message: str, cart) -> None: ..." in fragments[1].text


async def test_definitions_that_do_not_fit_are_left_out_least_important_first(indexed_folder: IndexedFolder):
    lines = list(find_definition_lines(indexed_folder.view, "here.py", find_names_at(parse_marked("here.py", HERE))))
    complete = await fit_signatures(lines, 1000, count, "#")
    for budget in range(sum(fragment.tokens for fragment in complete)):
        fragments = await fit_signatures(lines, budget, count, "#")
        assert sum(fragment.tokens for fragment in fragments) <= budget
        costs = await count([fragment.text for fragment in fragments])
        assert costs == [fragment.tokens for fragment in fragments]
    less = await fit_signatures(lines, sum(fragment.tokens for fragment in complete) - 1, count, "#")
    text = "".join(fragment.text for fragment in less)
    assert "class Cart" in text
    assert "_hide" not in text


@pytest.mark.parametrize(
    "source",
    [
        "from shop.errors import (\n    Empty,\n    <|>\n)\n",
        "from shop.cart import Cart\nfrom shop.errors import Empty, <|>\n\n\ndef f(): ...\n",
    ],
)
async def test_names_that_can_be_imported(indexed_folder: IndexedFolder, source: str):
    lines = find_definition_lines(indexed_folder.view, "here.py", find_names_at(parse_marked("here.py", source)))
    fragments = await fit_signatures(lines, 1000, count, "#")
    [errors] = [fragment for fragment in fragments if fragment.origin == "shop/errors.py"]
    assert errors.text.startswith("# shop/errors.py\n# shop.errors has unused\n")


def test_members_that_share_words_with_the_written_code_come_first(indexed_folder: IndexedFolder):
    source = parse_marked("here.py", "from shop.cart import Cart\n\n\ndef check(cart: Cart):\n    grand_total = <|>\n")
    ranks = {
        line.text.strip(): line.rank[0]
        for line in find_definition_lines(indexed_folder.view, "here.py", find_names_at(source))
    }
    assert ranks["def total(self): ..."] < ranks["def add(self, item): ..."] < ranks["def _hide(self): ..."]


def test_similar_code_is_shown_with_the_lines_after_it(indexed_folder: IndexedFolder):
    source = parse_marked("here.py", HERE)
    results = find_similar_code_at(indexed_folder, "here.py", source)
    assert results[0].path == "other.py"
    assert "raise Empty('nothing', cart)" in results[0].text


async def test_an_empty_file_has_no_similar_code(indexed_folder: IndexedFolder):
    source = parse_marked("new.py", "<|>\n")
    assert find_similar_code_at(indexed_folder, "new.py", source) == []
    assert (
        await fit_signatures(
            find_definition_lines(indexed_folder.view, "new.py", find_names_at(source)), 200, count, "#"
        )
        == []
    )


def test_only_one_of_several_copies_is_shown(tmp_path: Path):
    copies = {f"v{n}/pay.py": f"# of version {n}\n{FILES['other.py']}" for n in range(4)}
    source = parse_marked("here.py", HERE)
    with closing(
        IndexedFolder(tmp_path, copies | {"late.py": FILES["other.py"].replace("amount", "sum")})
    ) as indexed_copies:
        results = find_similar_code_at(indexed_copies, "here.py", source)
    assert sum(code.path.endswith("/pay.py") for code in results) == 1
    assert {code.path for code in results} >= {"late.py"}
