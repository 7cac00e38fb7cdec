"""Edits that the user of an editor asks for: the gate, and the commands that apply and reject a proposal."""

from pathlib import Path
from typing import Any

import pytest

from lsp_harness.config.load import find_user_config_file
from tests.server.sessions.conftest import EDIT, EDITED, TEXT, Serve, ask, run_and_fail, run_command
from tests.support.lsp import Editor

ANSWER = "```python\n    return a - b\n```"
LINE = {"start": {"line": 1, "character": 0}, "end": {"line": 1, "character": 16}}
REFUSAL = "nothing was changed, because it is not allowed"


@pytest.fixture(autouse=True)
def one_candidate(monkeypatch: pytest.MonkeyPatch):
    """Ask the model once for each edit."""
    monkeypatch.setenv("LSP_HARNESS_GENERATION__CANDIDATES", "1")
    monkeypatch.setenv("LSP_HARNESS_GENERATION__MAX_RETRIES", "0")


async def propose(editor: Editor, root: Path) -> tuple[str, str]:
    """Let the editor refuse an edit. Return the URI of its document and the id of the proposal, which stays open."""
    uri = (root / "app.py").as_uri()
    editor.open(uri, TEXT)
    editor.replies["workspace/applyEdit"] = {"applied": False, "failureReason": "later"}
    outcome = await run_command(editor, "instruct", uri=uri, range=LINE, instruction="subtract")
    assert (outcome["applied"], outcome["failureReason"]) == (False, "later")
    frame = await editor.find_params("$/lspHarness/event", lambda frame: frame.get("status") == "proposed")
    editor.replies["workspace/applyEdit"] = {"applied": True}
    return uri, frame["proposal"]


def find_decisions(editor: Editor) -> list[tuple[str, str, str]]:
    frames = [message["params"] for message in editor.received if message.get("method") == "$/lspHarness/event"]
    return [(frame["tool"], frame["decision"], frame["by"]) for frame in frames if frame.get("event") == "permission"]


async def test_a_proposal_is_applied_once(serve: Serve, root: Path):
    editor = await serve(ANSWER, announced={"events": True})
    uri, proposal = await propose(editor, root)

    outcome = await run_command(editor, "edit.apply", uri=uri, proposalId=proposal)

    assert outcome["applied"]
    assert "parse ✓" in outcome["summary"]
    sent = [m["params"] for m in editor.received if m.get("method") == "workspace/applyEdit"]
    assert "a - b" in str(sent[-1]["edit"])
    applied = await editor.find_params("$/lspHarness/event", lambda frame: frame.get("status") == "applied")
    assert applied["proposal"] == proposal
    assert "no open proposal" in await run_and_fail(editor, "edit.apply", uri=uri, proposalId=proposal)
    # the linter once for the turn, and each request to apply the edit
    request = ("edit", "allow", "person")
    assert find_decisions(editor) == [("lint", "allow", "mode"), request, request]


async def test_a_proposal_is_not_applied_to_another_text(serve: Serve, root: Path):
    editor = await serve(ANSWER, announced={"events": True})
    uri, proposal = await propose(editor, root)
    change = {"textDocument": {"uri": uri, "version": 2}, "contentChanges": [{"text": TEXT + "\nx = 1\n"}]}
    editor.notify("textDocument/didChange", change)
    assert "the document changed since" in await run_and_fail(editor, "edit.apply", uri=uri, proposalId=proposal)


async def test_a_rejected_proposal_cannot_be_applied_and_its_reason_is_logged(serve: Serve, root: Path):
    editor = await serve(ANSWER, announced={"events": True})
    uri, proposal = await propose(editor, root)

    assert await run_command(editor, "edit.reject", uri=uri, proposalId=proposal, reason="too clever") is None

    rejected = await editor.find_params(
        "$/lspHarness/event", lambda frame: frame.get("type") == "edit" and frame["status"] == "rejected"
    )
    assert (rejected["proposal"], rejected["reason"]) == (proposal, "too clever")
    assert "no open proposal" in await run_and_fail(editor, "edit.apply", uri=uri, proposalId=proposal)


@pytest.mark.parametrize("mode", ["plan", "deny"])
async def test_no_edit_is_sent_to_the_editor_in_a_mode_that_denies_it(serve: Serve, root: Path, mode: str):
    editor = await serve(ANSWER, announced={"events": True}, mode=mode)
    uri = (root / "app.py").as_uri()
    editor.open(uri, TEXT)

    reason = await run_and_fail(editor, "instruct", uri=uri, range=LINE, instruction="subtract")

    assert reason.casefold().startswith(f"{REFUSAL}: the permission mode {mode} does not allow it")
    assert not [m for m in editor.received if m.get("method") == "workspace/applyEdit"]
    assert find_decisions(editor) == [("lint", "allow", "mode"), ("edit", "deny", "mode")]


@pytest.mark.parametrize(("title", "is_saved"), [("Allow for this session", False), ("Always allow", True)])
async def test_a_lasting_answer_decides_the_next_question_about_the_file(
    serve: Serve, root: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, title: str, is_saved: bool
):
    monkeypatch.setenv("LSP_HARNESS_HOME", str(tmp_path / "home"))
    again = EDIT.replace("a + b", "a - b", 1).replace('"new": "a - b"', '"new": "a * b"')
    editor = await serve(EDIT, "done", again, "done")
    editor.replies["window/showMessageRequest"] = {"title": title}
    session = (await run_command(editor, "agent.run", prompt="subtract"))["sessionId"]
    assert (root / "app.py").read_text() == EDITED

    await run_command(editor, "agent.run", prompt="multiply", sessionId=session)

    assert (root / "app.py").read_text() == TEXT.replace("a + b", "a * b")
    assert len([m for m in editor.received if m.get("method") == "window/showMessageRequest"]) == 1
    events = await run_command(editor, "events.since", sessionId=session)
    decided = [frame for frame in events["events"] if frame.get("event") == "permission" and frame["tool"] == "edit"]
    assert [(frame["decision"], frame["by"]) for frame in decided] == [("allow", "person"), ("allow", "rule")]
    settings = find_user_config_file()
    assert (settings.exists() and 'pattern = "app.py"' in settings.read_text()) == is_saved
    [asked] = [m["params"]["message"] for m in editor.received if m.get("method") == "window/showMessageRequest"]
    assert f"always (saved in {settings}, for all folders), it would allow:\n  edit(app.py) = " in asked


async def test_a_steering_text_is_in_the_next_request_to_the_model(serve: Serve, root: Path):
    editor = await serve(EDIT, {"text": "in German", "expect": "answer in German"}, announced={"permissions": True})
    id = ask(editor, "agent.run", prompt="subtract")
    question = await editor.find_params("$/lspHarness/permission")

    item = (await run_command(editor, "agent.steer", sessionId=question["session_id"], text="answer in German"))[
        "itemId"
    ]
    await run_command(editor, "permission.respond", requestId=question["request_id"], decision="allow")

    answer = await editor.answer(id)
    assert (answer["reason"], answer["text"]) == ("completed", "in German")
    events: list[dict[str, Any]] = (await run_command(editor, "events.since", sessionId=question["session_id"]))[
        "events"
    ]
    queue = [(frame["status"], frame["item_id"], frame["turn"]) for frame in events if frame["type"] == "queue"]
    assert queue == [("added", item, None), ("taken", item, answer["turn"])]
