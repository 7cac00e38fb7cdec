"""The code that the user wrote last, in the prompts of later requests."""

from tests.harness.bench import Bench, Make

CART = "def total(cart, rate):\n    amount = cart.total()\n    return<|>\n"
HERE = "def owed(cart, rate):\n    amount = cart.owed()\n    return <|>\n"


async def request_prompt(b: Bench, name: str) -> str:
    """Return the prompt of a completion in a file that is opened for it.

    Each file is new, because the context that was chosen for a place stays the same there.
    """
    src = b.open(HERE, name=name)
    await b.harness.completions.complete(b.harness.snapshot(src.document.uri), src.cursor, automatic=False, single=True)
    return b.engine.prompt(-1)


async def test_the_prompt_has_text_that_was_typed_in_another_file(bench: Make):
    b = bench("0", "1", "2")
    cart = b.open(CART, name="cart.py")
    assert "convert" not in await request_prompt(b, "a.py")
    b.type(cart, " convert(amount, rate)", cart.cursor)
    shown = "# cart.py\ndef total(cart, rate):\n    amount = cart.total()\n    return convert(amount, rate)\n"
    assert shown in await request_prompt(b, "b.py")
    b.harness.close(cart.document.uri)
    assert shown in await request_prompt(b, "c.py")


async def test_the_prompt_has_no_text_of_a_private_file(bench: Make):
    b = bench("0", "1")
    (b.folder / ".lspharnessignore").write_text("cart.py\n")
    await request_prompt(b, "a.py")
    cart = b.open(CART, name="cart.py")
    b.type(cart, " convert(amount, rate)", cart.cursor)
    assert "convert" not in await request_prompt(b, "b.py")
