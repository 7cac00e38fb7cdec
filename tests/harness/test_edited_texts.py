"""Tests that prompts have the unsaved texts of other documents."""

import asyncio

import pytest

from tests.harness.bench import Bench, Make
from tests.harness.tools import make_settings

pytestmark = pytest.mark.process

CART = "class Cart:\n    def total(self): ...\n<|>"
HERE = "from cart import Cart\n\n\ndef owed(cart: Cart):\n    return cart.<|>\n"


async def wait_for_index(b: Bench) -> None:
    """Wait until the index of the folder is ready."""
    ready = asyncio.Event()
    b.on_index(lambda root, said: ready.set() if said["state"] == "ready" else None)
    b.harness.keep_indexes()
    await ready.wait()


async def request_prompt(b: Bench, name: str) -> str:
    """Return the prompt of a completion in a file of that name."""
    src = b.open(HERE, name=name)
    await b.harness.completions.complete(b.harness.snapshot(src.document.uri), src.cursor, automatic=False, single=True)
    b.harness.close(src.document.uri)
    return b.engine.prompt(-1)


async def test_a_prompt_has_unsaved_declarations_and_no_removed_ones(bench: Make):
    b = bench("0", "1", "2", works_ahead=True)
    for name, text in (("cart.py", CART.replace("<|>", "")), ("a.py", ""), ("b.py", ""), ("c.py", "")):
        (b.folder / name).write_text(text or HERE.replace("<|>", ""))
    await wait_for_index(b)
    assert "def total(self): ..." in await request_prompt(b, "a.py")
    cart = b.open(CART, name="cart.py")
    assert "discount" not in await request_prompt(b, "b.py")
    b.type(cart, "    def discount(self, rate): ...\n", cart.cursor)
    assert "    def discount(self, rate): ..." in await request_prompt(b, "c.py")
    b.harness.close(cart.document.uri)
    await b.harness.services.index.folder_indexes.aclose()


async def test_an_import_that_is_not_saved_is_followed(bench: Make):
    b = bench("0", works_ahead=True)
    (b.folder / "cart.py").write_text(CART.replace("<|>", ""))
    (b.folder / "a.py").write_text(HERE.replace("from cart import Cart", "# nothing").replace("<|>", ""))
    await wait_for_index(b)
    src = b.open("<|># nothing\n\n\ndef owed(cart: Cart):\n    return cart.x\n", name="a.py")
    b.type(src, "from cart import Cart\n", src.cursor)
    snapshot = b.harness.snapshot(src.document.uri)
    await b.harness.completions.complete(snapshot, snapshot.document.data.index(b"x\n"), automatic=False, single=True)
    assert "def total(self): ..." in b.engine.prompt(-1)
    await b.harness.services.index.folder_indexes.aclose()


async def test_references_are_found_in_unsaved_text(bench: Make):
    b = bench(works_ahead=True)
    (b.folder / "cart.py").write_text(CART.replace("<|>", ""))
    (b.folder / "a.py").write_text("from cart import Cart as Basket\n")
    await wait_for_index(b)
    cart, other = b.open(CART, name="cart.py"), b.open("<|>", name="b.py")
    b.type(other, "from a import Basket as Last\n\nLast()\n", 0)
    snapshot = b.harness.snapshot(cart.document.uri)
    references = await b.harness.symbols.references(snapshot, len("class C"), include_declaration=True)
    assert [(reference.file.name, reference.line, reference.name) for reference in references] == [
        ("a.py", 0, "Basket"),
        ("b.py", 0, "Last"),
        ("b.py", 2, "Last"),
        ("cart.py", 0, "Cart"),
    ]
    await b.harness.services.index.folder_indexes.aclose()


async def test_the_model_is_asked_again_if_other_files_have_changed(bench: Make):
    b = bench("0", "1", config=make_settings(completion={"max_lines": 1}), works_ahead=True)
    (b.folder / "cart.py").write_text(CART.replace("<|>", ""))
    (b.folder / "a.py").write_text(HERE.replace("<|>", ""))
    await wait_for_index(b)
    src = b.open(HERE, name="a.py")
    snapshot = b.harness.snapshot(src.document.uri)
    for tokens in (512, 512, 0):
        b.harness.configure(make_settings(completion={"max_lines": 1, "repository_tokens": tokens}))
        await b.harness.completions.complete(snapshot, src.cursor, automatic=False, single=True)
    assert ["def total" in b.engine.prompt(n) for n in (0, 1)] == [True, False]
    await b.harness.services.index.folder_indexes.aclose()


async def test_text_that_no_model_may_see_is_in_no_prompt(bench: Make):
    b = bench("0", works_ahead=True)
    (b.folder / ".lspharnessignore").write_text("cart.py\n")
    (b.folder / "a.py").write_text(HERE.replace("<|>", ""))
    await wait_for_index(b)
    cart = b.open(CART, name="cart.py")
    b.type(cart, "    def discount(self, rate): ...\n", cart.cursor)
    assert "discount" not in await request_prompt(b, "a.py")
    await b.harness.services.index.folder_indexes.aclose()


async def test_a_line_with_a_secret_is_in_no_prompt(bench: Make):
    b = bench("0", works_ahead=True)
    (b.folder / "cart.py").write_text(CART.replace("<|>", ""))
    (b.folder / "a.py").write_text(HERE.replace("<|>", ""))
    await wait_for_index(b)
    cart = b.open(CART, name="cart.py")
    secret = "AKIAIOSFODNN7EXAMPLQ"
    b.type(cart, f"    def key(self, key='{secret}'): ...\n    def last(self): ...\n", cart.cursor)
    prompt = await request_prompt(b, "a.py")
    assert "def last(self): ..." in prompt
    assert secret not in prompt
    await b.harness.services.index.folder_indexes.aclose()
