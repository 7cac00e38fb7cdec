"""Edits for a comment with `ai!`: of several saves of one document, the last one counts."""

import asyncio
from collections.abc import Callable, Coroutine
from types import SimpleNamespace
from typing import Any

import pytest

from lsp_harness.errors import StaleDocument
from lsp_harness.server import comment_trigger
from lsp_harness.text.document import Document
from lsp_harness.workspace.open_documents import OpenDocuments
from lsp_harness.workspace.snapshot import Snapshot

URI = "file:///ws/a.py"
ASKS = "# return a times 2 ai!\n"


class FakeClient:
    """A client with one document, whose edits wait until the test lets them end."""

    def __init__(self) -> None:
        self.documents = OpenDocuments()
        self.begun: list[str] = []
        self.applied: list[str] = []
        self.warnings: list[str] = []
        self.go = asyncio.Event()
        self.tasks: list[asyncio.Task[None]] = []
        edits = SimpleNamespace(comment_request=self.find_request, follow_comment=self.follow)
        self.harness = SimpleNamespace(documents=self.documents, edits=edits)
        self.capabilities = SimpleNamespace(apply_edit=True, progress=False)

    def find_request(self, snapshot: Snapshot) -> Any:
        return SimpleNamespace(span=None) if "ai!" in snapshot.document.text else None

    async def follow(self, snapshot: Snapshot, span: object, report: Callable[..., None]) -> str:
        self.begun.append(snapshot.document.text)
        await self.go.wait()
        if not self.documents.is_current(snapshot.document):
            raise StaleDocument("the document changed while the edit was computed")
        return snapshot.document.text

    def freeze(self, uri: str) -> Snapshot:
        return Snapshot.of(self.documents.get(uri).text, [])

    def spawn(self, work: Coroutine[Any, Any, None], name: str) -> None:
        self.tasks.append(asyncio.create_task(work))

    def warn(self, message: str) -> None:
        self.warnings.append(message)

    show_warning = warn

    def save(self, text: str) -> None:
        opened = self.documents.find(URI)
        if opened is None:
            self.documents.open(Document.from_text(URI, text, language="python"))
        elif opened.text.text != text:
            opened.text = Document.from_text(URI, text, version=opened.text.version + 1, language="python")
        comment_trigger.start(self, URI)  # type: ignore[arg-type]

    async def end(self) -> None:
        self.go.set()
        await asyncio.gather(*self.tasks, return_exceptions=True)


@pytest.fixture
def client(monkeypatch: pytest.MonkeyPatch) -> FakeClient:
    client = FakeClient()

    async def prepare(_: object, written: str) -> str:
        return written

    async def apply(_: object, uri: str, edit: str, label: str) -> None:
        client.applied.append(edit)

    monkeypatch.setattr(comment_trigger, "prepare_written_edit", prepare)
    monkeypatch.setattr(comment_trigger, "apply_edit", apply)
    return client


async def test_a_save_by_the_formatter_replaces_the_running_edit(client: FakeClient) -> None:
    client.save(ASKS + "a=1\n")
    await asyncio.sleep(0)
    client.save(ASKS + "a = 1\n")
    await client.end()
    assert client.begun == [ASKS + "a=1\n", ASKS + "a = 1\n"]
    assert client.applied == [ASKS + "a = 1\n"]
    assert client.warnings == []


async def test_a_save_before_the_edit_has_begun_replaces_it(client: FakeClient) -> None:
    client.save(ASKS + "a=1\n")
    client.save(ASKS + "a = 1\n")
    await client.end()
    assert client.applied == [ASKS + "a = 1\n"]


async def test_a_repeated_save_of_the_same_text_starts_one_edit(client: FakeClient) -> None:
    for _ in range(3):
        client.save(ASKS + "a = 1\n")
        await asyncio.sleep(0)
    await client.end()
    assert client.begun == client.applied == [ASKS + "a = 1\n"]


async def test_a_save_without_the_comment_ends_the_edit(client: FakeClient) -> None:
    client.save(ASKS + "a = 1\n")
    await asyncio.sleep(0)
    client.save("a = 1\n")
    await client.end()
    assert client.applied == []


async def test_after_an_edit_the_next_comment_is_followed(client: FakeClient) -> None:
    client.go.set()
    client.save(ASKS + "a = 1\n")
    await client.end()
    client.save(ASKS + "b = 1\n")
    await client.end()
    assert client.applied == [ASKS + "a = 1\n", ASKS + "b = 1\n"]
