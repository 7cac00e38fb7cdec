"""Ghost text, its cancellation and its failures."""

import pytest

from tests.server.conftest import Spawn
from tests.support.lsp import Editor, ResponseError

URI = "file:///ws/a.py"
METHOD = "textDocument/inlineCompletion"


def make_params_at_start(kind: int = 2) -> dict[str, object]:
    position = {"line": 0, "character": 0}
    return {"textDocument": {"uri": URI}, "position": position, "context": {"triggerKind": kind}}


async def open_text(spawn: Spawn, text: str, client: str = "vscode") -> Editor:
    editor = await spawn(client)
    editor.open(URI, text)
    return editor


async def test_an_item_has_a_range_a_text_and_a_command_for_its_acceptance(spawn: Spawn):
    editor = await open_text(spawn, "x")

    assert await editor.request(METHOD, make_params_at_start()) == {
        "items": [
            {
                "insertText": "v1:0a\n\tmore ```",
                "range": {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 0}},
                "command": {"title": "Accepted", "command": "lspHarness.accepted", "arguments": [URI, "s-1"]},
            }
        ]
    }


async def test_an_empty_suggestion_is_an_empty_list(spawn: Spawn):
    editor = await open_text(spawn, "none")

    assert await editor.request(METHOD, make_params_at_start()) == {"items": []}


@pytest.mark.parametrize(("kind", "mark"), [(0, "i"), (1, "i"), (2, "a")])
async def test_the_kind_of_a_request_decides_whether_it_is_explicit(spawn: Spawn, kind: int, mark: str):
    """vscode-languageclient 9 sends 0 for a request by hand."""
    editor = await open_text(spawn, "x")

    items = (await editor.request(METHOD, make_params_at_start(kind)))["items"]

    assert items[0]["insertText"].startswith(f"v1:0{mark}")


@pytest.mark.parametrize("kind", [3, -1, "2x", [], {}])
async def test_a_trigger_out_of_range_is_refused(spawn: Spawn, kind: object):
    editor = await open_text(spawn, "x")

    with pytest.raises(ResponseError, match=r"-32602: .*InlineCompletionTriggerKind @ params.context.trigger_kind"):
        await editor.request(METHOD, {**make_params_at_start(), "context": {"triggerKind": kind}})


async def test_cancel_request_reaches_the_work_itself(spawn: Spawn):
    editor = await open_text(spawn, "wait")
    id = editor.ask(METHOD, make_params_at_start())
    await editor.until(lambda: "waiting" in editor.errors)

    editor.notify("$/cancelRequest", {"id": id})

    with pytest.raises(ResponseError, match=r"^-32800"):
        await editor.answer(id)
    await editor.until(lambda: "cancelled inside" in editor.errors)


async def test_an_explicit_request_shows_its_progress_and_can_be_cancelled(spawn: Spawn):
    editor = await open_text(spawn, "wait")
    id = editor.ask(METHOD, make_params_at_start(kind=1))
    begin = await editor.find_params("$/progress", lambda params: params["value"]["kind"] == "begin")
    assert (begin["value"]["title"], begin["value"]["cancellable"]) == ("Completion by lsp-harness", True)

    editor.notify("window/workDoneProgress/cancel", {"token": begin["token"]})

    with pytest.raises(ResponseError, match=r"^-32800"):
        await editor.answer(id)
    await editor.find_params("$/progress", lambda params: params["value"]["kind"] == "end")


async def test_the_progress_of_a_request_has_its_own_token(spawn: Spawn):
    editor = await open_text(spawn, "wait")
    id = editor.ask(METHOD, {**make_params_at_start(kind=1), "workDoneToken": "mine"})
    begin = await editor.find_params("$/progress", lambda params: params["value"]["kind"] == "begin")
    assert begin["token"] == "mine"

    editor.notify("$/cancelRequest", {"id": id})
    with pytest.raises(ResponseError, match=r"^-32800"):
        await editor.answer(id)


async def test_a_request_while_typing_shows_no_progress(spawn: Spawn):
    editor = await open_text(spawn, "wait")
    id = editor.ask(METHOD, {**make_params_at_start(kind=2), "workDoneToken": "mine"})
    await editor.until(lambda: "waiting" in editor.errors)

    editor.notify("$/cancelRequest", {"id": id})
    with pytest.raises(ResponseError, match=r"^-32800"):
        await editor.answer(id)
    assert not [message for message in editor.received if message.get("method") == "$/progress"]


async def test_cancel_in_the_same_write_as_the_request(spawn: Spawn):
    editor = await open_text(spawn, "wait")

    editor.send(
        {"id": "a", "method": METHOD, "params": make_params_at_start()},
        {"method": "$/cancelRequest", "params": {"id": "a"}},
    )

    with pytest.raises(ResponseError, match=r"^-32800"):
        await editor.answer("a")


async def test_cancelling_an_unknown_request_has_no_effect(spawn: Spawn):
    editor = await open_text(spawn, "x")
    for params in ({"id": 77}, {"id": None}, {"id": [1]}, {"id": {}}, {}, None, []):
        editor.notify("$/cancelRequest", params)

    id = editor.ask(METHOD, make_params_at_start())
    assert (await editor.answer(id))["items"]
    editor.notify("$/cancelRequest", {"id": id})
    assert (await editor.request(METHOD, make_params_at_start()))["items"]


async def test_superseded_work_is_answered_as_cancelled(spawn: Spawn):
    editor = await open_text(spawn, "superseded")

    with pytest.raises(ResponseError, match=r"^-32800: a newer request took its place"):
        await editor.request(METHOD, make_params_at_start())


async def test_an_unexpected_error_is_one_sentence_and_its_traceback_is_logged(spawn: Spawn):
    editor = await open_text(spawn, "boom")

    with pytest.raises(ResponseError) as error:
        await editor.request(METHOD, make_params_at_start())

    assert (error.value.code, error.value.message) == (
        -32603,
        f"lsp-harness could not answer {METHOD} because of an internal error; its log has the details",
    )
    assert "Traceback" not in str(editor.received)
    await editor.until(lambda: "RuntimeError: /etc/secret/path is broken" in editor.errors)
    assert (await editor.request("workspace/executeCommand", {"command": "lspHarness.status"}))["running"] == 0


async def test_an_engine_that_is_down_is_one_failed_request_not_one_per_key(spawn: Spawn):
    editor = await open_text(spawn, "down")

    with pytest.raises(ResponseError, match=r"^-32803: the engine cannot be started"):
        await editor.request(METHOD, make_params_at_start())
    assert await editor.request(METHOD, make_params_at_start()) == {"items": []}
    with pytest.raises(ResponseError, match=r"^-32803"):
        await editor.request(METHOD, make_params_at_start(kind=1))

    document = {"uri": URI, "version": 2}
    editor.notify("textDocument/didChange", {"textDocument": document, "contentChanges": [{"text": "up"}]})
    assert (await editor.request(METHOD, make_params_at_start()))["items"]
    editor.notify(
        "textDocument/didChange", {"textDocument": {**document, "version": 3}, "contentChanges": [{"text": "down"}]}
    )
    with pytest.raises(ResponseError, match=r"^-32803"):
        await editor.request(METHOD, make_params_at_start())


async def test_printed_text_does_not_reach_the_wire(spawn: Spawn):
    editor = await open_text(spawn, "print")

    assert (await editor.request(METHOD, make_params_at_start()))["items"]

    await editor.until(lambda: "this must not reach the client" in editor.errors and "nor this" in editor.errors)


async def test_clients_without_ghost_text_get_a_popup_menu(spawn: Spawn):
    editor = await open_text(spawn, "retu", client="nvim")
    position = {"line": 0, "character": 4}

    answer = await editor.request("textDocument/completion", {"textDocument": {"uri": URI}, "position": position})

    assert answer == {
        "isIncomplete": True,
        "items": [
            {
                "label": "retuv1:4a …",
                "kind": 1,
                "detail": "lsp-harness",
                "documentation": {"kind": "markdown", "value": "````python\nretuv1:4a\n\tmore ```\n````"},
                "filterText": "retu",
                "insertTextFormat": 1,
                "insertTextMode": 1,
                "textEdit": {
                    "range": {"start": {"line": 0, "character": 0}, "end": position},
                    "newText": "retuv1:4a\n\tmore ```",
                },
                "command": {"title": "Accepted", "command": "lspHarness.accepted", "arguments": [URI, "s-1"]},
            }
        ],
    }


async def test_the_popup_menu_reports_a_failed_engine_only_once(spawn: Spawn):
    editor = await open_text(spawn, "down", client="nvim")
    params = {"textDocument": {"uri": URI}, "position": {"line": 0, "character": 0}}

    with pytest.raises(ResponseError, match=r"^-32803"):
        await editor.request("textDocument/completion", params)
    assert await editor.request("textDocument/completion", params) == {"isIncomplete": True, "items": []}
