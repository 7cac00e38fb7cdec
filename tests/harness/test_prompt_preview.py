"""The preview of a prompt, as a document."""

from collections.abc import Sequence

import pytest

from lsp_harness.context import source_registry
from lsp_harness.context.context_source import CompletionSource, InstructionSource, SectionTitle, Share
from lsp_harness.context.fragment import Fragment
from lsp_harness.context.source_registry import COMPLETION_SOURCES, INSTRUCTION_SOURCES
from lsp_harness.errors import NoAnswer, UsageError
from lsp_harness.text.position import Span
from tests.harness.bench import Make
from tests.harness.tools import make_settings

TEXT = "import math\n\n\ndef area(r):\n    return <|>math.pi * r ** 2\n"


async def test_the_preview_shows_the_parts_of_the_prompt_of_a_completion(bench: Make):
    b = bench()
    preview = await b.harness.preview()
    src = b.open(TEXT)
    prompt = await preview.completion(b.harness.snapshot(src.document.uri), src.cursor)
    parts, usage = await preview.evaluate(prompt)
    assert [part.reason for part in parts][-2:] == ["text after the cursor", "text before the cursor"]
    text = preview.render(prompt, parts, usage)
    assert text.startswith("# Completion\n\n| fragment | origin | reason | tokens | |\n")
    assert "| `math.pi * r ** 2` | `a.py` | text after the cursor |" in text
    assert f"| reserved for the answer, at most | {prompt.answer} |" in text
    assert "| | | the model's context | 8192 |  |" in text
    assert "    return <FILL>math.pi * r ** 2\n" in text
    assert text.endswith("```\n")


async def test_the_names_that_are_made_likelier(bench: Make):
    b = bench()
    preview = await b.harness.preview()
    src = b.open("def area(r):\n    <|>\n    return side * r\n")
    prompt = await preview.completion(b.harness.snapshot(src.document.uri), src.cursor)
    # an engine that is not told of them
    assert not prompt.likelier
    b.engine.extra_props["features"] = {"expected": True}
    prompt = await preview.completion(b.harness.snapshot(src.document.uri), src.cursor)
    text = preview.render(prompt, *await preview.evaluate(prompt))
    assert "| | | names that are made more likely | 1 | side (needed below) |" in text


async def test_the_preview_shows_the_parts_of_the_prompt_of_an_edit(bench: Make):
    b = bench()
    preview = await b.harness.preview()
    src = b.open(TEXT)
    snapshot = b.harness.snapshot(src.document.uri)
    prompt = await preview.edit(snapshot, Span(src.cursor, src.cursor), "use r | 2")
    text = preview.render(prompt, *await preview.evaluate(prompt))
    assert text.startswith("# Edit: use r | 2\n")
    assert "| `Instruction: use r   2` |  | the task |" in text
    assert "imports that it uses" in text
    with pytest.raises(NoAnswer, match="no code here to edit"):
        await preview.edit(snapshot, Span(12, 12), "use r")


async def test_private_text_is_not_shown_in_the_preview(bench: Make):
    b = bench()
    preview = await b.harness.preview()
    src = b.open("KEY = <|>1\n", name=".env")
    snapshot = b.harness.snapshot(src.document.uri)
    with pytest.raises(NoAnswer, match="not sent to the model"):
        await preview.completion(snapshot, src.cursor)
    src = b.open("a = <|>1\n")
    untrusted = await bench(is_trusted=False).harness.preview()
    with pytest.raises(UsageError, match="not trusted"):
        await untrusted.edit(b.harness.snapshot(src.document.uri), Span(0, 0), "change it")


async def test_the_preview_names_the_parts_without_room(bench: Make):
    b = bench(config=make_settings(context={"related_budget": 0}))
    preview = await b.harness.preview()
    src = b.open(TEXT)
    snapshot = b.harness.snapshot(src.document.uri)
    b.engine.extra_props["n_ctx"] = 64
    prompt = await preview.completion(snapshot, src.cursor)
    parts, usage = await preview.evaluate(prompt)
    needed = sum(part.tokens for part in parts) + prompt.answer
    assert needed > 64
    text = preview.render(prompt, parts, usage)
    assert f"| | | the model's context | 64 | {needed - 64} too small |" in text
    with pytest.raises(
        NoAnswer, match="264 are reserved for the answer, but the model's context has only 64; select less"
    ):
        await preview.edit(snapshot, Span(src.cursor, src.cursor), "use r")


NOTE = Fragment("# note: keep it short\n", 5, "notes.txt", "is a note")


class CompletionNotes(CompletionSource):
    name, share, order, reasons = "notes", Share(), 5, ("is a note",)

    async def find_fragments(self, budget: int, quoted: Sequence[Fragment]) -> Sequence[Fragment]:
        return (NOTE,)


class EditNotes(InstructionSource):
    name, share, order, reasons = "notes", Share(("docs_budget",)), 55, ("is a note",)
    section = SectionTitle("notes", "Notes of the project", is_code=False)

    async def find_fragments(self, budget: int, quoted: Sequence[Fragment]) -> Sequence[Fragment]:
        return (NOTE,)


async def test_a_source_that_is_added_is_in_the_prompt_of_a_completion_and_in_the_preview(
    bench: Make, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(source_registry, "COMPLETION_SOURCES", (CompletionNotes, *COMPLETION_SOURCES))
    b = bench()
    src = b.open(TEXT)
    snapshot = b.harness.snapshot(src.document.uri)
    preview = await b.harness.preview()
    prompt = await preview.completion(snapshot, src.cursor)
    assert prompt.text.startswith(NOTE.text)
    page = preview.render(prompt, *await preview.evaluate(prompt))
    assert "| `# note: keep it short` | `notes.txt` | is a note | 5 | evaluated |" in page


async def test_a_source_that_is_added_is_in_the_prompt_of_an_edit_and_in_the_preview(
    bench: Make, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(source_registry, "INSTRUCTION_SOURCES", (*INSTRUCTION_SOURCES, EditNotes))
    b = bench()
    src = b.open(TEXT)
    snapshot = b.harness.snapshot(src.document.uri)
    preview = await b.harness.preview()
    prompt = await preview.edit(snapshot, Span(src.cursor, src.cursor), "use hypot")
    assert "```\n\nNotes of the project:\n# note: keep it short\n\nInstruction: use hypot" in prompt.text
    page = preview.render(prompt, *await preview.evaluate(prompt))
    assert "| `# note: keep it short` | `notes.txt` | is a note | 5 | evaluated |" in page
