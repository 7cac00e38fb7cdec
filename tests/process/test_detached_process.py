"""Tests of detached processes: they report their start or their end."""

import asyncio
import os
import stat
import sys
from pathlib import Path

import psutil
import pytest

from lsp_harness.process import detached_process
from tests.support.stuck import has_ended

SAYS = """
import json, os, sys, time
fd = int(sys.argv[sys.argv.index("--ready-fd") + 1])
print("to the log", file=sys.stderr, flush=True)
os.write(fd, json.dumps({"pid": os.getpid(), "session": os.getsid(0), "word": os.environ.get("WORD")}).encode())
os.close(fd)
time.sleep(1000)
"""


def make_python_command(script: str) -> list[str]:
    return [sys.executable, "-c", script]


async def test_a_detached_process_reports_its_start_and_continues(tmp_path: Path):
    log = tmp_path / "log"

    answer = await detached_process.start_detached(make_python_command(SAYS), {**os.environ, "WORD": "hello"}, log)

    process = psutil.Process(int(str(answer["pid"])))
    try:
        assert process.is_running()
        assert answer == {"pid": process.pid, "session": process.pid, "word": "hello"}
        assert log.read_text() == "to the log\n"
        assert stat.S_IMODE(log.stat().st_mode) == 0o600
    finally:
        process.kill()
    # it is reaped without our help
    process.wait()


@pytest.mark.parametrize(
    ("script", "error"),
    [
        ("raise SystemExit(3)", "it ended with exit code 3 while starting"),
        ("import os; os.kill(os.getpid(), 11)", "it ended with signal 11 while starting"),
    ],
)
async def test_an_end_without_a_word_is_an_error(tmp_path: Path, script: str, error: str):
    assert await detached_process.start_detached(make_python_command(script), os.environ, tmp_path / "log") == {
        "error": error
    }


BEATS = """
import json, sys
from lsp_harness.process.detached_process import Heartbeat
fd = int(sys.argv[sys.argv.index("--ready-fd") + 1])
beats = Heartbeat(fd)
open(sys.argv[1]).read()
beats.stop()
open(fd, "w").write(json.dumps({"ready": True}))
"""


async def test_a_slow_start_with_signs_of_life_is_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    read_all = detached_process._read_all  # pyright: ignore[reportPrivateUsage]

    async def opened(stream: asyncio.StreamReader, silence_s: float | None) -> bytes:
        # of a process that gave signs for a while
        assert await stream.readexactly(2) == b"\n\n"
        gate.write_text("go")
        return await read_all(stream, silence_s)

    monkeypatch.setattr(detached_process, "_read_all", opened)
    answer = await detached_process.start_detached(
        [*make_python_command(BEATS), str(gate)], os.environ, tmp_path / "log", 30
    )
    assert answer == {"ready": True}


async def test_a_start_without_a_sign_of_life_is_killed(tmp_path: Path):
    stops = "import os, sys, signal; print(os.getpid(), file=sys.stderr); os.kill(os.getpid(), signal.SIGSTOP)"
    answer = await detached_process.start_detached(make_python_command(stops), os.environ, tmp_path / "log", 1.0)

    assert answer == {"error": "it gave no sign of life for 1 s while starting and was ended"}
    assert has_ended(int((tmp_path / "log").read_text()))


async def test_a_missing_program_leaves_no_open_pipe(tmp_path: Path):
    before = set(os.listdir("/proc/self/fd"))

    with pytest.raises(FileNotFoundError):
        await detached_process.start_detached(["/no/such/program"], os.environ, tmp_path / "log")
    assert set(os.listdir("/proc/self/fd")) == before


async def test_a_large_log_is_renamed(tmp_path: Path):
    log, older = tmp_path / "a.log", tmp_path / "a.log.1"
    log.write_text("x" * detached_process.MAX_LOG_BYTES)
    await detached_process.start_detached(make_python_command("import sys; sys.stderr.write('new')"), os.environ, log)
    assert log.stat().st_size == detached_process.MAX_LOG_BYTES + 3
    assert not older.exists()

    await detached_process.start_detached(make_python_command("import sys; sys.stderr.write('next')"), os.environ, log)

    assert log.read_text() == "next"
    assert older.read_text().endswith("xnew")
