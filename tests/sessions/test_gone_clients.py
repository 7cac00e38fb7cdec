"""Tests of a client that ends: its questions are denied, and its session can be continued."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from lsp_harness.errors import UsageError
from lsp_harness.kernel.log.log_reader import read_log
from lsp_harness.kernel.log.session_log import find_holder
from lsp_harness.kernel.log.session_store import SessionStore
from lsp_harness.sessions.session_host import serve_session
from lsp_harness.sessions.session_options import SessionOptions
from tests.sessions.conftest import OpenScripted, ask, make_tool_call, say

RUN = make_tool_call("bash", command="touch x", execution="inline")
ANSWER = {"command": "permission", "decision": "allow"}


class SessionClient:
    """A client whose session runs in this process."""

    def __init__(self, open_scripted: OpenScripted, *replies: dict[str, Any], **options: Any) -> None:
        async def opener(given: SessionOptions) -> Any:
            return await open_scripted(*replies, permission_mode="ask", **options)

        self.incoming: asyncio.Queue[Any] = asyncio.Queue()
        self.outgoing: asyncio.Queue[Any] = asyncio.Queue()
        self.serving = asyncio.ensure_future(serve_session(self.incoming, self.outgoing, {}, opener))
        self.incoming.put_nowait({"id": "1", "prompt": "go"})

    async def frames(self, last: str = "") -> list[dict[str, Any]]:
        """Return the frames up to one of a type, or to the end."""
        found: list[dict[str, Any]] = []
        while (frame := await self.outgoing.get()) is not None:
            found.append(frame)
            if frame["type"] == last:
                break
        return found


@pytest.mark.parametrize("options", [{"has_person": True}, {"ask_permissions": True}], ids=["person", "program"])
async def test_the_question_of_a_client_that_ends_is_denied(
    open_scripted: OpenScripted, tmp_path: Path, options: dict[str, Any]
):
    client = SessionClient(open_scripted, RUN, RUN, say("done"), **options)
    *_, question = await client.frames("permission_request")
    client.incoming.put_nowait(None)

    # the second command is denied too, without a wait
    frames = await client.frames()
    await client.serving

    assert [frame["reason"] for frame in frames if frame["type"] == "tool_end"] == ["denied", "denied"]
    assert [frame["reason"] for frame in frames if frame["type"] == "turn_stop"] == ["completed"]
    assert not (tmp_path / "project" / "x").exists()
    assert find_holder(SessionStore().folder / question["session_id"]) is None


async def test_an_answer_before_the_end_of_the_client_is_used(open_scripted: OpenScripted, tmp_path: Path):
    client = SessionClient(open_scripted, RUN, say("done"), has_person=True)
    *_, question = await client.frames("permission_request")
    client.incoming.put_nowait(ANSWER | {"request_id": question["request_id"]})
    client.incoming.put_nowait(None)
    await client.frames()

    assert (tmp_path / "project" / "x").exists()


async def test_a_session_without_a_turn_leaves_no_folder(open_scripted: OpenScripted):
    opened = await open_scripted(say("hello"))
    opened.record_start()
    with pytest.raises(UsageError, match="nothing to undo"):
        await opened.undo()
    await opened.aclose()
    assert not opened.session.log.folder.exists()


async def test_the_first_turn_writes_the_earlier_events(open_scripted: OpenScripted):
    opened = await open_scripted(say("hello"))
    opened.record_start()
    assert not opened.session.log.folder.exists()
    await ask(opened, "hi")
    events = list(read_log(opened.session.log.path))
    assert [event.seq for event in events] == list(range(len(events)))
    assert events[0].type == "session.started"
