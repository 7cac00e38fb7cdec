"""Properties that hold for any text that a model may write at any cursor."""

from dataclasses import replace

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lsp_harness.completion.rules.ghost_text import Ghost, choose_display_mode
from lsp_harness.completion.rules.overlap_rules import count_unclosed
from lsp_harness.completion.rules.shaping import is_settled, shape_ghost

LANGUAGES = ("python", "javascript", "typescript", "go", "rust", "java", "html", "lua", "markdown", "")
PIECES = (
    "x = 1", "return compute(x)", "foo(", ")", "if x:", "else:", "} else {", "{", "}", "});", "end", "</div>", "<div>",
    "[", "]", '"', "'", "`", '"""', "don't", ", b", "a", " ", "  ", "    ", "        ", "\t", "\t\t", "\n", "\n\n",
    "\r\n", "\r", "# TODO", "// note", "/*", "*/", "```", "```python\n", "<|endoftext|>", "</s>", "\ufffd", "👋", "\\",
    "Sure, ", "\u2028", "\x0c", "total += weight(b)\n", "    y = 2\n", "for i in range(3):\n", "a.push(1);\n", "1, 2, ",
)  # fmt: skip
code = st.lists(st.sampled_from(PIECES) | st.text(max_size=4), max_size=14).map("".join)
modes = st.sampled_from(("line", "block", "line-above", None))


@st.composite
def draw_ghost(draw: st.DrawFn) -> Ghost:
    prefix, suffix, language = draw(code), draw(code), draw(st.sampled_from(LANGUAGES))
    mode = draw(modes) or choose_display_mode(prefix, suffix, language)
    if mode == "line-above" and choose_display_mode(prefix, suffix, language) != mode:
        mode = "line"
    return Ghost(prefix, suffix, draw(code), mode, language, draw(st.sampled_from(("\n", "\r\n"))))


# tables of rules fail in corners: look at many of them without a clock
many = settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@many
@given(draw_ghost())
def test_a_shown_text_is_shown_again_unchanged(ghost: Ghost) -> None:
    text = shape_ghost(ghost).text
    if text is not None:
        assert shape_ghost(ghost.with_text(text)).text == text


@many
@given(draw_ghost())
def test_a_suggestion_has_the_line_ends_of_its_document(ghost: Ghost) -> None:
    result = shape_ghost(ghost).text or ""
    assert "\r" not in result.replace(ghost.newline, "")
    if ghost.newline == "\n":
        assert "\r" not in result


@many
@given(draw_ghost())
def test_a_suggestion_of_one_line_has_no_other_line(ghost: Ghost) -> None:
    text = shape_ghost(ghost).text
    if text is None or ghost.mode == "block":
        return
    line, newline, rest = text.partition(ghost.newline)
    assert line.strip()
    if ghost.mode == "line":
        assert not newline
    else:
        assert newline
        assert rest == ghost.line_prefix


@many
@given(draw_ghost())
def test_the_rest_of_the_line_is_not_repeated(ghost: Ghost) -> None:
    text, rest = shape_ghost(ghost).text, ghost.line_suffix.strip()
    short = count_unclosed(ghost.line_prefix, ghost.line_suffix, ghost.language)
    if text is not None and ghost.mode == "line" and rest and not short:
        assert not text.lstrip().startswith(rest)


@many
@given(draw_ghost())
def test_a_suggestion_is_never_blank_and_has_no_blank_end(ghost: Ghost) -> None:
    text = shape_ghost(ghost).text
    if text is not None:
        assert text.strip()
        if ghost.mode == "block":
            assert text == text.rstrip()


@many
@given(draw_ghost(), code)
def test_more_text_does_not_change_a_settled_suggestion(ghost: Ghost, more: str) -> None:
    if is_settled(ghost):
        assert shape_ghost(ghost.with_text(ghost.text + more)).text == shape_ghost(ghost).text


@many
@given(draw_ghost())
def test_adding_text_later_gives_the_same_ghost_text(ghost: Ghost) -> None:
    assert shape_ghost(ghost.with_text("x").with_text(ghost.text)) == shape_ghost(replace(ghost))
