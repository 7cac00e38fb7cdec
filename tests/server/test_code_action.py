"""A fix from its offer to the edit, in both ways: the client resolves it, or executes our command."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from tests.server.conftest import Spawn, release_harness
from tests.support.lsp import Editor, ResponseError

URI = "file:///ws/a.py"
VERDICT = "lsp-harness-verdict:/0123456789ABCDEFGHJKMNPQRS/0.md"

LABEL = "lsp-harness: form ✓, behaviour not checked; only the syntax was looked at (parse ✓, lint –)"


def make_lsp_range(start: int, end: int) -> dict[str, Any]:
    return {"start": {"line": 0, "character": start}, "end": {"line": 0, "character": end}}


def make_typo(start: int) -> dict[str, Any]:
    return {
        "range": make_lsp_range(start, start + 3),
        "message": "typo",
        "source": "speller",
        "code": "typo",
        "severity": 2,
    }


async def request_actions(editor: Editor, *diagnostics: dict[str, Any], only: list[str] | None = None) -> list[Any]:
    context = {"diagnostics": list(diagnostics), **({"only": only} if only else {})}
    params = {"textDocument": {"uri": URI}, "range": make_lsp_range(0, 0), "context": context}
    return await editor.request("textDocument/codeAction", params)


async def open_text(spawn: Spawn, text: str, client: str = "vscode", **params: object) -> Editor:
    editor = await spawn(client, **params)
    editor.open(URI, text)
    return editor


async def change(editor: Editor, version: int, text: str) -> None:
    document = {"uri": URI, "version": version}
    editor.notify("textDocument/didChange", {"textDocument": document, "contentChanges": [{"text": text}]})


async def test_a_fix_of_two_sources_for_one_place_is_offered_once(spawn: Spawn):
    editor = await open_text(spawn, "teh teh")
    ours = make_typo(0) | {"source": "lsp-harness", "message": "typo: after the last suggestion"}

    offered = await request_actions(editor, make_typo(0), ours, make_typo(4))

    assert [(action["title"], action["diagnostics"]) for action in offered] == [
        ("Spell it right", [make_typo(0), ours]),
        ("Ask the model", [make_typo(0), ours]),
        ("Spell it right", [make_typo(4)]),
        ("Ask the model", [make_typo(4)]),
    ]


async def test_a_rule_that_ruff_reports_by_its_name_is_recognised(spawn: Spawn, tmp_path: Path):
    editor = await open_text(spawn, "teh teh teh", rootUri=tmp_path.as_uri())
    named = [make_typo(0) | {"source": "Ruff", "code": "undefined-name"}, make_typo(4) | {"code": "undefined-name"}]

    offered = await request_actions(editor, *named, make_typo(0) | {"source": "lsp-harness", "code": "F821"})

    codes = [action["data"]["finding"]["code"] for action in offered]
    # the name is that of ruff only if ruff says so
    assert codes == ["F821", "F821", "undefined-name", "undefined-name"]


async def test_offers_have_all_data_to_compute_their_edits(spawn: Spawn):
    editor = await open_text(spawn, "ä teh")

    linter, model = await request_actions(editor, make_typo(2))

    finding = {"start": 3, "end": 6, "message": "typo", "source": "speller", "code": "typo", "severity": "warning"}
    data = {"uri": URI, "version": 1, "hash": linter["data"]["hash"], "finding": finding}
    assert linter == {
        "title": "Spell it right",
        "kind": "quickfix",
        "isPreferred": True,
        "diagnostics": [make_typo(2)],
        "data": {**data, "title": "Spell it right", "how": "linter"},
    }
    assert model == {
        "title": "Ask the model",
        "kind": "quickfix",
        "tags": [1],
        "diagnostics": [make_typo(2)],
        "data": {**data, "title": "Ask the model", "how": "model"},
    }


async def test_no_action_is_offered_without_a_diagnostic_or_for_other_kinds(spawn: Spawn):
    editor = await open_text(spawn, "teh")

    assert await request_actions(editor) == []
    assert await request_actions(editor, make_typo(0), only=["refactor", "quickfix.other"]) == []
    assert len(await request_actions(editor, make_typo(0), only=["refactor", "quickfix"])) == 2
    assert len(await request_actions(editor, make_typo(0), only=[""])) == 2


async def test_resolving_returns_a_versioned_edit_and_a_command_that_reports_it(spawn: Spawn):
    editor = await open_text(spawn, "ä teh")
    _, model = await request_actions(editor, make_typo(2))

    resolved = await editor.request("codeAction/resolve", model)

    assert resolved == {
        **model,
        "edit": {
            "documentChanges": [
                {
                    "textDocument": {"uri": URI, "version": 1},
                    "edits": [{"range": make_lsp_range(2, 5), "newText": "the", "annotationId": "lsp-harness"}],
                }
            ],
            "changeAnnotations": {
                "lsp-harness": {
                    "label": LABEL,
                    "needsConfirmation": True,
                    "description": "fixed by model",
                }
            },
        },
        "command": {"title": "Applied", "command": "lspHarness.applied", "arguments": [URI, "p-1"]},
    }


@pytest.mark.parametrize(
    ("confirm", "expected"), [("model", (False, True)), ("always", (True, True)), ("never", (False, False))]
)
async def test_a_setting_decides_which_edits_need_a_confirmation(
    spawn: Spawn, confirm: str, expected: tuple[bool, bool]
):
    editor = await open_text(spawn, "teh", initializationOptions={"edits": {"confirm": confirm}})

    resolved_actions = [
        await editor.request("codeAction/resolve", action) for action in await request_actions(editor, make_typo(0))
    ]

    confirmations = tuple(
        action["edit"]["changeAnnotations"]["lsp-harness"]["needsConfirmation"] for action in resolved_actions
    )
    assert confirmations == expected


async def test_a_client_without_versioned_edits_gets_plain_changes(spawn: Spawn):
    editor = await open_text(spawn, "teh", "nvim")
    _, model = await request_actions(editor, make_typo(0))

    resolved = await editor.request("codeAction/resolve", model)

    assert resolved["edit"] == {"changes": {URI: [{"range": make_lsp_range(0, 3), "newText": "the"}]}}
    assert "command" not in resolved


async def test_an_action_with_only_a_command_is_resolved_unchanged(spawn: Spawn):
    editor = await open_text(spawn, "teh")
    action = {"title": "Why", "kind": "quickfix", "command": {"title": "Why", "command": "lspHarness.why"}}
    assert await editor.request("codeAction/resolve", action) == action


async def test_a_text_that_has_changed_is_not_fixed(spawn: Spawn):
    editor = await open_text(spawn, "teh")
    _, model = await request_actions(editor, make_typo(0))

    await change(editor, 2, "teh teh")
    with pytest.raises(ResponseError, match=r"^-32801: the document has changed since"):
        await editor.request("codeAction/resolve", model)

    await change(editor, 3, "teh")  # another version of the same text
    assert (await editor.request("codeAction/resolve", model))["edit"]["documentChanges"][0]["textDocument"] == {
        "uri": URI,
        "version": 3,
    }


async def test_a_text_that_changes_meanwhile_is_not_fixed(spawn: Spawn):
    editor = await open_text(spawn, "teh wait")
    _, model = await request_actions(editor, make_typo(0))
    id = editor.ask("codeAction/resolve", model)
    await editor.until(lambda: "waiting" in editor.errors)

    await change(editor, 2, "teh")
    await release_harness(editor, URI)

    with pytest.raises(ResponseError, match=r"^-32801: the document changed while the edit was computed"):
        await editor.answer(id)


async def test_a_fix_without_a_candidate_is_an_error_with_its_reason(spawn: Spawn):
    editor = await open_text(spawn, "teh hopeless")
    _, model = await request_actions(editor, make_typo(0))

    with pytest.raises(ResponseError, match=r"^-32803: every candidate failed its checks"):
        await editor.request("codeAction/resolve", model)


async def test_invalid_data_of_an_action_is_refused(spawn: Spawn):
    editor = await open_text(spawn, "teh")
    _, model = await request_actions(editor, make_typo(0))
    data = model["data"]

    for invalid_data in (
        None,
        7,
        {},
        {"uri": 5},
        {**data, "finding": None},
        {**data, "finding": {}},
        {**data, "finding": {**data["finding"], "start": "x"}},
        {**data, "finding": {**data["finding"], "end": 99}},
        {**data, "finding": {**data["finding"], "start": -1}},
        {**data, "how": "magic"},
        {**data, "uri": "file:///closed.py"},
    ):
        with pytest.raises(ResponseError, match=r"^-32602"):
            await editor.request("codeAction/resolve", {"title": "x", "data": invalid_data})


async def test_progress_is_created_fed_and_ended(spawn: Spawn):
    editor = await open_text(spawn, "teh wait")
    _, model = await request_actions(editor, make_typo(0))
    id = editor.ask("codeAction/resolve", model)
    await editor.find_params("$/progress", lambda params: params["value"]["kind"] == "begin")

    await release_harness(editor, URI)
    await editor.answer(id)

    token = (await editor.find_params("window/workDoneProgress/create"))["token"]
    progress = [message["params"] for message in editor.received if message.get("method") == "$/progress"]
    begin_value = {
        "kind": "begin",
        "title": "Ask the model",
        "cancellable": True,
        "message": "looking",
        "percentage": 10,
    }
    assert progress == [
        {"token": token, "value": begin_value},
        {"token": token, "value": {"kind": "report", "message": "checking", "percentage": 90}},
        {"token": token, "value": {"kind": "end", "message": "checking"}},
    ]


async def test_the_cancel_button_cancels_the_work(spawn: Spawn):
    editor = await open_text(spawn, "teh wait")
    _, model = await request_actions(editor, make_typo(0))
    id = editor.ask("codeAction/resolve", model)
    begin = await editor.find_params("$/progress", lambda params: params["value"]["kind"] == "begin")
    await editor.until(lambda: "waiting" in editor.errors)

    editor.notify("window/workDoneProgress/cancel", {"token": "another"})
    editor.notify("window/workDoneProgress/cancel", {"token": begin["token"]})

    with pytest.raises(ResponseError, match=r"^-32800"):
        await editor.answer(id)
    await editor.until(lambda: "cancelled inside" in editor.errors)
    await editor.find_params("$/progress", lambda params: params["value"]["kind"] == "end")


@pytest.mark.parametrize("trouble", ["refused", "unanswered"])
async def test_progress_that_cannot_be_shown_does_not_hold_up_the_work(spawn: Spawn, trouble: str):
    editor = await open_text(spawn, "teh")
    editor.replies["window/workDoneProgress/create"] = ValueError("no")
    if trouble == "unanswered":
        editor.muted.add("window/workDoneProgress/create")
    _, model = await request_actions(editor, make_typo(0))

    assert "edit" in await editor.request("codeAction/resolve", model)
    assert not [message for message in editor.received if message.get("method") == "$/progress"]


async def test_a_client_that_cannot_resolve_gets_a_command_that_applies_the_edit(spawn: Spawn):
    editor = await open_text(spawn, "teh", "eglot")

    _, model = await request_actions(editor, make_typo(0))
    assert model["command"] == {"title": "Ask the model", "command": "lspHarness.fix", "arguments": [model["data"]]}
    outcome = await execute(editor, model["command"])

    assert outcome == {"applied": True, "summary": "fixed by model", "failureReason": None, "verdict": VERDICT}
    edits = [{"range": make_lsp_range(0, 3), "newText": "the"}]
    assert await editor.find_params("workspace/applyEdit") == {
        "label": "Ask the model",
        "edit": {"documentChanges": [{"textDocument": {"uri": URI, "version": 1}, "edits": edits}]},
    }
    await editor.find_params(
        "textDocument/publishDiagnostics",
        lambda params: [diagnostic["message"] for diagnostic in params["diagnostics"]] == ["applied p-1"],
    )


async def test_an_edit_the_client_rejects_is_not_reported_as_applied(spawn: Spawn):
    editor = await open_text(spawn, "teh", "eglot")
    editor.replies["workspace/applyEdit"] = {"applied": False, "failureReason": "read only"}
    _, model = await request_actions(editor, make_typo(0))

    outcome = await execute(editor, model["command"])

    assert outcome == {"applied": False, "summary": "fixed by model", "failureReason": "read only", "verdict": VERDICT}
    assert "applied p-1" not in str(editor.received)


async def test_a_client_without_literals_gets_bare_commands_and_without_edits_an_error(spawn: Spawn):
    editor = await open_text(spawn, "teh", "plain")

    _, model = await request_actions(editor, make_typo(0))
    assert set(model) == {"title", "command", "arguments"}
    with pytest.raises(ResponseError, match=r"^-32803: this editor does not apply edits"):
        await execute(editor, model)


async def test_a_fix_as_command_shows_progress_under_the_clients_own_token(spawn: Spawn):
    editor = await open_text(spawn, "teh wait", "eglot")
    _, model = await request_actions(editor, make_typo(0))
    id = editor.ask("workspace/executeCommand", {**model["command"], "workDoneToken": 7})
    await editor.find_params("$/progress", lambda params: (params["token"], params["value"]["kind"]) == (7, "begin"))
    await editor.until(lambda: "waiting" in editor.errors)

    editor.notify("window/workDoneProgress/cancel", {"token": 7})

    with pytest.raises(ResponseError, match=r"^-32800"):
        await editor.answer(id)
    assert not [message for message in editor.received if message.get("method") == "window/workDoneProgress/create"]


async def test_commands_with_wrong_arguments_are_refused(spawn: Spawn):
    editor = await open_text(spawn, "teh")

    for command, arguments in (
        ("lspHarness.accepted", None),
        ("lspHarness.accepted", [URI]),
        ("lspHarness.applied", [URI, 5]),
        ("lspHarness.fix", []),
        ("lspHarness.fix", [{"uri": "file:///closed.py"}]),
        ("lspHarness.nothing", []),
        ("rm -rf /", None),
    ):
        with pytest.raises(ResponseError, match=r"^-32602"):
            await editor.request("workspace/executeCommand", {"command": command, "arguments": arguments})


async def test_accepted_and_applied_reach_the_harness(spawn: Spawn):
    editor = await open_text(spawn, "x", "eglot")

    await asyncio.gather(
        execute(editor, {"command": "lspHarness.accepted", "arguments": [URI, "s-1"]}),
        execute(editor, {"command": "lspHarness.applied", "arguments": [URI, "p-9"]}),
    )

    for message in ("accepted s-1", "applied p-9"):
        await editor.find_params(
            "textDocument/publishDiagnostics",
            lambda params, text=message: [diagnostic["message"] for diagnostic in params["diagnostics"]] == [text],
        )


async def execute(editor: Editor, command: dict[str, Any]) -> Any:
    params = {"command": command["command"], "arguments": command["arguments"]}
    return await editor.request("workspace/executeCommand", params)
