"""The document of a verdict, by its URI or by a command, and `lspHarness/status`."""

import pytest

from tests.server.conftest import Spawn
from tests.support.lsp import ResponseError

URI = "file:///ws/a.py"
VERDICT = "lsp-harness-verdict:/0123456789ABCDEFGHJKMNPQRS/0.md"


async def test_a_verdict_is_read_by_its_uri_or_by_a_command(spawn: Spawn):
    editor = await spawn("vscode")

    content = await editor.request("workspace/textDocumentContent", {"uri": VERDICT})
    answer = await editor.request("workspace/executeCommand", {"command": "lspHarness.why", "arguments": [VERDICT]})

    assert content == answer == {"text": "# Check: a typo\n"}


@pytest.mark.parametrize("uri", ["file:///etc/passwd", "lsp-harness-verdict:/../../etc/passwd", VERDICT[:-3], ""])
async def test_only_known_verdicts_can_be_read(spawn: Spawn, uri: str):
    editor = await spawn("vscode")

    with pytest.raises(ResponseError, match="verdict"):
        await editor.request("workspace/textDocumentContent", {"uri": uri})
    with pytest.raises(ResponseError, match="verdict"):
        await editor.request("workspace/executeCommand", {"command": "lspHarness.why", "arguments": [uri]})


async def test_the_status_is_sent_to_clients_that_want_it_when_it_changes(spawn: Spawn):
    with_status, without_status = await spawn("vscode"), await spawn("eglot")

    assert await with_status.find_params("lspHarness/status") == {"engine": "off", "documents": 0}
    for editor in (with_status, without_status):
        editor.open(URI, "x")
        await editor.request("workspace/executeCommand", {"command": "lspHarness.accepted", "arguments": [URI, "tell"]})
    assert await with_status.find_params("lspHarness/status", lambda params: params["documents"] == 1)
    assert len([message for message in with_status.received if message.get("method") == "lspHarness/status"]) == 2
    assert not [message for message in without_status.received if message.get("method") == "lspHarness/status"]
