"""Tests of the check of the text that may be shown, which runs outside of the event loop if it may take long."""

import threading

import pytest

from lsp_harness.completion import text_generation
from lsp_harness.completion.answer_cache import ModelText
from lsp_harness.completion.rules.ghost_text import Ghost, find_ghost
from lsp_harness.completion.text_generation import LARGE_TREE_NODES, make_presentable_texts
from lsp_harness.config.schema import Completion
from lsp_harness.syntax.parse_budget import Allowance
from lsp_harness.syntax.tree import parse
from lsp_harness.text.document import Document
from lsp_harness.workspace.cursor import Cursor


def make_cursor(lines: int) -> Cursor:
    text = "value = call(1)\n" * lines + "last = "
    document = Document.from_text("file:///a.py", text, language="python")
    tree = parse(document)
    assert tree is not None
    assert (tree.root.descendant_count >= LARGE_TREE_NODES) is (lines > 100)
    return Cursor(document, tree, len(document.data), "a.py")


@pytest.mark.parametrize(("lines", "beside"), [(3, False), (1_000, True)])
async def test_texts_are_judged_beside_the_event_loop_in_a_large_tree(
    lines: int, beside: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    used: list[tuple[int, Allowance | None]] = []
    presentable = text_generation.make_presentable

    def recorded(
        cursor: Cursor, ghost: Ghost, text: ModelText, settings: Completion, allowance: Allowance | None = None
    ) -> str | None:
        used.append((threading.get_ident(), allowance))
        return presentable(cursor, ghost, text, settings, allowance)

    monkeypatch.setattr(text_generation, "make_presentable", recorded)
    # a slow machine must not make a text unknown here
    monkeypatch.setattr(text_generation, "Allowance", lambda seconds: Allowance(1e9))
    here = make_cursor(lines)
    texts = [ModelText("value + 1", None), ModelText("value)", None), ModelText("2", None)]
    assert await make_presentable_texts(here, find_ghost(here), texts, Completion()) == ["value + 1", None, "2"]
    assert {thread != threading.get_ident() for thread, _ in used} == {beside}
    # all share one allowance
    assert len({id(allowance) for _, allowance in used}) == 1
