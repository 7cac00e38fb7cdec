"""What the model would see, as a document."""

import pytest

from lsp_harness.errors import NoAnswer, UsageError
from lsp_harness.harness import prompt_preview
from lsp_harness.text.position import Span
from tests.harness.bench import Make
from tests.harness.tools import settings

TEXT = "import math\n\n\ndef area(r):\n    return <|>math.pi * r ** 2\n"


async def test_the_prompt_of_a_completion_in_its_parts(bench: Make):
    b = bench()
    src = b.open(TEXT)
    prompt = await prompt_preview.completion(
        b.harness, b.harness.services.engine, b.harness.snapshot(src.document.uri), src.cursor
    )
    parts, usage = await prompt_preview.evaluated(b.harness.services.engine, prompt)
    assert [part.reason for part in parts][-2:] == ["text after the cursor", "text before the cursor"]
    text = prompt_preview.document(prompt, parts, usage)
    assert text.startswith("# Completion\n\n| fragment | origin | reason | tokens | |\n")
    assert "| `math.pi * r ** 2` | `a.py` | text after the cursor |" in text
    assert f"| reserved for the answer, at most | {prompt.answer} |" in text
    assert "| | | the model's context | 8192 |  |" in text
    assert "    return <FILL>math.pi * r ** 2\n" in text
    assert text.endswith("```\n")


async def test_the_names_that_are_made_likelier(bench: Make):
    b = bench()
    src = b.open("def area(r):\n    <|>\n    return side * r\n")
    prompt = await prompt_preview.completion(
        b.harness, b.harness.services.engine, b.harness.snapshot(src.document.uri), src.cursor
    )
    # an engine that is not told of them
    assert not prompt.likelier
    b.engine.extra_props["features"] = {"expected": True}
    prompt = await prompt_preview.completion(
        b.harness, b.harness.services.engine, b.harness.snapshot(src.document.uri), src.cursor
    )
    text = prompt_preview.document(prompt, *await prompt_preview.evaluated(b.harness.services.engine, prompt))
    assert "| | | names that are made more likely | 1 | side (needed below) |" in text


async def test_the_prompt_of_an_edit_in_its_parts(bench: Make):
    b = bench()
    src = b.open(TEXT)
    snapshot = b.harness.snapshot(src.document.uri)
    prompt = await prompt_preview.edit(
        b.harness, b.harness.services.engine, snapshot, Span(src.cursor, src.cursor), "use r | 2"
    )
    text = prompt_preview.document(prompt, *await prompt_preview.evaluated(b.harness.services.engine, prompt))
    assert text.startswith("# Edit: use r | 2\n")
    assert "| `Instruction: use r   2` |  | the task |" in text
    assert "imports that it uses" in text
    with pytest.raises(NoAnswer, match="no code here to edit"):
        await prompt_preview.edit(b.harness, b.harness.services.engine, snapshot, Span(12, 12), "use r")


async def test_what_is_kept_from_the_model_is_not_shown_as_if_it_were_seen(bench: Make):
    b = bench()
    src = b.open("KEY = <|>1\n", name=".env")
    snapshot = b.harness.snapshot(src.document.uri)
    with pytest.raises(NoAnswer, match="not sent to the model"):
        await prompt_preview.completion(b.harness, b.harness.services.engine, snapshot, src.cursor)
    src = b.open("a = <|>1\n")
    b.harness.workspace.is_trusted = False
    with pytest.raises(UsageError, match="not trusted"):
        await prompt_preview.edit(
            b.harness, b.harness.services.engine, b.harness.snapshot(src.document.uri), Span(0, 0), "change it"
        )


async def test_what_the_context_has_no_room_for_is_said(bench: Make):
    b = bench(config=settings(context={"related_budget": 0}))
    src = b.open(TEXT)
    snapshot = b.harness.snapshot(src.document.uri)
    b.engine.extra_props["n_ctx"] = 64
    prompt = await prompt_preview.completion(b.harness, b.harness.services.engine, snapshot, src.cursor)
    parts, usage = await prompt_preview.evaluated(b.harness.services.engine, prompt)
    needed = sum(part.tokens for part in parts) + prompt.answer
    assert needed > 64
    text = prompt_preview.document(prompt, parts, usage)
    assert f"| | | the model's context | 64 | {needed - 64} too small |" in text
    with pytest.raises(
        NoAnswer, match="264 are reserved for the answer, but the model's context has only 64; select less"
    ):
        await prompt_preview.edit(b.harness, b.harness.services.engine, snapshot, Span(src.cursor, src.cursor), "use r")
