"""Search with the real embedding model: code is found by words that it does not contain. Deselect
with `-m "not model"`."""

import pytest

from lsp_harness.inference.models.catalogue import card
from lsp_harness.inference.models.pull import pull
from lsp_harness.inference.running_engines import list_engines
from tests.cli.conftest import Shell

pytestmark = pytest.mark.model

FILES = {
    "shop.py": (
        "class Cart:\n    def total(self):\n        return sum(item.price * item.quantity for item in self.items)\n"
    ),
    "net.py": "def dial(host, port):\n    return socket.create_connection((host, port), timeout=5)\n",
    "lists.py": "def unique(xs):\n    seen = set()\n    return [x for x in xs if not (x in seen or seen.add(x))]\n",
    "users.py": (
        'def hashed(password, salt):\n    return hashlib.pbkdf2_hmac("sha256", password.encode(), salt, 100_000)\n'
    ),
    "bills.py": '"""Turns orders into documents that say what is owed, and until when."""\n\nimport os\n',
    "clock.py": '"""Tells how long something took."""\n\nimport time\n',
    "shapes.py": "def area(r):\n    return math.pi * r ** 2\n",
}
NOTHING_FOUND = "lsp-harness: nothing was found; try other words, or fewer of them\n"
QUERIES = {
    "how much the customer must pay": "Cart.total",
    "reach a server over the network": "dial",
    "remove duplicates": "unique",
    "secure credentials before storing them": "hashed",
    "surface of a circle": "area",
}


@pytest.fixture
def project(request: pytest.FixtureRequest) -> Shell:
    # where it is before the tests have a place of their own
    model = pull(card("all-minilm-l6-v2")).path
    shell: Shell = request.getfixturevalue("shell")
    shell.set("LSP_HARNESS_INDEX__EMBEDDING_MODEL", str(model))
    for name, text in FILES.items():
        shell.file(name, text)
    return shell


def test_code_is_found_by_words_that_it_does_not_contain(project: Shell):
    for query in QUERIES:
        assert project.run("search", query) == (
            1,
            "",
            "lsp-harness: nothing was found; try other words, or fewer of them\n",
        )
    assert project.run("index", "embed").out.startswith("8 vectors made with ")
    for query, symbol in QUERIES.items():
        first, *_ = project.run("search", query, "--json").json
        assert (first["symbol"], first["reasons"]) == (symbol, ["meaning 1"]), query
    # what a module says of itself
    reasons = {hit["path"]: hit["reasons"] for hit in project.run("search", "invoices for buyers", "--json").json}
    assert (reasons["bills.py"], reasons["clock.py"]) == (["remarks 1"], ["remarks 2"])
    chosen, doubt, *others = project.run("locate", "reach a server over the network").out.splitlines()
    assert (chosen, doubt.startswith("not sure: the task names no code")) == ("net.py:1-2: dial", True)
    assert len(others) == 3
    assert list_engines() == []
