"""Cheaper prompts for the same place, and the outline that stays the same while the user types."""

from itertools import pairwise

from lsp_harness.config.schema import Completion
from lsp_harness.context.infill_prompt import MIN_PROMPT_TOKENS, InfillPrompt, build_prompt_ladder
from lsp_harness.context.lookup.outline_cache import OutlineCache
from lsp_harness.syntax.tree import parse
from lsp_harness.text.edit import Edit
from lsp_harness.workspace.cursor import Cursor
from tests.context.counting import count_words
from tests.support import markup

LONG = "import os\n" + "".join(f"def f{n}(a, b):\n    x = a + b\n    return x * {n}\n" for n in range(40))


async def make_prompt_ladder(source: str, least: int, budget: Completion | None = None) -> tuple[InfillPrompt, ...]:
    src = markup.parse(source)
    return await build_prompt_ladder(
        Cursor(src.document, parse(src.document), src.cursor, "a.py"), budget or Completion(), least, count_words
    )


async def test_each_shorter_prompt_has_fewer_tokens_around_the_same_place() -> None:
    full, half, least = await make_prompt_ladder(
        LONG + "y = <|>\n" + "z = a + b + c\n" * 30, 80, Completion(prefix_tokens=200)
    )
    assert [bool(prompt.outline.text) for prompt in (full, half, least)] == [True, False, False]
    for longer, shorter in pairwise((full, half, least)):
        assert shorter.tokens < longer.tokens
        assert longer.prefix.text.endswith(shorter.prefix.text)
        assert longer.suffix.text.startswith(shorter.suffix.text)
    assert half.prefix.tokens <= 100
    assert half.suffix.tokens <= 48
    assert least.prefix.tokens <= 60
    assert least.suffix.tokens <= 20
    assert least.prefix.text.endswith("y = ")
    assert least.prefix.text.count("\n") >= 3


async def test_the_shortest_prompt_has_a_minimum_of_tokens() -> None:
    *_, least = await make_prompt_ladder(LONG + "y = <|>\n", 0)
    assert MIN_PROMPT_TOKENS // 2 < least.tokens <= MIN_PROMPT_TOKENS


async def test_a_shorter_prompt_that_saves_no_tokens_is_left_out() -> None:
    assert len(await make_prompt_ladder("x = 1\ny = <|>\n", 50)) == 1


async def test_no_shorter_prompt_exceeds_the_settings() -> None:
    budget = Completion(prefix_tokens=10, suffix_tokens=4, outline_tokens=0)
    assert max(prompt.tokens for prompt in await make_prompt_ladder(LONG + "y = <|>\n", 500, budget)) <= 14


def test_an_outline_stays_while_the_text_in_the_window_changes() -> None:
    src = markup.parse(LONG + "y = <|>\n" + "def last():\n    return 1\n")
    outlines = OutlineCache()
    start = src.cursor - 40

    def outline_after(typed: bytes) -> list[str]:
        document = src.document.apply_edit(Edit(src.cursor, src.cursor, typed), 2)
        tree = parse(document)
        assert tree
        return [line.text for line in outlines.find_outline(tree, (start, src.cursor + len(typed)))]

    before = outline_after(b"")
    assert "def last(): ..." in before
    assert outline_after(b"'''") == before


def test_an_outline_follows_changes_outside_the_window() -> None:
    outlines = OutlineCache()
    for name in ("one", "two"):
        src = markup.parse(f"def {name}():\n    return 1\n\n\nx = <|>\n")
        tree = parse(src.document)
        assert tree
        assert [line.text for line in outlines.find_outline(tree, (src.cursor - 4, src.cursor))] == [
            f"def {name}(): ..."
        ]
