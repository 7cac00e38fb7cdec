"""The whole way with the real sentence encoder: files are indexed, embedded in the engine's process, and found by a
query of which no word is in them. Everything is on this machine, and what is asked goes over a Unix socket."""

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path

import pytest

from lsp_harness.config.schema import Config, Index, ModelSettings
from lsp_harness.harness.indexes.embedding_index import EmbeddingIndex, find_nearest_texts
from lsp_harness.harness.indexes.folder_index import FolderIndex
from lsp_harness.index.query.code_search import SearchRequest
from lsp_harness.index.vectors import Vectors
from lsp_harness.inference.client import EngineClient
from lsp_harness.inference.embedding_recipe import make_recipe
from lsp_harness.inference.models.catalogue import card
from lsp_harness.inference.models.pull import pull

pytestmark = [pytest.mark.process, pytest.mark.model]

FILES = {
    "shop.py": """
class Cart:
    def __init__(self, items):
        self.items = items

    def total(self):
        return sum(item.price * item.quantity for item in self.items)
""",
    "net.py": """
def dial(host, port):
    return socket.create_connection((host, port), timeout=5)


def reply(sock, body):
    sock.sendall(b"HTTP/1.1 200 OK\\r\\n\\r\\n" + body)
""",
    "lists.py": """
def unique(xs):
    seen = set()
    return [x for x in xs if not (x in seen or seen.add(x))]


def chunked(xs, n):
    return [xs[i : i + n] for i in range(0, len(xs), n)]
""",
    "users.py": """
def hashed(password, salt):
    return hashlib.pbkdf2_hmac("sha256", password.encode(), salt, 100_000)


def notify(address, body):
    message = EmailMessage()
    message["To"] = address
    message.set_content(body)
    smtplib.SMTP("localhost").send_message(message)
""",
    "clock.go": """
package clock

func Elapsed(a, b time.Time) float64 {
	return b.Sub(a).Seconds()
}
""",
    "shapes.py": """
def area(r):
    return math.pi * r ** 2


def rotate(point, angle):
    x, y = point
    return x * math.cos(angle) - y * math.sin(angle), x * math.sin(angle) + y * math.cos(angle)
""",
}
QUERIES = {
    "how much the customer must pay": "Cart.total",
    "reach a server over the network": "dial",
    "remove duplicates": "unique",
    "split into batches": "chunked",
    "secure credentials before storing them": "hashed",
    "deliver mail to somebody": "notify",
    "how long something took": "Elapsed",
    "surface of a circle": "area",
}


@pytest.fixture
def config(home: Path, tiny_model: Path) -> Config:
    """Return settings with the real encoder, and a language model that only has to exist."""
    return Config(
        model=ModelSettings(path=str(tiny_model)), index=Index(embedding_model=str(pull(card("all-minilm-l6-v2")).path))
    )


@pytest.fixture
async def folder(home: Path) -> AsyncIterator[FolderIndex]:
    root = home / "ws"
    root.mkdir()
    for name, text in FILES.items():
        (root / name).write_text(text)
    ready = asyncio.Event()
    made = FolderIndex(root, lambda _, said: ready.set() if said["state"] == "ready" else None, follow=False)
    await ready.wait()
    yield made
    await made.aclose()


async def search(folder: FolderIndex, config: Config, query: str) -> list[dict[str, object]]:
    """Return the output of `lsp-harness search`, run in a process of its own."""
    settings = {"MODEL__PATH": config.model.path, "INDEX__EMBEDDING_MODEL": config.index.embedding_model}
    child = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "lsp_harness", "search", query, str(folder.root), "--json"),
        env={**os.environ, **{f"LSP_HARNESS_{key}": value for key, value in settings.items()}},
        stdout=asyncio.subprocess.PIPE,
    )
    out, _ = await child.communicate()
    return json.loads(out)


async def test_code_is_found_by_words_that_it_does_not_contain(folder: FolderIndex, config: Config):
    engine, how = EngineClient(config), make_recipe(config.index)
    embedding_index = EmbeddingIndex(folder, lambda: engine, lambda: how)
    embedding_index.request_update()
    await embedding_index.wait_until_idle()
    assert embedding_index.problem == ""
    with closing(Vectors(folder.place.folder)) as vectors:
        assert vectors.read_model() == (how.name, 384)
        for query, symbol in QUERIES.items():
            words = await folder.query.search("", SearchRequest(query))
            assert words == [], query
            alike = await find_nearest_texts(vectors, engine, how, query, timeout_s=30)
            hits = await folder.query.search("", SearchRequest(query, 3, alike))
            assert (hits[0].symbol, hits[0].reasons) == (symbol, ("meaning 1",)), (query, hits)
    [first, *_] = await search(folder, config, "how much the customer must pay")
    assert (first["symbol"], first["reasons"]) == ("Cart.total", ["meaning 1"])
    await embedding_index.aclose()
    await engine.aclose()
