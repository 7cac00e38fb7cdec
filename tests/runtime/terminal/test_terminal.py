"""Programs in real terminals: what they print, what is typed, and who watches."""

import asyncio
import json
import os
import sys
from pathlib import Path

import pytest

from lsp_harness.runtime.agent_errors import AgentBusy, AgentError, AgentNotReady, CliNotFound, SpawnFailed
from lsp_harness.runtime.terminal import terminal_viewer
from lsp_harness.runtime.terminal.output_scanner import find_cut
from lsp_harness.runtime.terminal.screen import Screen
from lsp_harness.runtime.terminal.terminal import Terminal
from lsp_harness.runtime.terminal.terminal_signals import (
    LinkShown,
    ScreenChanged,
    StatusReported,
    TerminalEnded,
    TerminalSignal,
    TitleChanged,
)
from lsp_harness.runtime.terminal.terminal_viewer import MAX_PENDING_BYTES, SlowViewer, TerminalViewer
from tests.runtime.terminal.conftest import StartTerminal
from tests.runtime.terminal.process_count import find_processes_with_mark, open_descriptors, until_shown, wait_until

SHELL = ("bash", "--norc", "--noprofile", "-i")
PYTHON = (sys.executable, "-S", "-E", "-u", "-c")
FLOOD_BYTES = 2_500_000


async def read_all(viewer: TerminalViewer) -> list[bytes]:
    return [chunk async for chunk in viewer]


async def test_a_program_has_a_real_terminal(start: StartTerminal):
    terminal = await start(*SHELL, columns=93, rows=31)
    # the quotes keep the word out of the command, whose echo may come long before the shell reads it
    terminal.write(
        b"tty >/dev/null && echo is''tty; stty size; echo $TERM $COLORTERM; printf '\\033[31mr'\xc3\xa4'd\\033[0m\\n'\r"
    )
    await until_shown("räd", terminal)

    lines = terminal.read_lines(50)
    assert lines[-5:-1] == ["istty", "31 93", "xterm-256color truecolor", "räd"]
    assert any("\x1b[31mräd\x1b[0m" in line for line in terminal.read_lines(50, raw=True))


async def test_a_new_size_reaches_the_program(start: StartTerminal):
    terminal = await start(*SHELL)
    terminal.resize(132, 43)
    terminal.write(b"stty size\r")
    await until_shown("43 132", terminal)

    assert (terminal.screen.columns, terminal.screen.lines) == (132, 43)
    terminal.resize(0, 10**9)
    assert (terminal.screen.columns, terminal.screen.lines) == (2, 1000)


async def test_a_line_of_json_is_typed_and_printed_unchanged(start: StartTerminal):
    line = json.dumps({"type": "resize", "cols": 1, "rows": 1, "text": '{"a": [1, 2]} é'}, ensure_ascii=False)
    terminal = await start("cat", columns=120)
    viewer = terminal.attach()
    terminal.write(line.encode() + b"\r")
    # the echo of the terminal, and the output of the program
    await wait_until(lambda: terminal.read_lines(10).count(line) == 2, terminal)

    output = b"".join([await anext(viewer)])
    assert output.decode().count(line) == 2
    assert (terminal.screen.columns, terminal.screen.lines) == (120, 24)


async def test_the_last_lines_can_be_read(start: StartTerminal):
    terminal = await start("bash", "-c", "for i in $(seq 200); do printf '\\033[1mline %d\\033[0m\\n' $i; done")
    assert await terminal.wait() == 0

    assert terminal.read_lines(50) == [f"line {number}" for number in range(151, 201)]
    assert terminal.read_lines(2, raw=True) == ["\x1b[1mline 199\x1b[0m\r", "\x1b[1mline 200\x1b[0m\r"]
    assert len(terminal.read_lines(1000)) == 200
    assert terminal.read_lines(0) == terminal.read_lines(-1) == []


@pytest.mark.parametrize(
    ("script", "code"), [("exit 0", 0), ("exit 77", 77), ("kill -9 $$", -9), ("kill -TERM $$", -15)]
)
async def test_the_exit_status_is_that_of_the_program(script: str, code: int, start: StartTerminal):
    terminal = await start("bash", "-c", f"echo out; {script}")

    assert await terminal.wait() == code
    assert terminal.exit_code == code
    assert terminal.read_lines(1) == ["out"]
    with pytest.raises(AgentNotReady):
        terminal.write(b"x")


async def test_signals_reach_the_listeners_in_order(start: StartTerminal):
    script = r"printf '\033]0;a title\007\033]7501;state=working:app=x\033\\'; read x;"
    script += r"printf '\033]8;;https://a.b/login\033\\here\033]8;;\033\\'"
    terminal = await start("bash", "-c", script)
    signals: list[TerminalSignal] = []
    terminal.listeners.append(signals.append)
    await wait_until(lambda: bool(terminal.status_reports), terminal)
    assert terminal.status_reports[0].state == "working"
    terminal.write(b"\r")
    await terminal.wait()

    assert [type(signal) for signal in signals if not isinstance(signal, ScreenChanged)] == [
        TitleChanged,
        StatusReported,
        LinkShown,
        TerminalEnded,
    ]
    assert terminal.screen.title == "a title"
    assert terminal.find_login_url() == "https://a.b/login"
    # the states of a program end with it
    assert terminal.status_reports == []


async def test_the_program_gets_answers_to_its_questions_and_viewers_see_none(start: StartTerminal):
    script = """
import os, sys, termios, tty
tty.setraw(0)
for question in ("[c", "[6n", "]11;?\\033\\\\", "]7501;?\\033\\\\"):
    os.write(1, b"\\033" + question.encode())
    answer = os.read(0, 100)
    os.write(1, ascii(answer).encode() + b"\\r\\n")
"""
    terminal = await start(*PYTHON, script)
    viewer = terminal.attach()
    await terminal.wait()

    assert terminal.read_lines(10) == [
        r"b'\x1b[?62;22c'",
        r"b'\x1b[2;1R'",
        r"b'\x1b]11;rgb:1818/1818/1818\x1b\\'",
        r"b'\x1b]7501;?\x1b\\'",
    ]
    assert b"\x1b[6n" not in b"".join(await read_all(viewer))


async def test_errors_of_the_start(start: StartTerminal, tmp_path: Path):
    (tmp_path / "text").write_text("no program")
    (tmp_path / "text").chmod(0o755)
    (tmp_path / "script").write_text("#!/no/such/program\n")
    (tmp_path / "script").chmod(0o755)
    (tmp_path / "private").write_text("#!/bin/sh\n")

    errors: dict[str, AgentError] = {}
    for name in ("no-such-program", "./absent", "./text", "./script", "./private"):
        with pytest.raises(AgentError) as raised:
            await start(name)
        errors[name] = raised.value
    assert [type(error) for error in errors.values()] == [CliNotFound, CliNotFound, *[SpawnFailed] * 3]
    assert all(str(tmp_path) not in str(error) for error in errors.values())
    assert errors["./script"].resolution


async def test_a_folder_that_does_not_exist(tmp_path: Path, mark: str):
    with pytest.raises(SpawnFailed, match="does not exist"):
        await Terminal.start(
            ["ls"], cwd=tmp_path / "none", env=dict(os.environ), columns=80, rows=24, log_file=None, mark=mark
        )


async def test_a_program_that_does_not_read_gets_no_endless_input(start: StartTerminal):
    terminal = await start(
        *PYTHON, "import tty; tty.setraw(0); print('ready', flush=True); import time; time.sleep(1000)"
    )
    await until_shown("ready", terminal)

    def type_much() -> None:
        for _ in range(100):
            terminal.write(b"x" * 65_536)

    with pytest.raises(AgentBusy):
        type_much()


async def test_long_input_arrives_whole(start: StartTerminal):
    script = """
import sys, tty
tty.setraw(0)
print("ready", flush=True)
count = 0
while count < 300_000:
    count += len(sys.stdin.buffer.read1())
print(count, flush=True)
"""
    terminal = await start(*PYTHON, script)
    await until_shown("ready", terminal)
    terminal.write(b"x" * 300_000)

    assert await terminal.wait() == 0
    assert terminal.read_lines(1)[0].strip() == "300000"


async def test_viewers_get_all_output_and_a_viewer_that_never_reads_is_dropped(
    start: StartTerminal, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(terminal_viewer, "STALL_LIMIT_S", 0.3)
    script = f"""
import os
os.read(0, 1)
for n in range({FLOOD_BYTES // 50}):
    print(f"\033[3{{n % 8}}m{{n:039d}}\033[m", flush=False)
"""
    terminal = await start(*PYTHON, script)
    first, never_read, second = terminal.attach(), terminal.attach(), terminal.attach()
    reading = [asyncio.create_task(read_all(viewer)) for viewer in (first, second)]
    terminal.write(b"\r")
    chunks = [await task for task in reading]
    assert await terminal.wait() == 0

    for received in chunks:
        numbers = [line[5:44] for line in b"".join(received).split(b"\r\n") if b"\x1b[3" in line]
        assert numbers == [b"%039d" % number for number in range(FLOOD_BYTES // 50)]
        # no chunk ends within a sequence or a character
        assert all(find_cut(chunk) == len(chunk) for chunk in received)
    assert never_read.is_dropped
    assert sum(map(len, never_read._chunks)) <= MAX_PENDING_BYTES
    with pytest.raises(SlowViewer):
        await anext(never_read)


async def test_a_program_waits_for_a_slow_viewer_and_no_output_is_lost(
    start: StartTerminal, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(terminal_viewer, "STALL_LIMIT_S", 60.0)
    terminal = await start(
        *PYTHON, f"import os\nos.read(0, 1)\nfor n in range({FLOOD_BYTES // 50}): print(f'{{n:048d}}')"
    )
    slow, other = terminal.attach(), terminal.attach()
    reading = asyncio.create_task(read_all(other))
    terminal.write(b"\r")
    await wait_until(lambda: slow.is_full, terminal)
    assert terminal.exit_code is None
    # what the system keeps for the terminal is all that can still come
    assert slow._size < 2 * MAX_PENDING_BYTES

    for received in (await read_all(slow), await reading):
        numbers = [line for line in b"".join(received).split(b"\r\n") if line.isdigit()]
        assert numbers == [b"%048d" % number for number in range(FLOOD_BYTES // 50)]


async def test_a_viewer_from_the_middle_sees_the_screen_of_the_first(start: StartTerminal):
    script = r"printf '\033[?1049h\033[2J\033[3;5H\033[1;34m日本\033[m'; read x;"
    script += r"printf '\033[5;1Hmore \033[K\033[2;4Hend'; read x"
    terminal = await start("bash", "-c", script)
    first = terminal.attach()
    await until_shown("日本", terminal)
    middle = terminal.attach()
    terminal.write(b"\r")
    await until_shown("end", terminal)
    late = terminal.attach()

    for viewer in (first, middle, late):
        screen = Screen(80, 24)
        screen.feed(await anext(viewer))
        while screen.rows() != terminal.screen.rows():
            screen.feed(await anext(viewer))
        assert screen.cursor == terminal.screen.cursor
        assert screen.is_alternate
        viewer.close()


async def test_a_viewer_after_the_end_gets_the_last_screen(start: StartTerminal):
    terminal = await start("echo", "the end")
    await terminal.wait()

    assert b"the end" in b"".join(await read_all(terminal.attach()))


async def test_a_closed_viewer_gets_no_more_output(start: StartTerminal):
    terminal = await start("cat")
    viewer = terminal.attach()
    await anext(viewer)
    viewer.close()
    terminal.write(b"hello\r")
    await until_shown("hello", terminal)

    assert await read_all(viewer) == []


async def test_the_log_has_the_output_without_the_keys(start: StartTerminal, tmp_path: Path):
    log = tmp_path / "agent.log"
    terminal = await start("bash", "-c", "echo key is $A_KEY; echo done", env={"A_KEY": "hunter2-hunter2"}, log=log)
    await terminal.wait()

    assert log.read_text().splitlines() == ["key is [secret]", "done"]


async def test_a_cancelled_start_leaves_no_process_and_no_descriptor(mark: str, tmp_path: Path):
    before = open_descriptors()
    starting = asyncio.create_task(
        Terminal.start(
            ["sleep", "1000"], cwd=tmp_path, env=dict(os.environ), columns=80, rows=24, log_file=None, mark=mark
        )
    )
    while not find_processes_with_mark(mark):  # noqa: ASYNC110 - the process appears
        await asyncio.sleep(0)
    starting.cancel()
    await asyncio.wait({starting})
    if not starting.cancelled():
        starting.result().close()

    async with asyncio.timeout(30):
        while find_processes_with_mark(mark):  # noqa: ASYNC110 - the processes are not children of this one
            await asyncio.sleep(0.01)
    assert open_descriptors() == before


async def test_a_closed_terminal_leaves_no_process(start: StartTerminal, mark: str):
    terminal = await start(*SHELL)
    terminal.close()

    async with asyncio.timeout(30):
        while find_processes_with_mark(mark):  # noqa: ASYNC110 - see above
            await asyncio.sleep(0.01)
