"""Screens of agents at 80 and 120 columns: the state, the question and the options that a reader finds on them."""

from collections.abc import Callable

import pytest

from lsp_harness.runtime.connection import AgentQuestion, QuestionAnswer
from lsp_harness.runtime.pty_traits import ENTER, ESCAPE, LEFT, choose_answer
from lsp_harness.runtime.states.screen_reader import ScreenReader, ScreenReading
from lsp_harness.runtime.states.state_ladder import StateLadder
from tests.runtime.states.screen_cases import (
    CASES,
    CLAUDE_BUSY,
    CLAUDE_IDLE,
    CLAUDE_OPTIONS,
    LOG,
    QUOTED,
    VERSIONS,
    WIDTHS,
    ScreenCase,
    draw_claude_permission,
)
from tests.support.agent_screens import (
    Drawing,
    PyteScreen,
    add_claude_composer,
    add_codex_composer,
    add_gemini_composer,
    add_gemini_dialog,
    add_opencode_composer,
    add_opencode_dialog,
    draw_claude_talk,
    draw_codex_talk,
    draw_gemini_talk,
    draw_opencode_talk,
)


class ScreenWatch:
    """A reader and a ladder that look at one screen."""

    def __init__(self, agent: str, columns: int, version: str = "") -> None:
        self.now = 100.0
        self.screen = PyteScreen(columns)
        self.reader = ScreenReader(agent, version or VERSIONS.get(agent, ""), lambda: self.now)
        self.ladder = StateLadder(lambda: self.now)
        self.ladder.start()

    def show(self, drawing: Drawing | bytes, settle_s: float = 3.0) -> ScreenReading:
        """Draw a screen, and read it at once and after a time."""
        self.screen.feed(drawing if isinstance(drawing, bytes) else drawing.render())
        self.look()
        self.now += settle_s
        return self.look()

    def look(self) -> ScreenReading:
        reading = self.reader.read(self.screen)
        self.ladder.observe(reading)
        return reading


@pytest.mark.parametrize("columns", WIDTHS)
@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_screen_is_read(case: ScreenCase, columns: int):
    watch = ScreenWatch(case.agent, columns)
    reading = watch.show(case.draw(columns))
    state = watch.ladder.state
    assert (state.status, state.kind) == (case.status, case.kind), watch.reader.explain()
    if case.question:
        assert reading.dialog
        assert reading.dialog.question == case.question
        assert state.message == case.question
    if case.selected > -2:
        assert reading.dialog
        assert reading.dialog.selected == case.selected


UNSENT_TEXTS: list[tuple[str, Callable[[int], Drawing], str]] = [
    ("claude", lambda w: add_claude_composer(draw_claude_talk(w), CLAUDE_IDLE), ""),
    ("claude", lambda w: add_claude_composer(draw_claude_talk(w), CLAUDE_IDLE, hint="Try to refactor it"), ""),
    ("claude", lambda w: add_claude_composer(draw_claude_talk(w), CLAUDE_IDLE, typed="delete it"), "delete it"),
    ("codex", lambda w: add_codex_composer(draw_codex_talk(w)), ""),
    ("codex", lambda w: add_codex_composer(draw_codex_talk(w), typed="delete it"), "delete it"),
    ("gemini", lambda w: add_gemini_composer(draw_gemini_talk(w)).put_cursor(-4, 3), ""),
    ("gemini", lambda w: add_gemini_composer(draw_gemini_talk(w), typed="delete it").put_cursor(-4, 12), "delete it"),
    ("gemini", lambda w: add_gemini_composer(draw_gemini_talk(w), typed="delete it").put_cursor(-4, 3), "delete it"),
    ("opencode", lambda w: add_opencode_composer(draw_opencode_talk(w)), ""),
    ("opencode", lambda w: add_opencode_composer(draw_opencode_talk(w), hint="Ask anything… for example this"), ""),
    ("opencode", lambda w: add_opencode_composer(draw_opencode_talk(w), typed="delete it"), "delete it"),
    ("opencode", lambda w: add_opencode_composer(draw_opencode_talk(w), hint="delete it"), "delete it"),
]


@pytest.mark.parametrize("columns", WIDTHS)
@pytest.mark.parametrize(("agent", "draw", "unsent"), UNSENT_TEXTS)
def test_an_unsent_text_is_distinguished_from_a_hint(
    agent: str, draw: Callable[[int], Drawing], unsent: str, columns: int
):
    assert ScreenWatch(agent, columns).show(draw(columns)).unsent_text == unsent


def test_the_sign_of_another_mode_is_an_unsent_text():
    drawing = add_claude_composer(draw_claude_talk(80), CLAUDE_IDLE)
    drawing.rows[-3] = "! "
    assert ScreenWatch("claude", 80).show(drawing).unsent_text == "!"


def test_an_unsent_text_of_several_rows_is_whole():
    drawing = add_claude_composer(draw_claude_talk(80), CLAUDE_IDLE, typed="first")
    drawing.rows[-2:-2] = ["  second"]
    assert ScreenWatch("claude", 80).show(drawing.put_cursor(-3, 8)).unsent_text == "first\nsecond"


def test_the_table_has_enough_screens():
    assert len(CASES) * len(WIDTHS) >= 60


@pytest.mark.parametrize("columns", WIDTHS)
def test_a_dialog_can_be_answered_by_moving_the_selection(columns: int):
    reading = ScreenWatch("claude", columns).show(draw_claude_permission(columns, selected=1))
    dialog, rule = reading.dialog, reading.rule
    assert dialog
    assert rule
    assert rule.allow
    assert rule.deny
    assert dialog.options == tuple(option[3:] for option in CLAUDE_OPTIONS)
    assert "touch made.txt" in dialog.body
    assert (dialog.steps_to(dialog.find(rule.allow)), dialog.steps_to(dialog.find(rule.deny))) == (-1, 2)


def test_the_wrapped_options_are_whole_on_a_narrow_screen():
    reading = ScreenWatch("claude", 80).show(draw_claude_permission(80))
    assert reading.dialog
    assert reading.dialog.options[1] == CLAUDE_OPTIONS[1][3:]


def test_an_option_cannot_be_chosen_while_the_selection_is_unknown():
    reading = ScreenWatch("opencode", 80).show(add_opencode_dialog(draw_opencode_talk(80), ("$ ls",)))
    assert reading.dialog
    assert reading.dialog.options == ("Allow once", "Allow always", "Reject")
    with pytest.raises(ValueError, match="cannot be reached"):
        reading.dialog.steps_to(2)


@pytest.mark.parametrize("columns", WIDTHS)
@pytest.mark.parametrize(("selected", "keys"), [(0, ()), (1, (LEFT,)), (2, (LEFT, LEFT))])
def test_a_dialog_with_a_coloured_selection_is_allowed_by_keys_and_denied_by_escape(
    columns: int, selected: int, keys: tuple[bytes, ...]
):
    drawing = add_opencode_dialog(draw_opencode_talk(columns), ("$ ls",), selected)
    reading = ScreenWatch("opencode", columns).show(drawing)
    assert reading.dialog
    assert reading.dialog.options == ("Allow once", "Allow always", "Reject")
    assert reading.dialog.selected == selected
    question = AgentQuestion("q1", "permission", "may I?")
    assert choose_answer(question, reading, QuestionAnswer(is_allowed=True)) == (*keys, ENTER)
    assert choose_answer(question, reading, QuestionAnswer(is_allowed=False)) == (ESCAPE,)


def test_a_selection_without_a_known_colour_allows_no_answer():
    reading = ScreenWatch("opencode", 80).show(add_opencode_dialog(draw_opencode_talk(80), ("$ ls",)))
    question = AgentQuestion("q1", "permission", "may I?")
    assert choose_answer(question, reading, QuestionAnswer(is_allowed=True)) == ()


@pytest.mark.parametrize("version", ["2.1.100", "2.2.0", "3.0.0", "0.1", ""])
def test_the_screen_of_a_version_that_was_not_recorded_is_unknown(version: str):
    watch = ScreenWatch("claude", 120)
    watch.reader = ScreenReader("claude", version, lambda: watch.now)
    assert not watch.reader.is_recorded
    watch.show(add_claude_composer(draw_claude_talk(120), CLAUDE_IDLE))
    assert (watch.ladder.state.status, watch.ladder.state.rule) == ("unknown", "claude/version")
    watch.show(draw_claude_permission(120))
    assert (watch.ladder.state.status, watch.ladder.state.kind) == ("blocked", "dialog")


@pytest.mark.parametrize(
    ("agent", "version", "is_recorded"),
    [
        ("claude", "2.1.197", True),
        ("claude", "2.1.250 (Claude Code)", True),
        ("claude", "2.1.196", False),
        ("codex", "codex-cli 0.169.0", True),
        ("codex", "0.171.3", True),
        ("codex", "0.172.0", False),
        ("gemini", "0.61.9", True),
        ("gemini", "0.62.0", False),
        ("opencode", "1.18.33", True),
        ("opencode", "1.19.0", False),
    ],
)
def test_the_recorded_range_has_both_ends(agent: str, version: str, is_recorded: bool):
    assert ScreenReader(agent, version).is_recorded == is_recorded


def test_an_agent_without_its_own_rules_uses_the_general_rules():
    watch = ScreenWatch("some-agent", 80)
    watch.show(Drawing(80, ["working on it", "Do you want to proceed?"]))
    assert watch.ladder.state.status == "starting"
    watch.show(Drawing(80, ["Delete everything?", "", "Enter to confirm · Esc to cancel"]))
    assert (watch.ladder.state.status, watch.ladder.state.kind) == ("blocked", "dialog")


def test_the_explanation_lists_each_rule_with_its_reason():
    watch = ScreenWatch("claude", 80)
    watch.show(add_claude_composer(draw_claude_talk(80, title="◐ Claude Code"), CLAUDE_IDLE))
    rows = watch.reader.explain()
    matched = [row["rule"] for row in rows if row["matched"]]
    assert matched == ["claude/title-working", "claude/idle"]
    reasons = {row["rule"]: row["detail"] for row in rows if not row["matched"]}
    assert reasons["claude/permission"] == "there is a composer"
    assert "esc to interrupt" in reasons["claude/working"]
    assert {"claude/trust", "claude/theme", "claude/not-logged-in"} <= reasons.keys()


# ---- streams


@pytest.mark.parametrize("columns", WIDTHS)
def test_a_turn_of_gemini_is_followed(columns: int):
    watch = ScreenWatch("gemini", columns)
    seen: list[str] = []

    def show(drawing: Drawing, settle_s: float = 3.0):
        watch.show(drawing, settle_s)
        seen.append(watch.ladder.state.status)

    show(Drawing(columns))
    show(add_gemini_composer(draw_gemini_talk(columns)))
    watch.reader.forget()
    watch.ladder.note_sent()
    # the composer looks idle until the agent takes the message
    show(add_gemini_composer(draw_gemini_talk(columns)), settle_s=0.2)
    show(
        add_gemini_composer(
            draw_gemini_talk(columns, title="✦  Working… (w)"), status="⠏ Thinking... (esc to cancel, 2s)"
        )
    )
    show(
        add_gemini_dialog(
            draw_gemini_talk(columns, title="✋  Action Required (w)"), ("Allow it?",), ("Allow once", "No")
        )
    )
    show(
        add_gemini_composer(
            draw_gemini_talk(columns, title="✦  Working… (w)"), status="⠏ Thinking... (esc to cancel, 4s)"
        )
    )
    show(add_gemini_composer(draw_gemini_talk(columns, "Done.")), settle_s=0.3)
    show(add_gemini_composer(draw_gemini_talk(columns, "Done.")))
    assert seen == ["starting", "ready", "busy", "busy", "blocked", "busy", "busy", "ready"]


@pytest.mark.parametrize("columns", WIDTHS)
@pytest.mark.parametrize("agent", ["claude", "codex", "gemini", "opencode"])
def test_a_log_that_streams_is_neither_a_question_nor_the_end(agent: str, columns: int):
    composers: dict[str, Callable[[Drawing], Drawing]] = {
        "claude": lambda d: add_claude_composer(d, CLAUDE_BUSY),
        "codex": add_codex_composer,
        "gemini": lambda d: add_gemini_composer(d, status="⠏ Thinking... (esc to cancel, 2s)"),
        "opencode": lambda d: add_opencode_composer(d, footer="■■⬝⬝  esc interrupt"),
    }
    titles = {"claude": "◐ Claude Code", "codex": "⠹ w", "gemini": "✦  Working… (w)", "opencode": "OC"}
    watch = ScreenWatch(agent, columns)
    lines = [*QUOTED, LOG, "? for shortcuts", "Type your message or @path/to/file", "Ask anything…", "Continue? [y/N]"]
    for count in range(60):
        log = [lines[(count + number) % len(lines)] for number in range(20)]
        drawing = Drawing(columns, title=titles[agent]).add(*(f"  {line}" for line in log), "")
        watch.show(composers[agent](drawing), settle_s=0.1 + count % 5)
        assert watch.ladder.state.status == "busy", (count, watch.reader.explain())


@pytest.mark.parametrize("columns", WIDTHS)
def test_a_screen_that_is_only_half_drawn_is_not_ready(columns: int):
    """Every part of the output that draws a question: none of them makes the agent ready."""
    drawn = draw_claude_permission(columns).render()
    for end in range(0, len(drawn), 7):
        watch = ScreenWatch("claude", columns)
        watch.show(drawn[:end], settle_s=5.0)
        assert watch.ladder.state.status in ("starting", "blocked")
