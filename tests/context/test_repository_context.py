"""The repository context of completions, and for how long a choice of it holds."""

from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from lsp_harness.context.fragment import Fragment
from lsp_harness.context.recent_edits import RecentEdits
from lsp_harness.context.repository_context import CHOICE_RADIUS_LINES, RepositoryChoice, RepositoryContext
from lsp_harness.index.index_query import IndexQuery
from lsp_harness.index.index_view import IndexView
from lsp_harness.index.unsaved_text import UnsavedText
from lsp_harness.store.database import DatabaseReader
from lsp_harness.syntax.symbols.declarations import find_declarations
from lsp_harness.syntax.tree import parse
from lsp_harness.text.document import Document
from lsp_harness.workspace.cursor import Cursor
from tests.context.counting import count_words as count
from tests.index.place import IndexedFolder

FILES = {
    "shop/__init__.py": "",
    "shop/cart.py": "class Cart:\n    def total(self): ...\n    def add(self, item): ...\n",
    "shop/money.py": (
        "def convert(amount, rate): ...\ndef rounded(amount): ...\ndef taxed(amount): ...\ndef owed(amount): ...\n"
    ),
    "other.py": (
        "def pay(cart, card):\n    amount = cart.total()\n    if not amount:\n        raise Empty(cart)\n"
        "    card.charge(amount)\n"
    ),
}
HEAD = "from shop.cart import Cart\nfrom shop.money import convert, owed, rounded, taxed\n\n\n"
CHECK = "def check(cart: Cart, card):\n    amount = cart.total()\n    if not amount:\n        return\n"
HERE = HEAD + CHECK + "\n\n" + "# nothing\n" * 90 + "def price(amount):\n    return convert(amount, 3)\n"
HERE += "# nothing\n" * 90 + "def due(amount):\n    return owed(rounded(taxed(amount)))\n"


class Known:
    def __init__(self, reader: DatabaseReader) -> None:
        self.reader = reader
        self.asked = 0
        self.edited: dict[str, UnsavedText] = {}

    async def run(self, uri: str, question: Callable[[IndexView], Any], default: Any, *, is_slow: bool = False) -> Any:
        self.asked += 1
        return question(IndexView(self.reader, self.edited))


class Desk:
    """A document, and the fragments that are chosen for its places."""

    def __init__(self, indexed: IndexedFolder) -> None:
        self.known = Known(indexed.reader)
        self.elsewhere = RepositoryContext(IndexQuery(self.known), count)
        self.choice = RepositoryChoice()
        self.text = HERE

    async def at(self, mark: str, budget: int = 200, *, rests: bool = False) -> tuple[Fragment, ...]:
        document = Document.from_text("file:///here.py", self.text, language="python")
        offset = len(self.text[: self.text.index(mark)].encode()) + len(mark)
        cursor = Cursor(document, parse(document), offset, "here.py")
        return await self.elsewhere.find_fragments(cursor, budget, self.choice, is_resting=rests)


@pytest.fixture
def desk(tmp_path: Path):
    with closing(IndexedFolder(tmp_path, {**FILES, "here.py": HEAD})) as indexed:
        yield Desk(indexed)


def list_origins(fragments: tuple[Fragment, ...]) -> list[str]:
    """Return the files of the definitions."""
    return [fragment.origin for fragment in fragments if fragment.reason.startswith("defines")]


async def test_definitions_come_before_code_that_is_alike(desk: Desk):
    fragments = await desk.at("if not amount")
    assert list_origins(fragments) == ["shop/cart.py"]
    assert "    def total(self): ..." in fragments[0].text
    others = [fragment for fragment in fragments[1:] if fragment.origin != "here.py"]
    assert others[-1].origin == "other.py"
    assert "amount = cart.total()" in others[-1].text
    assert {fragment.reason for fragment in others} == {others[-1].reason}


async def test_similar_lines_of_the_file_itself_come_after_code_of_other_files(desk: Desk):
    fragments = await desk.at("if not amount")
    own = [fragment for fragment in fragments if fragment.reason == "similar lines of this file"]
    assert own == [*fragments[-len(own) :]]
    assert {fragment.origin for fragment in own} == {"here.py"}
    assert "def price(amount):" in own[-1].text


@pytest.mark.parametrize("budget", [0, 5, 12, 20, 40, 200])
async def test_the_repository_context_stays_within_the_budget(desk: Desk, budget: int):
    fragments = await desk.at("if not amount", budget)
    assert sum(fragment.tokens for fragment in fragments) <= budget
    assert await count([fragment.text for fragment in fragments]) == [fragment.tokens for fragment in fragments]
    assert bool(fragments) == (budget >= 4)


async def test_typing_near_the_place_keeps_the_same_fragments(desk: Desk):
    first = await desk.at("if not amount")
    desk.text = desk.text.replace("        return\n", "        return rounded(\n")
    questions = desk.known.asked
    assert await desk.at("rounded(\n") is first
    assert desk.known.asked == questions


async def test_the_fragments_change_with_the_place(desk: Desk):
    await desk.at("if not amount", 40)
    assert HERE[: HERE.index("def price")].count("\n") > 8 + CHOICE_RADIUS_LINES
    paths = list_origins(await desk.at("convert(amount", 40))
    assert "shop/money.py" in paths
    assert "shop/cart.py" not in paths


async def test_the_fragments_are_chosen_again_at_rest_if_other_code_is_relevant(desk: Desk):
    first = await desk.at("if not amount", 40)
    assert await desk.at("cart.total()", 40, rests=True) is first
    desk.text = desk.text.replace("        return\n", "        return rounded(taxed(owed(convert(amount, 2))))\n")
    assert "shop/money.py" not in list_origins(first)
    assert await desk.at("rounded(taxed", 40) is first
    assert "shop/money.py" in list_origins(await desk.at("rounded(taxed", 40, rests=True))


async def test_a_document_without_a_choice_gets_a_new_one(desk: Desk):
    await desk.at("if not amount")
    questions = desk.known.asked
    desk.choice = RepositoryChoice()
    await desk.at("if not amount")
    assert desk.known.asked == 2 * questions


async def test_a_text_in_an_unknown_language_has_no_fragments(desk: Desk):
    document = Document.from_text("file:///x.odd", "a\n", language="odd")
    assert await desk.elsewhere.find_fragments(Cursor(document, None, 1, "x.odd"), 200) == ()


async def test_recent_edits_have_their_share_and_come_last(desk: Desk):
    desk.text = HEAD + CHECK
    late = "def paid(cart, card):\n    amount = cart.paid()\n    if not amount:\n        return late_payment(cart)\n"
    open_texts = {"file:///late.py": Document.from_text("file:///late.py", late)}
    recent = RecentEdits(open_texts.get, lambda uri, path: "")
    desk.elsewhere = RepositoryContext(IndexQuery(desk.known), count, recent)
    before = await desk.at("amount = cart.total()", rests=True)
    assert "was edited lately" not in {fragment.reason for fragment in before}
    recent.record_edit("file:///late.py", "late.py", 1)
    after = await desk.at("amount = cart.total()", rests=True)
    assert (after[-1].origin, after[-1].reason) == ("late.py", "was edited lately")
    assert after[-1].tokens <= 0.25 * 200
    # what is shown already is not shown again as what is like it
    recent.record_edit("file:///other.py", "other.py", 1)
    open_texts["file:///other.py"] = Document.from_text("file:///other.py", FILES["other.py"])
    again = await desk.at("amount = cart.total()", rests=True)
    assert [fragment.reason for fragment in again if fragment.origin == "other.py"] in ([], ["was edited lately"])


@pytest.mark.parametrize("budget", [0, 20, 60, 200])
async def test_fragments_with_recent_edits_stay_within_the_budget(desk: Desk, budget: int):
    text = "def paid(cart, card):\n    amount = cart.paid()\n" * 9
    recent = RecentEdits(lambda uri: Document.from_text(uri, text), lambda uri, path: "")
    desk.elsewhere = RepositoryContext(IndexQuery(desk.known), count, recent)
    for n in range(5):
        recent.record_edit(f"file:///{n}.py", f"{n}.py", n)
    fragments = await desk.at("amount = cart.total()", budget, rests=True)
    assert sum(fragment.tokens for fragment in fragments) <= budget


async def test_unsaved_text_is_used_instead_of_the_saved_text(desk: Desk):
    text = "class Cart:\n    def total(self): ...\n    def discount(self, rate): ...\n"
    tree = parse(Document.from_text("file:///shop/cart.py", text))
    assert tree
    desk.known.edited = {
        "shop/cart.py": UnsavedText("python", text.encode(), *find_declarations(tree.language, tree.data, tree.root))
    }
    [cart, *_] = await desk.at("if not amount")
    assert cart.text == f"# shop/cart.py\n{text}"


async def test_late_answers_of_the_index_are_left_out(desk: Desk):
    ticks = iter([0.0, *[0.1] * 2, *[1.0] * 1000])
    desk.elsewhere = RepositoryContext(IndexQuery(desk.known), count, clock=lambda: next(ticks))
    some = await desk.at("if not amount")
    desk.elsewhere, desk.choice = (
        RepositoryContext(IndexQuery(desk.known), count, clock=lambda: 0.0),
        RepositoryChoice(),
    )
    assert len(some) < len(await desk.at("if not amount"))
