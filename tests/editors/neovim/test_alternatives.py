"""Further suggestions, explicit requests, and dismissals, in a real Neovim with a fake server."""

import pytest

from tests.editors.neovim.conftest import FAKE, Start
from tests.editors.neovim.editor import Editor

INVOKED = 1


def test_the_next_key_requests_all_suggestions_once_and_cycles(editor: Editor):
    editor.type("ix = ")
    editor.shows("compute(total, 2)")

    seen = []
    for shown in ("compute(0)", "constant", "compute(total, 2)", "compute(0)"):
        editor.type("<M-]>")
        editor.until("ghost_text() == ...", shown)
        seen.append(editor.ghost)

    assert seen == [["compute(0)"], ["constant"], ["compute(total, 2)"], ["compute(0)"]]
    assert [event["kind"] for event in editor.events("asked") if event["left"] == "x = "].count(INVOKED) == 1


def test_the_previous_key_cycles_backwards_and_the_shown_suggestion_is_accepted(editor: Editor):
    editor.type("ix = ")
    editor.shows("compute(total, 2)")

    editor.type("<M-[>")
    editor.until("ghost_text() == 'constant'")
    editor.type("<Tab>")

    assert editor.buffer == ["x = constant"]
    editor.until_event("accepted")
    assert editor.events("accepted")[0]["arguments"][1] == "constant of x = "


def test_typed_text_removes_suggestions_that_do_not_begin_with_it(editor: Editor):
    editor.type("ix = ")
    editor.shows("compute(total, 2)")
    editor.type("<M-]>")
    editor.until("ghost_text() == 'compute(0)'")

    editor.type("com")
    assert editor.ghost == ["pute(0)"]
    editor.type("<M-]>")
    assert editor.ghost == ["pute(total, 2)"]
    editor.type("<M-]>")
    assert editor.ghost == ["pute(0)"], "constant is out"


def test_without_another_suggestion_a_message_says_so(editor: Editor):
    editor.type("idef add(a, b):")
    editor.shows("", "    return a + b")

    editor.type("<M-]>")

    editor.says("there is no other suggestion")
    assert editor.ghost == ["", "    return a + b"]


def test_the_keys_are_themselves_without_ghost_text(editor: Editor):
    editor.lua("vim.keymap.del('i', '<M-]>') require('lsp_harness').map('next', 'N')")

    editor.type("iN")

    assert editor.buffer == ["N"]


def test_an_explicit_request_works_while_suggestions_are_paused(editor: Editor):
    editor.nvim.command("LspHarness pause")
    editor.type("ix = ")
    editor.settle()
    assert editor.asked() == []

    editor.type("<M-s>")

    editor.shows("compute(total, 2)")
    assert editor.events("asked") == [{"event": "asked", "left": "x = ", "kind": INVOKED}]
    editor.type("<M-]>")
    editor.until("ghost_text() == 'compute(0)'")
    assert [event["kind"] for event in editor.events("asked")] == [INVOKED, INVOKED]


@pytest.mark.parametrize(("key", "shown"), [("<M-]>", "compute(0)"), ("<M-[>", "constant")])
def test_an_explicit_request_where_no_suggestion_was_shown_gets_alternatives(editor: Editor, key: str, shown: str):
    editor.hush()
    editor.type("ix = <M-s>")
    editor.shows("compute(total, 2)")

    editor.type(key)
    editor.until("ghost_text() == ...", shown)
    editor.type(key)
    editor.until("ghost_text() ~= ...", shown)

    assert editor.ghost == ["constant" if key == "<M-]>" else "compute(0)"]
    assert [event["kind"] for event in editor.events("asked")] == [INVOKED, INVOKED], "the others came at once"


def test_an_explicit_request_without_a_result_says_so(editor: Editor):
    editor.type("ithere is nothing<M-s>")

    editor.says("there is nothing to suggest here")


def test_a_request_outside_of_insert_mode_is_not_sent(editor: Editor):
    assert editor.lua("return require('lsp_harness').suggest()") is False


def test_the_server_learns_which_suggestion_was_dismissed(editor: Editor):
    editor.type("ix = ")
    editor.shows("compute(total, 2)")
    editor.type("<M-]>")
    editor.until("ghost_text() == 'compute(0)'")

    editor.type("<C-]>")

    editor.until_event("dismissed")
    uri = editor.lua("return vim.uri_from_bufnr(0)")
    assert editor.events("dismissed") == [{"event": "dismissed", "arguments": [uri, "compute(0) of x = "]}]
    assert editor.ghost == []


def test_an_older_server_is_not_told_about_dismissals(start: Start):
    editor = start([*FAKE, "old"])
    editor.open()
    editor.type("ix = ")
    editor.shows("compute(total, 2)")

    editor.type("<C-]>")
    editor.settle()

    assert editor.ghost == []
    assert editor.events("dismissed") == []
    assert "does not support command" not in editor.messages
