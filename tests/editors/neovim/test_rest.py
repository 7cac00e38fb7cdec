"""The notification about the place where the cursor rests, in a real Neovim with a fake server."""

from tests.editors.neovim.conftest import Start
from tests.editors.neovim.editor import Editor

TEXT = "first = 1\nsecond = 'ñ' + 2\nthird = 3\n"


def find_resting_places(editor: Editor) -> list[tuple[int, int]]:
    return [(event["line"], event["character"]) for event in editor.events("rests")]


def test_entering_a_file_and_moving_in_it_sends_the_place(start: Start):
    editor = start()
    editor.open("moves.py", TEXT)
    editor.until("seen({ event = 'rests', line = 0, character = 0 })")
    # bytes, because the encoding of this server is UTF-8
    editor.type("jf+")
    editor.until("seen({ event = 'rests', line = 1, character = 14 })")


def test_each_place_is_sent_once(start: Start):
    editor = start()
    editor.open("moves.py", TEXT)
    editor.until("seen({ event = 'rests', line = 0, character = 0 })")
    tell = "require('lsp_harness.cursor_notification').send()"
    editor.lua(tell)
    editor.lua(tell)
    editor.type("j")
    editor.lua(tell)
    editor.until("seen({ event = 'rests', line = 1, character = 0 })")
    assert find_resting_places(editor) == [(0, 0), (1, 0)]


def test_no_place_is_sent_while_typing_or_paused(start: Start):
    editor = start()
    editor.open("moves.py", TEXT)
    editor.until("seen({ event = 'rests', line = 0, character = 0 })")
    tell = "require('lsp_harness.cursor_notification').send()"
    editor.type("iname = ")
    editor.lua(tell)
    editor.type("<Esc>")
    editor.until("seen({ event = 'rests', line = 0, character = 6 })")
    editor.lua("require('lsp_harness').pause()")
    editor.type("l")
    editor.lua(tell)
    editor.type("h")
    editor.lua("require('lsp_harness').resume()")
    editor.type("j")
    editor.lua(tell)
    # messages keep their order, so an earlier notification would have arrived before
    editor.until("seen({ event = 'rests', line = 1 })")
    assert [place for place in find_resting_places(editor) if place[0] == 0] == [(0, 0), (0, 6)]
