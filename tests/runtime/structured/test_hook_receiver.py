"""The receiver of HTTP hooks: who may call it, and questions that end before their answers."""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from typing import Any

import pytest

from lsp_harness.runtime.structured.hook_receiver import MAX_BODY_BYTES, HookReceiver


class HookAnswers:
    """A function for hooks, which waits for facts with `wait`."""

    def __init__(self) -> None:
        self.taken: list[Mapping[str, Any]] = []
        self.began, self.cancelled = asyncio.Event(), asyncio.Event()

    async def __call__(self, facts: Mapping[str, Any]) -> Mapping[str, Any]:
        self.taken.append(facts)
        self.began.set()
        if facts.get("wait"):
            try:
                await asyncio.Event().wait()
            finally:
                self.cancelled.set()
        return {"got": facts.get("n")}


@pytest.fixture
def answers() -> HookAnswers:
    return HookAnswers()


@pytest.fixture
async def receiver(answers: HookAnswers) -> AsyncIterator[HookReceiver]:
    receiver = HookReceiver(answers)
    await receiver.start()
    yield receiver
    await receiver.aclose()


async def connect(receiver: HookReceiver) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    return await asyncio.open_connection("127.0.0.1", int(receiver.url.split(":")[2].split("/")[0]))


async def post(
    receiver: HookReceiver, body: bytes, head: str = "POST /hook HTTP/1.1", **fields: str
) -> tuple[int, bytes]:
    """Send a request, and return the status and the body of the answer. They are 0 and empty without an answer."""
    reader, writer = await connect(receiver)
    try:
        lines = {**receiver.headers, "Content-Length": str(len(body)), **fields}
        text = "\r\n".join([head, *(f"{name}: {value}" for name, value in lines.items())])
        writer.write(text.encode() + b"\r\n\r\n" + body)
        before, _, after = (await reader.read()).partition(b"\r\n\r\n")
    finally:
        writer.close()
    return (int(before.split()[1]), after) if before else (0, b"")


async def test_a_hook_is_answered(receiver: HookReceiver, answers: HookAnswers) -> None:
    status, body = await post(receiver, b'{"n": "\xc3\xbc"}')
    assert (status, json.loads(body)) == (200, {"got": "ü"})
    assert answers.taken == [{"n": "ü"}]


@pytest.mark.parametrize(
    ("head", "fields", "body", "status"),
    [
        ("POST /hook HTTP/1.1", {"Authorization": "Bearer wrong"}, b"{}", 401),
        ("POST /hook HTTP/1.1", {"Authorization": ""}, b"{}", 401),
        ("GET /hook HTTP/1.1", {}, b"", 404),
        ("POST /other HTTP/1.1", {}, b"{}", 404),
        ("POST /hook HTTP/1.1", {"Content-Length": "x"}, b"{}", 411),
        ("POST /hook HTTP/1.1", {"Content-Length": "-1"}, b"{}", 411),
        ("POST /hook HTTP/1.1", {"Content-Length": str(MAX_BODY_BYTES + 1)}, b"{}", 413),
        ("POST /hook HTTP/1.1", {}, b"[]", 400),
        ("POST /hook HTTP/1.1", {}, b"{", 400),
        ("POST /hook HTTP/1.1", {"X": "y" * 40_000}, b"{}", 400),
    ],
)
async def test_wrong_requests_are_refused(
    receiver: HookReceiver, answers: HookAnswers, head: str, fields: dict[str, str], body: bytes, status: int
) -> None:
    assert (await post(receiver, body, head, **fields))[0] == status
    assert answers.taken == []


async def test_a_question_ends_when_the_agent_hangs_up(receiver: HookReceiver, answers: HookAnswers) -> None:
    _, writer = await connect(receiver)
    body = b'{"wait": 1}'
    head = f"POST /hook HTTP/1.1\r\nAuthorization: {receiver.headers['Authorization']}\r\n"
    writer.write(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
    await answers.began.wait()
    writer.close()
    async with asyncio.timeout(10):
        await answers.cancelled.wait()


async def test_the_end_of_the_receiver_cancels_questions(receiver: HookReceiver, answers: HookAnswers) -> None:
    posted = asyncio.ensure_future(post(receiver, b'{"wait": 1}'))
    await answers.began.wait()
    await receiver.aclose()
    assert answers.cancelled.is_set()
    assert await posted == (0, b"")
