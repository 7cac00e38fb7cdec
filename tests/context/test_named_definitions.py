"""What other files say about the names around a cursor."""

from contextlib import closing
from pathlib import Path

import pytest

from lsp_harness.context.lookup.cursor_names import read_cursor_names
from lsp_harness.context.lookup.named_definitions import find_definitions, fit_signatures
from lsp_harness.context.sources.similar_code import find_similar_code
from lsp_harness.workspace.cursor import Cursor
from tests.context.counting import words as count
from tests.index.place import Indexed
from tests.syntax.markup import Source, marked

FILES = {
    "shop/__init__.py": "",
    "shop/cart.py": (
        "class Cart:\n    def __init__(self, owner): ...\n    def total(self): ...\n    def add(self, item): ...\n    def _hide(self): ...\n"
    ),
    "shop/errors.py": "class Empty(Exception):\n    def __init__(self, message: str, cart) -> None:\n        pass\n\n\ndef unused(): ...\n",
    "other.py": "def total(cart):\n    pass\n\n\ndef pay(cart, card):\n    amount = cart.total()\n    if not amount:\n        raise Empty('nothing', cart)\n    card.charge(amount)\n    return amount\n",
    "here.py": "from shop.cart import Cart\nfrom shop.errors import Empty, unused\n",
}
HERE = (
    "from shop.cart import Cart\nfrom shop.errors import Empty, unused\n\n\ndef check(cart: Cart):\n    amount = cart.total()\n"
    "    if not amount:\n        raise Empty(<|>)\n"
)


@pytest.fixture
def indexed(tmp_path: Path):
    with closing(Indexed(tmp_path, FILES)) as made:
        yield made


def near(source: Source):
    return read_cursor_names(source.tree, source.start)


def cursor(source: Source, path: str) -> Cursor:
    return Cursor(source.tree.document, source.tree, source.start, path)


def test_the_nearest_names_come_first():
    found = near(marked("here.py", HERE))
    assert found.names[:3] == ("def", "check", "cart")
    assert found.members == {"total"}


async def test_definitions_of_what_is_used_as_signatures(indexed: Indexed):
    lines = find_definitions(indexed.view, "here.py", near(marked("here.py", HERE)))
    found = await fit_signatures(lines, 1000, count, "#")
    assert [one.origin for one in found] == ["shop/cart.py", "shop/errors.py"]
    assert found[0].text == (
        "# shop/cart.py\nclass Cart:\n    def __init__(self, owner): ...\n    def total(self): ...\n    def add(self, item): ...\n"
        "    def _hide(self): ...\n"
    )
    assert "def __init__(self, message: str, cart) -> None: ..." in found[1].text


async def test_what_does_not_fit_is_left_out_least_important_first(indexed: Indexed):
    lines = list(find_definitions(indexed.view, "here.py", near(marked("here.py", HERE))))
    whole = await fit_signatures(lines, 1000, count, "#")
    for budget in range(sum(one.tokens for one in whole)):
        found = await fit_signatures(lines, budget, count, "#")
        assert sum(one.tokens for one in found) <= budget
        costs = await count([one.text for one in found])
        assert costs == [one.tokens for one in found]
    less = await fit_signatures(lines, sum(one.tokens for one in whole) - 1, count, "#")
    text = "".join(one.text for one in less)
    assert "class Cart" in text
    assert "_hide" not in text


@pytest.mark.parametrize(
    "source",
    [
        "from shop.errors import (\n    Empty,\n    <|>\n)\n",
        "from shop.cart import Cart\nfrom shop.errors import Empty, <|>\n\n\ndef f(): ...\n",
    ],
)
async def test_what_there_is_to_import(indexed: Indexed, source: str):
    lines = find_definitions(indexed.view, "here.py", near(marked("here.py", source)))
    found = await fit_signatures(lines, 1000, count, "#")
    [errors] = [one for one in found if one.origin == "shop/errors.py"]
    assert errors.text.startswith("# shop/errors.py\n# shop.errors has unused\n")


def test_members_that_share_words_with_what_is_written_come_before_others(indexed: Indexed):
    source = marked("here.py", "from shop.cart import Cart\n\n\ndef check(cart: Cart):\n    grand_total = <|>\n")
    ranks = {line.text.strip(): line.rank[0] for line in find_definitions(indexed.view, "here.py", near(source))}
    assert ranks["def total(self): ..."] < ranks["def add(self, item): ..."] < ranks["def _hide(self): ..."]


def test_code_that_is_alike_with_how_it_goes_on(indexed: Indexed):
    source = marked("here.py", HERE)
    found = find_similar_code(indexed.search, indexed.view, cursor(source, "here.py"))
    origin, text = found[0]
    assert origin == "other.py"
    assert "raise Empty('nothing', cart)" in text


async def test_nothing_is_like_nothing(indexed: Indexed):
    source = marked("new.py", "<|>\n")
    assert find_similar_code(indexed.search, indexed.view, cursor(source, "new.py")) == []
    assert await fit_signatures(find_definitions(indexed.view, "new.py", near(source)), 200, count, "#") == []


def test_of_copies_of_code_that_is_alike_there_is_one(tmp_path: Path):
    copies = {f"v{n}/pay.py": f"# of version {n}\n{FILES['other.py']}" for n in range(4)}
    source = marked("here.py", HERE)
    with closing(Indexed(tmp_path, copies | {"late.py": FILES["other.py"].replace("amount", "sum")})) as made:
        found = find_similar_code(made.search, made.view, cursor(source, "here.py"))
    assert sum(path.endswith("/pay.py") for path, _ in found) == 1
    assert {path for path, _ in found} >= {"late.py"}
