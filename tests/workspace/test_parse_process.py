"""Tests of the process that parses texts first."""

import asyncio
import io
import json
import os
import sys
from pathlib import Path

import pytest

from lsp_harness.syntax import parse_worker
from lsp_harness.workspace.document_syntax import CRASH_REASON, Trials

pytestmark = pytest.mark.process

SCRIPT = """
import json, os, sys
with open(sys.argv[1], "a") as pids:
    pids.write(f"{os.getpid()}\\n")
while line := sys.stdin.buffer.readline():
    data = sys.stdin.buffer.read(json.loads(line)["size"])
    if data == b"crash":
        os.abort()
    if data == b"never":
        sys.stdin.buffer.read()
    print("no json" if data == b"odd" else json.dumps({"why": data.decode()}), flush=True)
"""
"""Says of each text that it is the reason, but for some."""


class Processes:
    """The processes whose numbers a script has written."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / "pids"
        self.command = (sys.executable, "-c", SCRIPT, str(self.file))

    @property
    def pids(self) -> list[int]:
        return [int(line) for line in self.file.read_text().split()] if self.file.exists() else []


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.fixture
def processes(tmp_path: Path) -> Processes:
    return Processes(tmp_path)


async def test_one_process_parses_several_texts(processes: Processes):
    trials = Trials(*processes.command)
    results = [trials.refusal_reason("python", text) for text in (b"one", b"", b"two" * 10_000)]
    assert await asyncio.gather(*results) == ["one", "", "two" * 10_000]
    [pid] = processes.pids
    await trials.aclose()
    assert not is_alive(pid)


@pytest.mark.parametrize("text", [b"crash", b"odd"])
async def test_a_process_that_fails_is_replaced(processes: Processes, text: bytes):
    trials = Trials(*processes.command)
    assert await trials.refusal_reason("python", text) == CRASH_REASON
    assert await trials.refusal_reason("python", b"next") == "next"
    first, second = processes.pids
    assert not is_alive(first)
    await trials.aclose()
    assert not is_alive(second)


async def test_a_process_that_never_answers_is_killed_and_replaced(processes: Processes):
    trials = Trials(*processes.command, timeout_s=0.5)
    assert await trials.refusal_reason("python", b"never") == CRASH_REASON
    assert not any(map(is_alive, processes.pids))
    await trials.aclose()


async def test_a_request_that_is_cancelled_leaves_no_answer_for_the_next(processes: Processes):
    trials = Trials(*processes.command)
    assert await trials.refusal_reason("python", b"first") == "first"
    task = asyncio.create_task(trials.refusal_reason("python", b"never"))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await trials.refusal_reason("python", b"next") == "next"
    await trials.aclose()
    assert not any(map(is_alive, processes.pids))


async def test_a_process_that_cannot_be_started_fails_no_request(tmp_path: Path):
    assert await Trials(str(tmp_path / "missing")).refusal_reason("python", b"x = 1\n") == CRASH_REASON


async def test_the_real_process_tells_texts_apart():
    trials = Trials()
    assert await trials.refusal_reason("python", b"x = 1\n") == ""
    assert await trials.refusal_reason("python", b"x = 1\0") == "it is not a text"
    assert "nested too deeply" in await trials.refusal_reason("yaml", b" " * 300 + b"a: 1\n")
    # 208 kB of numbers on which the parser of C takes seconds
    numbers = b"".join(b"    0x%08x, 0x%08x, 0x%08x,\n" % (n, n * 7, n * 13) for n in range(5_000))
    assert await trials.refusal_reason("c", b"// table\n" + numbers) != ""
    assert await trials.refusal_reason("python", b"y = 2\n") == ""
    await trials.aclose()


def test_answers_of_the_parse_process():
    texts = [("python", b"x = 1\n"), ("python", b"\0"), ("no such language", b"x")]
    result = b"".join(json.dumps({"language": name, "size": len(data)}).encode() + b"\n" + data for name, data in texts)
    answers = io.BytesIO()
    parse_worker.serve(io.BytesIO(result), answers)
    results = [json.loads(line)["why"] for line in answers.getvalue().splitlines()]
    assert results == ["", "it is not a text", ""]
