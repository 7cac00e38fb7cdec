"""Search results for a task, in the prompt of an instruction."""

from contextlib import closing
from pathlib import Path

import pytest

from lsp_harness.config.schema import Context
from lsp_harness.context.context_inputs import CodeSelection, WorkspaceScope
from lsp_harness.context.fragment import Fragment, sum_tokens
from lsp_harness.context.instruction_prompt import build_instruction_prompt
from lsp_harness.context.sources.index_sources import SearchResultSource
from lsp_harness.text.position import Span
from tests.context.counting import count_words as count
from tests.context.source_call import make_inputs, read_fragments
from tests.index.place import IndexedFolder
from tests.syntax.markup import Source, parse_marked

TILL = """\
from shop.money import rounded


<|>def pay(price):
    return rounded(price)
<|>

def refund(price):
    return -price
"""
VAT = "def with_vat(price, rate):\n    '''Adds value added tax.'''\n    return price * (1 + rate)\n"
FILES = {
    "shop/till.py": TILL.replace("<|>", ""),
    "shop/money.py": "def rounded(price):\n    '''Of a price with value added tax.'''\n    return price\n",
    "shop/tax.py": f"import os\n\n\n{VAT}",
    "taxes/copy.py": VAT,
    "shop/tax.js": "function with_vat(price) { return price; }\n",
    "notes.md": "Value added tax is added to the price: with_vat.\n",
}
TASK = "add value added tax to the price, as with_vat does"


@pytest.fixture
def indexed_folder(tmp_path: Path):
    with closing(IndexedFolder(tmp_path, FILES)) as index:
        yield index


def quote(text: str, origin: str) -> Fragment:
    return Fragment(text, 1, origin, "")


async def find_results(
    indexed: IndexedFolder, budget: int = 1000, task: str = TASK, quoted: tuple[Fragment, ...] = ()
) -> tuple[Fragment, ...]:
    source: Source = parse_marked("shop/till.py", TILL)
    code = CodeSelection(source.tree.document, source.tree, Span(source.start, source.end), "shop/till.py")
    scope = WorkspaceScope(indexed.query)
    return await read_fragments(SearchResultSource, make_inputs(code, scope, search_text=task), budget, quoted)


async def test_code_that_matches_a_task_is_shown_with_its_place(indexed_folder: IndexedFolder):
    first, *others = await find_results(indexed_folder)
    assert (first.text, first.reason) == (f"# shop/tax.py:4\n{VAT}", "found for the task")
    # neither the code itself, nor a copy, another language or prose
    assert {fragment.origin for fragment in others} == {"shop/money.py"} | {
        fragment.origin for fragment in others if "refund" in fragment.text
    }
    assert not any("def pay" in fragment.text for fragment in others)


async def test_code_that_the_prompt_already_shows_is_not_shown_again(indexed_folder: IndexedFolder):
    for text, origin in (
        ("# shop/tax.py\ndef with_vat(price, rate): ...\n", "shop/tax.py"),
        (f"# shop/tax.py\n{VAT}", "shop/tax.py"),
        (f"# elsewhere.py\n{VAT}", "elsewhere.py"),
    ):
        assert "with_vat" not in "".join(
            fragment.text for fragment in await find_results(indexed_folder, quoted=(quote(text, origin),))
        )
    # that it is used somewhere does not show it
    used = quote("# shop/tax.py, in total()\nwith_vat(3, 4)\n", "shop/tax.py")
    assert "def with_vat" in (await find_results(indexed_folder, quoted=(used,)))[0].text


async def test_without_room_for_the_whole_code_its_signature_is_shown(indexed_folder: IndexedFolder):
    [complete] = await count([f"# shop/tax.py:4\n{VAT}"])
    texts = {
        budget: [fragment.text for fragment in await find_results(indexed_folder, budget)]
        for budget in range(complete + 1)
    }
    for budget, quotes in texts.items():
        assert sum(await count(quotes)) <= budget
    assert texts[complete][0] == f"# shop/tax.py:4\n{VAT}"
    assert "# shop/tax.py:4\ndef with_vat(price, rate): ...\n" in texts[complete - 1]
    assert texts[0] == []


async def test_a_key_is_not_shown(tmp_path: Path):
    secret = VAT.replace("price * (1", "'sk-" + "a1B2" * 8 + "' * (1")
    with closing(IndexedFolder(tmp_path, {**FILES, "shop/tax.py": secret, "taxes/copy.py": ""})) as other:
        assert not any("a1B2" in fragment.text for fragment in await find_results(other))


@pytest.mark.parametrize(
    ("related_budget", "code_budget", "is_shown"),
    [(384, 1536, True), (384, 12, False), (12, 1536, False), (0, 1536, False)],
)
async def test_search_results_get_the_rest_of_the_budget_for_related_code(
    indexed_folder: IndexedFolder, related_budget: int, code_budget: int, is_shown: bool
):
    source = parse_marked("shop/till.py", TILL)
    code = CodeSelection(source.tree.document, source.tree, Span(source.start, source.end), "shop/till.py")
    scope = WorkspaceScope(indexed_folder.query)
    settings = Context(related_budget=related_budget, code_budget=code_budget)
    read = make_inputs(code, scope, settings, search_text=TASK)
    prompt = await build_instruction_prompt(read, system="You edit.", task=Fragment(TASK, 10, "", "the task"))
    assert sum_tokens(prompt.find("related")) <= related_budget
    assert sum(sum_tokens(prompt.find(name)) for name in ("code", "examples", "related")) <= code_budget
    text = prompt.messages[1][1]
    # `rounded` is used there, and shown as that already
    assert text.count("def rounded") <= 1
    assert ("def with_vat" in text) == is_shown


LONG = "def with_vat(price):\n    '''Adds value added tax.'''\n" + "    price += 1\n" * 90 + "    return price\n"
CLASS = "class Tax:\n    '''Value added tax.'''\n\n    def with_vat(self, price):\n        return price\n"


@pytest.mark.parametrize(("text", "head"), [(LONG, "def with_vat(price)"), (CLASS, "class Tax")])
async def test_a_declaration_of_several_chunks_is_shown_whole_or_by_its_signature(tmp_path: Path, text: str, head: str):
    files = {"shop/till.py": FILES["shop/till.py"], "shop/tax.py": text}
    with closing(IndexedFolder(tmp_path, files)) as other:
        task = "value added tax"
        [complete] = [fragment for fragment in await find_results(other, task=task) if fragment.origin == "shop/tax.py"]
        assert complete.text == f"# shop/tax.py:1\n{text}"
        texts = [
            fragment.text
            for fragment in await find_results(other, complete.tokens - 1, task)
            if fragment.origin == "shop/tax.py"
        ]
        assert texts[0].startswith(f"# shop/tax.py:1\n{head}")
        assert texts[0].count("\n") == 2


async def test_without_words_no_search_is_made(indexed_folder: IndexedFolder):
    assert await find_results(indexed_folder, task="  ") == ()
