"""Ghost text while the user types, accepts and dismisses it, in a real Neovim with a fake server."""

import pytest

from tests.editors.neovim.conftest import Start
from tests.editors.neovim.editor import Editor


def test_a_suggestion_is_shown_at_the_cursor(editor: Editor):
    editor.type("ix = ")

    editor.shows("compute(total, 2)")

    (mark,) = editor.lua("""
        return vim.api.nvim_buf_get_extmarks(0, require('lsp_harness.view').namespace, 0, -1, { details = true })
    """)
    assert mark[1:3] == [0, 4]
    assert mark[3]["virt_text_pos"] == "inline"
    assert mark[3]["virt_text"] == [["compute(total, 2)", "LspHarnessGhost"]]
    assert editor.buffer == ["x = "]
    assert editor.asked()[-1] == "x = "


def test_accepting_inserts_the_suggestion_and_tells_the_server(editor: Editor):
    editor.type("ix = ")
    editor.shows("compute(total, 2)")

    editor.type("<Tab>")

    assert editor.buffer == ["x = compute(total, 2)"]
    assert editor.cursor == (1, 21)
    assert editor.ghost == []
    editor.until_event("accepted")
    uri = editor.lua("return vim.uri_from_bufnr(0)")
    assert editor.events("accepted") == [{"event": "accepted", "arguments": [uri, "of x = "]}]


def test_several_lines_are_shown_below_and_accepted(editor: Editor):
    editor.type("idef add(a, b):")
    editor.shows("", "    return a + b")

    editor.type("<Tab>")

    assert editor.buffer == ["def add(a, b):", "    return a + b"]
    assert editor.cursor == (2, 16)


def test_word_by_word_until_the_last_one_tells_the_server(editor: Editor):
    editor.type("ix = ")
    editor.shows("compute(total, 2)")

    lines = []
    for _ in range(6):
        editor.type("<C-Right>")
        lines.append((editor.buffer[0], *editor.ghost))

    assert lines == [
        ("x = compute", "(total, 2)"),
        ("x = compute(", "total, 2)"),
        ("x = compute(total", ", 2)"),
        ("x = compute(total,", " 2)"),
        ("x = compute(total, 2", ")"),
        ("x = compute(total, 2)",),
    ]
    editor.until_event("accepted")
    assert len(editor.events("accepted")) == 1


def test_a_suggestion_is_accepted_line_by_line(editor: Editor):
    editor.type("iprint()<Left>")
    editor.shows("value<)>:", "    pass")

    editor.type("<C-Down>")
    assert editor.buffer == ["print(value):"]
    assert editor.ghost == ["", "    pass"]
    editor.settle()
    assert editor.events("accepted") == []

    editor.type("<C-Down>")
    assert editor.buffer == ["print(value):", "    pass"]
    editor.until_event("accepted")


def test_text_right_of_the_cursor_is_replaced(editor: Editor):
    editor.type("iprint()<Left>")
    editor.shows("value<)>:", "    pass")

    editor.type("<Tab>")

    assert editor.buffer == ["print(value):", "    pass"]
    assert editor.cursor == (2, 8)


def test_accepting_a_word_stops_before_the_replaced_text(editor: Editor):
    editor.type("iprint()<Left>")
    editor.shows("value<)>:", "    pass")

    editor.type("<C-Right>")
    assert (editor.buffer, editor.ghost) == (["print(value)"], ["<)>:", "    pass"])
    editor.type("<C-Right>")
    assert (editor.buffer, editor.ghost) == (["print(value):"], ["", "    pass"])
    editor.type("<C-Right>")
    assert (editor.buffer, editor.ghost) == (["print(value):", "    pass"], [])


def test_text_left_of_the_cursor_is_not_shown_twice(editor: Editor):
    editor.type("ival")
    editor.shows("ue")

    editor.type("<Tab>")

    assert editor.buffer == ["value"]


def test_a_suggestion_that_replaces_other_text_than_was_typed_is_not_shown(editor: Editor):
    editor.type("iother")
    editor.until_event("asked", left="other")
    editor.settle()

    assert editor.ghost == []


def test_typing_the_suggestion_keeps_its_rest_on_the_screen(editor: Editor):
    editor.type("ix = ")
    editor.shows("compute(total, 2)")
    asked = editor.asked()
    # from here on, no redraw may change the line on the screen
    editor.lua("""
        _G.frames = {}
        vim.api.nvim_set_decoration_provider(vim.api.nvim_create_namespace('frames'), {
          on_end = vim.schedule_wrap(function()
            local seen = {}
            for column = 1, 30 do seen[column] = vim.fn.screenstring(1, column) end
            table.insert(frames, vim.trim(table.concat(seen)))
          end),
        })
    """)

    for count, key in enumerate("compute(", 1):
        editor.type(key)
        assert editor.ghost == ["compute(total, 2)"[count:]]

    assert editor.buffer == ["x = compute("]
    frames = editor.lua("return frames")
    assert len(frames) >= 8
    assert set(frames) == {"x = compute(total, 2)"}
    editor.settle()
    assert editor.asked() == asked


def test_typing_over_a_line_break_keeps_the_rest(editor: Editor):
    editor.nvim.command("setlocal indentexpr= autoindent")
    editor.type("idef add(a, b):")
    editor.shows("", "    return a + b")

    editor.type("<CR>    re")

    assert editor.ghost == ["turn a + b"]
    editor.type("<Tab>")
    assert editor.buffer == ["def add(a, b):", "    return a + b"]


def test_typing_another_text_removes_the_suggestion_and_requests_another(editor: Editor):
    editor.type("ix = ")
    editor.shows("compute(total, 2)")

    editor.type("cat")

    assert editor.ghost == []
    editor.until_event("asked", left="x = cat")


def test_a_superseded_request_is_cancelled(editor: Editor):
    editor.type("islow")
    editor.until_event("asked", left="slow")

    editor.type("er")

    editor.until_event("cancelled", left="slow")
    editor.until_event("asked", left="slower")
    editor.release()
    editor.shows("late")
    assert editor.events("cancelled") == [{"event": "cancelled", "left": "slow"}]


@pytest.mark.parametrize(
    "change",
    ["vim.api.nvim_buf_set_lines(0, 1, 1, false, { 'below' })", "vim.api.nvim_win_set_cursor(0, { 1, 2 })"],
    ids=["text", "cursor"],
)
def test_an_answer_for_an_older_text_is_dropped(editor: Editor, change: str):
    editor.type("islow")
    editor.until_event("asked", left="slow")
    # without the plugin, which would cancel the request
    editor.lua(f"vim.o.eventignore = 'all' {change}")

    editor.release()

    assert editor.ghost == []
    assert editor.events("cancelled") == []


def test_dismissing_removes_the_suggestion_and_leaves_the_text(editor: Editor):
    editor.type("ix = ")
    editor.shows("compute(total, 2)")
    asked = editor.asked()

    editor.type("<C-]>")

    assert editor.ghost == []
    assert editor.buffer == ["x = "]
    editor.settle()
    assert (editor.ghost, editor.asked()) == ([], asked)


def test_leaving_insert_mode_removes_the_suggestion_and_cancels_the_request(editor: Editor):
    editor.type("ix = ")
    editor.shows("compute(total, 2)")
    editor.type("<Esc>")
    assert editor.ghost == []

    editor.type("ccslow")
    editor.until_event("asked", left="slow")
    editor.type("<Esc>")
    editor.until_event("cancelled", left="slow")


def test_without_ghost_text_the_keys_have_their_usual_meaning(editor: Editor):
    editor.nvim.command("setlocal noexpandtab")

    editor.type("i<Tab>a")

    assert editor.buffer == ["\ta"]
    verbs = ("accept", "accept_word", "accept_line", "dismiss", "next", "previous", "visible")
    assert [editor.lua(f"return require('lsp_harness').{verb}()") for verb in verbs] == [False] * 7


def test_the_mapping_of_the_readme_accepts_too(editor: Editor):
    editor.lua("""
        vim.keymap.set('i', '<C-l>', function()
          return require('lsp_harness').accept() and '' or '<C-l>'
        end, { expr = true })
    """)
    editor.type("ix = ")
    editor.shows("compute(total, 2)")

    editor.type("<C-l>")

    editor.until("vim.api.nvim_get_current_line() == 'x = compute(total, 2)'")
    editor.until_event("accepted")


def test_keys_in_one_burst_accept_the_rest_of_the_suggestion(editor: Editor):
    editor.type("ix = ")
    editor.shows("compute(total, 2)")

    editor.type("comp<Tab> + 1")

    assert editor.buffer == ["x = compute(total, 2) + 1"]


def test_undo_removes_accepted_text_and_keeps_typed_text(editor: Editor):
    editor.type("ix = ")
    editor.shows("compute(total, 2)")

    editor.type("<Tab><Esc>u")

    assert editor.buffer == ["x = "]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-32"])
def test_ghost_text_after_wide_characters_has_the_right_position(start: Start, encoding: str):
    before = "vim.lsp.config('lsp_harness', { capabilities = { general = { positionEncodings = { '%s' } } } })"
    editor = start(before=before % encoding)
    editor.open()
    assert editor.lua("return vim.lsp.get_clients()[1].offset_encoding") == encoding

    editor.type("igröße = 'ñ😀' + ")
    editor.shows("'ß😀'  # ü")
    editor.type("<C-Right><Tab><Esc>")
    assert editor.buffer == ["größe = 'ñ😀' + 'ß😀'  # ü"]

    editor.type("ogrü😀 = wer")
    editor.shows("t")
    editor.type("<Tab>")
    assert editor.buffer[1] == "grü😀 = wert"


def test_tabs_in_ghost_text_have_their_final_width(start: Start):
    editor = start()
    editor.open("demo.go")
    editor.nvim.command("setlocal noexpandtab tabstop=8 indentexpr=")

    editor.type("i<Tab>if a:")
    editor.shows("", " " * 16 + "return  b")
    editor.type("<Tab>")

    assert editor.buffer == ["\tif a:", "\t\treturn\tb"]


def test_text_that_was_typed_before_the_server_started_is_completed(start: Start):
    editor = start()
    editor.open(attached=False)

    editor.type("ix = ")

    editor.shows("compute(total, 2)")
