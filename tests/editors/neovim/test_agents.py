"""`:LspHarness agent VERB`: foreign agents, their questions and their terminals, with the fake server."""

import base64

import pytest

from tests.editors.neovim.editor import Editor

TERMINAL = "table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '|'):find(..., 1, true) ~= nil"


def encode_keys(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


@pytest.fixture
def attached_editor(editor: Editor) -> Editor:
    """An editor with the terminal of an agent in front, in which keys go to the agent."""
    editor.nvim.command("LspHarness agent spawn echo terminal")
    editor.until(TERMINAL, "ready é")
    return editor


def test_a_terminal_shows_its_agent_and_sends_typed_text(attached_editor: Editor):
    attached_editor.until_event("runtime spawn", type="echo", terminal=True)
    width, height = attached_editor.nvim.current.window.width, attached_editor.nvim.current.window.height
    attached_editor.until_event("runtime attach", agentId="01ECHO", columns=width, rows=height)
    assert attached_editor.nvim.current.buffer.options["buftype"] == "terminal"

    attached_editor.type("hi")

    attached_editor.until_event("runtime press", agentId="01ECHO", keys=encode_keys("h"))
    attached_editor.until(TERMINAL, "> HI")


def test_an_agent_gets_the_size_of_its_window(attached_editor: Editor):
    attached_editor.type(r"<C-\><C-n>")

    attached_editor.nvim.command("resize 5")

    attached_editor.until_event("runtime resize", agentId="01ECHO", rows=5)


def test_a_buffer_that_is_wiped_out_leaves_the_agent_running(attached_editor: Editor):
    attached_editor.type(r"<C-\><C-n>")

    attached_editor.nvim.command("bwipeout!")

    attached_editor.until_event("runtime detach", viewerId="v1")
    assert attached_editor.events("runtime stop") == []
    attached_editor.nvim.command("LspHarness agent attach echo")
    attached_editor.until("#vim.tbl_filter(function(e) return e.event == 'runtime attach' end, events) == 2")


def test_a_terminal_that_is_shown_gets_the_cursor_and_not_a_second_window(attached_editor: Editor):
    attached_editor.type(r"<C-\><C-n>")
    attached_editor.nvim.command("wincmd p")

    attached_editor.nvim.command("LspHarness agent attach echo")

    attached_editor.until("vim.bo.buftype == 'terminal'")
    assert len(attached_editor.events("runtime attach")) == 1


def test_the_output_of_a_stopped_agent_stays(attached_editor: Editor):
    attached_editor.type(r"<C-\><C-n>")

    attached_editor.nvim.command("LspHarness agent stop echo")

    attached_editor.until(TERMINAL, "bye")
    attached_editor.until(TERMINAL, "[it was stopped]")
    attached_editor.says("echo has ended")


def test_the_list_has_states_and_questions_without_control_characters(editor: Editor):
    editor.nvim.command("LspHarness agent list")

    editor.says("asking [echo]  ready (osc)  01ASKING")
    editor.says("asks: write ]0;x a.txt?")
    editor.says("careful [echo]  ready (osc)  01CAREFUL")


def test_an_answer_of_an_agent_is_plain_text_in_a_window(editor: Editor):
    editor.nvim.command("LspHarness agent send asking fix the tests")

    editor.until_event("runtime send", agentId="01ASKING", message="fix the tests", queue=False)
    editor.until(TERMINAL, "you said fix the tests|and more")
    assert editor.nvim.current.buffer.options["filetype"] == ""
    assert editor.nvim.current.buffer.options["modifiable"] is False


@pytest.mark.parametrize(("choice", "is_allowed"), [("Allow", True), ("Deny", False)])
def test_a_question_about_a_permission_is_answered(editor: Editor, choice: str, is_allowed: bool):
    editor.choosing(choice)

    editor.nvim.command("LspHarness agent answer")

    editor.until_event("runtime answer", agentId="01ASKING", questionId="q1", isAllowed=is_allowed)


def test_changes_are_shown_and_applied(editor: Editor):
    editor.nvim.command("LspHarness agent changes")
    editor.until(TERMINAL, "+x = 2")
    assert editor.nvim.current.buffer.options["filetype"] == "diff"

    assert editor.buffer[:2] == ["# 1 files: syntax ✓", "# left out: b.bin: it is no text"]
    editor.choosing("Apply")

    editor.nvim.command("LspHarness agent apply careful")

    editor.until_event("runtime apply", agentId="01CAREFUL", reviewId="r1")
    assert editor.lua("return offered") == ["Apply", "Show the changes"]
    editor.says("applied a.py")


def test_the_log_and_the_state_are_shown(editor: Editor):
    editor.nvim.command("LspHarness agent logs asking")
    editor.until(TERMINAL, "one|two")

    editor.nvim.command("LspHarness agent explain asking")

    editor.until(TERMINAL, 'status = "ready"')


def test_without_a_kind_one_is_chosen(editor: Editor):
    editor.choosing("claude")

    editor.nvim.command("LspHarness agent spawn")

    editor.until_event("runtime spawn", type="claude")
    editor.says("claude is ready")


def test_an_agent_that_cannot_be_started_says_why(editor: Editor):
    editor.nvim.command("LspHarness agent spawn missing worktree")

    editor.until_event("runtime spawn", type="missing", isolation="worktree")
    editor.says("missing is not installed")


def test_an_unknown_name_of_an_agent_is_reported(editor: Editor):
    editor.nvim.command("LspHarness agent stop nobody")

    editor.says("there is no agent nobody")


@pytest.mark.parametrize(
    ("line", "prompt"), [("who calls it?", "who calls it?"), ("run list all callers", "list all callers")]
)
def test_other_words_are_a_prompt_for_the_model(editor: Editor, line: str, prompt: str):
    editor.nvim.command(f"LspHarness agent {line}")

    editor.until_event("prompted", prompt=prompt)


def test_verbs_kinds_and_names_are_completed(editor: Editor):
    def completed(line: str) -> list[str]:
        return editor.nvim.funcs.getcompletion(f"LspHarness agent {line}", "cmdline")

    assert {"spawn", "send", "list", "stop", "attach", "run"} <= set(completed(""))
    assert completed("st") == ["stop"]
    assert completed("spawn ") == ["claude", "echo"]
    assert completed("spawn echo ") == ["terminal", "worktree"]
    assert completed("send ") == ["asking", "careful"]
    assert completed("send asking ") == []
