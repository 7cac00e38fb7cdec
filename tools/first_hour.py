"""Generator of `docs/first-hour.md`, with the default model: `python -m tools.first_hour docs/first-hour.md`.

The program runs each command on a small project in a temporary folder and writes what it prints. Nothing is edited but
the names of temporary folders, so that the page shows what the program did on the machine of its author.
"""

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from time import monotonic

PRICES = '''\
"""Prices of the shop, in cents."""


class EmptyCart(Exception):
    """A cart has no items."""


def parse_amount(text):
    return round(float(text) * 100)


def apply_voucher(price, percent):
    """Return the price after a voucher."""
    return price - price * percent // 100


def total_price(items):
    """Return the sum of the prices of items. Raise EmptyCart if there are none."""
    if not items:
        raise EmptyCart("put something into the cart")
    return sum(price * count for price, count in items.values())
'''
CART = '''\
"""The cart of a customer."""

from shop.prices import apply_voucher, total_price

FREE_SHIPPING = 5000


class Cart:
    def __init__(self):
        self.items = {}

    def add(self, name, price, count=1):
        self.items[name] = (price, count)

    def shipping(self):
        return 0 if self.total() > FREE_SHIPPING else 490

    def total(self, voucher=0):
        return apply_voucher(total_price(self.itms), voucher)
'''
TESTS = """\
import pytest

from shop.cart import Cart
from shop.prices import EmptyCart, parse_amount


def test_parse_amount():
    assert parse_amount("19.99") == 1999


def test_total():
    cart = Cart()
    cart.add("tea", 450, 2)
    assert cart.total(voucher=10) == 810


def test_shipping_is_free_from_fifty_euros():
    cart = Cart()
    cart.add("pot", 5000)
    assert cart.shipping() == 0
    cart.add("pot", 4999)
    assert cart.shipping() == 490


def test_an_empty_cart_has_no_total():
    with pytest.raises(EmptyCart):
        Cart().total()
"""
FILES = {
    "shop/__init__.py": "",
    "shop/prices.py": PRICES,
    "shop/cart.py": CART,
    "tests/test_cart.py": TESTS,
    "pyproject.toml": '[tool.pytest.ini_options]\npythonpath = ["."]\n',
}


@dataclass(frozen=True, slots=True)
class Scene:
    """A step of the hour.

    Attributes:
        text: What the reader should know before it.
        command: The command, for a shell.
        typed: The lines that the person types while it runs.
    """

    text: str
    command: str
    typed: tuple[str, ...] = ()


SCENES = (
    Scene(
        "`doctor` says what works here and what the model can do.",
        "lsp-harness doctor | grep -E 'abilities|llama.cpp|speed'",
    ),
    Scene("You have just cloned the shop. What is in it?", 'lsp-harness "what is in shop/cart.py?"'),
    Scene("Facts need no model.", 'lsp-harness "who calls total_price?"'),
    Scene(
        "Words are free, and slips in them are forgiven.", 'lsp-harness "wich errors can total_price throw, please?"'
    ),
    Scene(
        "`explain` shows the code first. What the model says about it is marked, and a sentence with a name that the "
        "code does not have is left out.",
        "lsp-harness explain apply_voucher",
    ),
    Scene(
        "A name in the cart is wrong. Repairs of such errors need no model.", "lsp-harness fix shop/cart.py:19 --apply"
    ),
    Scene("Now the tests.", "python -m pytest -q 2>&1 | tail -4"),
    Scene(
        "Paste or pipe what they print. The comparison that makes the test fail is found by trying the commonest slips "
        "on the lines that it runs.",
        "python -m pytest -q 2>&1 | lsp-harness code --permission-mode trust -",
    ),
    Scene(
        "A conversation goes on with what it did last. Each change is checked, shown and asked about.",
        "lsp-harness code",
        (
            "make parse_amount raise a ValueError for an empty text",
            "y",
            "also the docstring",
            "y",
            "and who calls it?",
            "undo that",
            "/exit",
        ),
    ),
    Scene(
        "A rename changes all uses, and needs no model.",
        'lsp-harness code --permission-mode trust "rename apply_voucher to reduce_price"',
    ),
    Scene(
        "New files are changes, too.",
        'lsp-harness code --permission-mode trust "write hello.py that prints a greeting for a name"',
    ),
    Scene("All of it is in a log.", "lsp-harness sessions list"),
)
PROMPT = re.compile(r"^(you: |Apply\? \[.*\] |Allow\? \[.*\] |What should be different\? )$", re.MULTILINE)
HEAD = """# The first hour

What a new user does first, with the model that ships, on a small shop of two files. The outputs are as they were
printed on two slow cores without a graphics card; `python -m tools.first_hour docs/first-hour.md` makes this page
again. [The code driver](code-driver.md) says what else can be written.
"""


def write_page() -> Iterator[str]:
    """Yield the parts of the page, each after its command has run."""
    with tempfile.TemporaryDirectory(prefix="lsp-harness-hour-") as folder:
        project, home = Path(folder) / "shop", Path(folder) / "home"
        for name, text in FILES.items():
            file = project / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        home.mkdir()
        (home / "config.toml").write_text(f'[permissions]\ntrusted_folders = ["{project}"]\n')
        environment = {**os.environ, "LSP_HARNESS_HOME": str(home), "NO_COLOR": "1", "COLUMNS": "110"}
        # plug-ins of the machine that makes the page would say something about themselves
        environment["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
        environment["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{environment['PATH']}"
        for command in (
            "git init -q",
            "git add -A",
            "git -c user.name=Ada -c user.email=ada@example.org commit -qm 'Open the shop'",
        ):
            subprocess.run(command, shell=True, cwd=project, env=environment, check=True)
        yield HEAD
        for scene in SCENES:
            start_s = monotonic()
            done = subprocess.run(
                scene.command,
                shell=True,
                cwd=project,
                env=environment,
                input="".join(f"{line}\n" for line in scene.typed),
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                check=False,
            )
            shown = _add_typed(done.stdout, scene.typed)
            for path, name in (
                (project, "~/shop"),
                (home, "~/.lsp-harness"),
                (sys.prefix, "~/venv"),
                (Path.home(), "~"),
            ):
                shown = shown.replace(str(path), name)
            seconds = monotonic() - start_s
            yield f"{scene.text}\n\n```console\n$ {scene.command}\n{_trim(shown)}\n```\n\n*{seconds:.0f} s*\n"
        subprocess.run("lsp-harness engine stop", shell=True, cwd=project, env=environment, check=False)


def _add_typed(output: str, typed: tuple[str, ...]) -> str:
    """Return an output with the lines that were typed behind their prompts, as a terminal shows them."""
    lines = iter(typed)
    return PROMPT.sub(lambda match: f"{match[0]}{next(lines, '')}", output)


def _trim(text: str) -> str:
    """Return a text without blanks at the ends of its lines."""
    return "\n".join(line.rstrip() for line in text.rstrip().split("\n"))


def main() -> None:
    """Write the page into the file that the arguments name."""
    parts = list[str]()
    for part in write_page():
        parts.append(part)
        sys.stderr.write(f"{part[:60]!r}\n")
    Path(sys.argv[1]).write_text("\n".join(parts))


if __name__ == "__main__":
    main()
