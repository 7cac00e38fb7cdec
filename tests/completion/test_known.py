"""Use of the index by completion outside the prompt: lists of imports without a model, and names that are likely."""

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from lsp_harness.completion.completer import Completer
from lsp_harness.completion.document_completions import DocumentCompletions
from lsp_harness.context import source_registry
from lsp_harness.context.context_source import CompletionSource, Share
from lsp_harness.context.fragment import Fragment
from lsp_harness.context.repository_context import RepositoryContext
from lsp_harness.inference.request import Infill
from lsp_harness.syntax.tree import parse
from tests.context.counting import count_words as count
from tests.harness.tools import Script, make_settings
from tests.index.place import IndexedFolder
from tests.support import markup
from tests.support.desk import Desk

FILES = {"shop/__init__.py": "", "shop/cart.py": "class Cart: ...\n\n\ndef total(cart): ...\n"}
HEAD = "from .cart import Cart, total\n"


@pytest.fixture
def repository(tmp_path: Path):
    with closing(IndexedFolder(tmp_path, {**FILES, "shop/here.py": HEAD})) as indexed:
        yield RepositoryContext(indexed.query, count)


async def complete(source: str, repository: RepositoryContext, *replies: Any, **changes: Any) -> tuple[Any, Script]:
    src = markup.parse(source, "shop/here.py")
    engine = Script(*replies)
    completer = Desk(Completer(engine, make_settings(completion=changes).completion, repository=repository))
    suggestion = await completer.complete(src.document, parse(src.document), src.cursor, "shop/here.py")
    await engine.aclose()
    return suggestion, engine


async def test_a_list_of_imports_needs_no_model(repository: RepositoryContext):
    result, engine = await complete("from .cart import <|>\n\nx = total(Cart())\n", repository)
    assert result.text == "Cart, total"
    assert result.stats["known"] is True
    assert (result.stats["evaluated"], result.stats["generated"], engine.foreground_requests) == (0, 0, [])


async def test_a_request_for_a_choice_gets_that_alone(repository: RepositoryContext):
    src = markup.parse("from .cart import <|>\n\nx = total(Cart())\n", "shop/here.py")
    completer = Desk(Completer(Script(), make_settings().completion, repository=repository))
    suggestions = await completer.choices(src.document, parse(src.document), src.cursor, "shop/here.py")
    assert [result.text for result in suggestions] == ["Cart, total"]


@pytest.mark.parametrize(
    ("source", "changes"),
    [
        ("from .cart import <|>\n\nx = 1\n", {}),
        ("from .cart import <|>\n\nx = total(Cart())\n", {"repository_tokens": 0}),
    ],
)
async def test_without_a_known_answer_the_model_is_asked(
    repository: RepositoryContext, source: str, changes: dict[str, Any]
):
    result, engine = await complete(source, repository, "Cart", **changes)
    assert result.text == "Cart"
    assert "known" not in result.stats
    assert len(engine.foreground_requests) == 1


@pytest.mark.parametrize(
    ("body", "expected"),
    [("x = <|>\n", ("total", "Cart")), ("x = total(<|>)\n", ("Cart",)), ("total(Cart(<|>))\n", ())],
)
async def test_imported_names_that_are_not_used_are_expected(
    repository: RepositoryContext, body: str, expected: tuple[str, ...]
):
    _, engine = await complete(HEAD + "\n\n" + body, repository, "1")
    [request] = engine.foreground_requests
    assert isinstance(request, Infill)
    assert request.sampling.expected == expected
    _, engine = await complete(HEAD + "\n\n" + body, repository, "1", repository_tokens=0)
    assert [
        foreground_request.sampling.expected
        for foreground_request in engine.foreground_requests
        if isinstance(foreground_request, Infill)
    ] == [()]


@pytest.mark.parametrize("changes", [{}, {"repository_tokens": 0}])
async def test_names_that_the_code_below_needs_are_in_the_request(
    repository: RepositoryContext, changes: dict[str, Any]
):
    body = "def f():\n    <|>\n    return amount\n"
    _, engine = await complete(HEAD + "\n\n" + body, repository, "amount = 1", **changes)
    [request] = engine.foreground_requests
    assert isinstance(request, Infill)
    assert request.sampling.unbound == ("amount",)


async def test_a_document_that_is_closed_is_forgotten(repository: RepositoryContext, monkeypatch: pytest.MonkeyPatch):
    turns = list[int]()

    class TurnSource(CompletionSource):
        name, share, order, reasons = "turns", Share(), 1, ()

        async def find_fragments(self, budget: int, quoted: Sequence[Fragment]) -> Sequence[Fragment]:
            turns.append(budget)
            return ()

    monkeypatch.setattr(source_registry, "COMPLETION_SOURCES", (TurnSource,))
    src, engine = markup.parse("x = <|>\n", "shop/here.py"), Script("1")
    desk = Desk(Completer(engine, make_settings().completion, repository=repository))

    async def complete_here() -> int:
        await desk.complete(src.document, parse(src.document), src.cursor, "shop/here.py")
        return len(turns)

    assert await complete_here() == 1
    # a second request at the same place has the same context
    desk.opened(src.document).part(DocumentCompletions).displayed.current = ()
    assert await complete_here() == 1
    desk.close(src.document.uri)
    assert await complete_here() == 2
    await engine.aclose()
