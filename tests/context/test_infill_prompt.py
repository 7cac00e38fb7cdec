"""The whole prompt around a cursor: outline, suffix and prefix, each within its share."""

from hypothesis import given, settings
from hypothesis import strategies as st
from inline_snapshot import snapshot

from lsp_harness.config.schema import Completion
from lsp_harness.context.infill_prompt import InfillPrompt, build_infill_prompt
from lsp_harness.context.window import MAX_LINES
from lsp_harness.syntax.tree import parse
from lsp_harness.workspace.cursor import Cursor
from tests.context.counting import count_characters, count_words
from tests.support import markup

BUDGET = Completion(prefix_tokens=12, suffix_tokens=6, outline_tokens=30)


async def make_prompt(source: str, *, path: str = "a.py", budget: Completion = BUDGET) -> InfillPrompt:
    src = markup.parse(source, path)
    return await build_infill_prompt(Cursor(src.document, parse(src.document), src.cursor, path), budget, count_words)


async def check(source: str, expected: str, *, path: str = "a.py", budget: Completion = BUDGET) -> None:
    """Compare the prompt as text."""
    assert (await make_prompt(source, path=path, budget=budget)).render() == expected


async def test_far_declarations_are_outlined_and_near_lines_shown() -> None:
    await check(
        """
        import math
        import os


        def far(a, b):
            one = a + b
            two = one * one
            three = two / one
            return three


        def near(r):
            width = r
            return <|>


        def below(x):
            return x
        """,
        snapshot("""\
# a.py
import math
import os
def far(a, b): ...
    return three


def near(r):
    width = r
    return <FILL>


def below(x):
    return x
"""),
    )


async def test_declarations_in_the_window_are_not_in_the_outline() -> None:
    result = await make_prompt("import math\n\n\ndef f():\n    return <|>\n", budget=Completion())
    assert result.outline.text == ""
    assert result.prefix.text == "import math\n\n\ndef f():\n    return "


async def test_a_long_outline_keeps_imports_and_near_declarations() -> None:
    source = "import os\n" + "".join(f"def f{n}(a):\n    x = a\n    return x\n" for n in range(40)) + "y = <|>\n"
    result = await make_prompt(source, budget=Completion(prefix_tokens=4, suffix_tokens=2, outline_tokens=14))
    assert result.outline.text == snapshot("""\
# a.py
import os
def f37(a): ...
def f38(a): ...
def f39(a): ...
""")
    assert result.outline.tokens <= 14


async def test_without_a_budget_or_a_grammar_there_is_no_outline() -> None:
    source = "import os\n" * 3 + "x = 1\n" * 40 + "y = <|>\n"
    for budget in (0, 1, 2):
        result = await make_prompt(source, budget=Completion(outline_tokens=budget, prefix_tokens=9))
        assert (result.outline.text, result.outline.tokens) == ("", 0)
    assert (await make_prompt(source, path="notes.txt")).outline.text == ""


async def test_an_empty_file_gives_an_empty_prompt() -> None:
    await check("<|>", "<FILL>")


async def test_terminators_are_those_of_the_file() -> None:
    result = await make_prompt("a = 1\r\nb = <|>2\r\nc = 3\r\n")
    assert (result.prefix.text, result.suffix.text) == ("a = 1\r\nb = ", "2\r\nc = 3\r\n")


STATEMENTS = (
    "import os\n",
    "x = 1\n",
    "def f(a, b):\n    y = a\n    return y\n",
    "class A:\n    z = 1\n",
    "\n",
    "# word\n",
)
files = st.lists(st.sampled_from(STATEMENTS) | st.text("xy (=\n", max_size=30), min_size=0, max_size=90).map("".join)
shares = st.integers(0, 500)


@settings(max_examples=60, deadline=None)
@given(files, st.data(), shares, shares, shares, st.sampled_from([count_words, count_characters]))
async def test_every_part_fits_its_share_and_no_prompt_has_a_whole_file(
    text: str, data: st.DataObject, prefix: int, suffix: int, outline: int, count: object
) -> None:
    at = data.draw(st.integers(0, len(text)))
    src = markup.parse(text + "\n")
    budget = Completion(prefix_tokens=prefix, suffix_tokens=suffix, outline_tokens=outline)
    counter = count_words if count is count_words else count_characters
    result = await build_infill_prompt(Cursor(src.document, parse(src.document), at, "a.py"), budget, counter)
    for part, share in ((result.prefix, prefix), (result.suffix, suffix), (result.outline, outline)):
        assert (await counter([part.text]))[0] <= part.tokens <= share
    assert result.tokens == result.prefix.tokens + result.suffix.tokens + result.outline.tokens
    window_text = result.prefix.text + result.suffix.text
    assert window_text in src.document.text
    assert window_text.rstrip("\n").count("\n") < MAX_LINES
    if text.count("\n") > MAX_LINES and text.strip():
        assert text not in window_text
