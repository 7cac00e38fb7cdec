"""The processes as psutil tells them, compared with /proc, and the parts of other systems that run here, too."""

import asyncio
import io
import os
from pathlib import Path

import pytest

from lsp_harness.process import portable_processes, process_table
from lsp_harness.process.pipe_reading import PipeThread
from lsp_harness.process.request_pipe import send_greeting, serve_requests
from lsp_harness.process.termination import OpenProcess

NO_PROCESS = 2**22 + 1


def test_psutil_tells_what_proc_tells(monkeypatch: pytest.MonkeyPatch):
    pid = os.getpid()
    by_proc = {row.pid: row for row in process_table.list_processes()}
    monkeypatch.setattr(process_table, "HAS_PROC", False)
    by_psutil = {row.pid: row for row in process_table.list_processes()}

    assert (by_psutil[pid].parent, by_psutil[pid].group) == (by_proc[pid].parent, by_proc[pid].group)
    assert process_table.start_ticks(pid) == by_psutil[pid].started > 0
    assert process_table.resident_bytes(pid) > 1_000_000
    assert process_table.cpu_ticks(pid) > 0
    assert process_table.process_state(pid) == "S"
    assert process_table.environment_value(pid, "PATH") == os.environ["PATH"]


def test_a_process_that_has_ended_has_no_facts(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(process_table, "HAS_PROC", False)
    assert not portable_processes.is_running(NO_PROCESS)
    assert process_table.start_ticks(NO_PROCESS) == process_table.cpu_ticks(NO_PROCESS) == 0
    assert process_table.resident_bytes(NO_PROCESS) == 0
    assert process_table.process_state(NO_PROCESS) == process_table.environment_value(NO_PROCESS, "PATH") == ""
    with pytest.raises(ProcessLookupError):
        OpenProcess(NO_PROCESS)


async def test_a_thread_reads_a_pipe_for_the_event_loop():
    reading, writing = os.pipe()
    stream = asyncio.StreamReader()
    pipe = PipeThread(io.FileIO(reading, "rb"), stream)
    os.write(writing, b"first\n")
    assert await stream.readline() == b"first\n"
    os.write(writing, b"last")
    os.close(writing)
    assert await stream.read() == b"last"
    pipe.close()


async def test_a_request_needs_the_token_of_its_port(tmp_path: Path):
    from lsp_harness.disk.loopback_channel import LOOPBACK_ADDRESS, LoopbackChannel

    path, asked = tmp_path / "task", asyncio.Event()
    channel = LoopbackChannel(path)
    listener = channel.listen()
    serving = asyncio.ensure_future(serve_requests(listener, channel.token, asked.set))
    _, stranger = await asyncio.open_connection(LOOPBACK_ADDRESS, channel.port())
    stranger.write(b"guess\n")
    await stranger.drain()
    stranger.close()
    await asyncio.sleep(0)
    assert not asked.is_set()
    assert await asyncio.to_thread(send_greeting, path)
    await asked.wait()
    serving.cancel()
    await asyncio.gather(serving, return_exceptions=True)
    assert not await asyncio.to_thread(send_greeting, path)
