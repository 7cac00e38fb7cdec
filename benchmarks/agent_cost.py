"""Costs of the terminals of agents, in ratios: output to a WebSocket, memory, echo of keys, and typing meanwhile.

    python -m benchmarks.agent_cost [--megabytes 100] [--agents 10] [--keys 300] [--typing-keys 160]

A real `lsp-harness api` runs in a process of its own. Four figures are measured in one run:

- Throughput: an agent prints, and a client reads its WebSocket in binary mode. Beside it stands a server that has only
  the library `websockets` and echoes the same bytes, and one that only copies the same pseudo-terminal to a WebSocket.
- Memory: the server, its supervisors and its agents, with no agent and with ten shells, before and after each shell
  has printed as much as its scroll-back keeps. Beside it stand ten shells without a server.
- Echo: the time from a key to its echo, in a quiet server and while another agent prints as fast as it can or at the
  pace of an agent with a busy screen.
- Typing: the time to the first token of a suggestion (`bench typing`), quiet and while an agent prints at both paces.
"""

import argparse
import asyncio
import json
import os
import shlex
import shutil
import sys
import tempfile
import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from websockets.asyncio.client import ClientConnection, connect

from benchmarks.engine.figures import p50, p95
from benchmarks.engine.keystrokes import make_traces
from benchmarks.engine.lab import Options, open_lab
from benchmarks.engine.suite.preempt import type_quiet_and_loaded
from benchmarks.engine.suite.typing import type_on_engine
from lsp_harness.process.process_table import list_processes
from tests.support.api_process import ApiProcess, launch_api

LINE = "the quick brown fox jumps over the lazy dog 0123456789 abcdefghijkl"
PRINTER = """
import os, sys, termios, time, tty
tty.setraw(0, termios.TCSANOW)
count, pause_s, line = int(sys.argv[1]), float(sys.argv[2]), sys.argv[3]
os.read(0, 1)
block, sent = (line + "\\r\\n").encode() * 64, 0
while sent < count:
    data = block[: count - sent]
    while data:
        written = os.write(1, data)
        sent, data = sent + written, data[written:]
    if pause_s:
        time.sleep(pause_s)
os.read(0, 1)
"""
"""A program that waits for a key, prints so many bytes in blocks of 4.4 KB with a pause after each, and waits again."""
ECHO = "import termios, tty, os; tty.setraw(0, termios.TCSANOW)\nwhile True: os.write(1, os.read(0, 64))"
BARE_SERVER = """
import asyncio, os, pty, subprocess, sys
from websockets.asyncio.server import serve
async def echo(socket):
    async for message in socket:
        await socket.send(message)
async def copy(socket):
    ours, theirs = pty.openpty()
    with subprocess.Popen(sys.argv[2:], stdin=theirs, stdout=theirs, start_new_session=True) as program:
        os.close(theirs)
        os.write(ours, await socket.recv())
        queue, loop = asyncio.Queue(8), asyncio.get_running_loop()
        def read():
            while data := os.read(ours, 65536):
                asyncio.run_coroutine_threadsafe(queue.put(data), loop).result()
        asyncio.get_running_loop().run_in_executor(None, read)
        try:
            while True:
                await socket.send(await queue.get())
        finally:
            program.kill()
async def main():
    handler = echo if sys.argv[1] == "echo" else copy
    async with serve(handler, "127.0.0.1", 0, compression=None, max_size=None) as server:
        print(server.sockets[0].getsockname()[1], flush=True)
        await asyncio.get_running_loop().create_future()
asyncio.run(main())
"""
MESSAGE_BYTES = 65_536
"""The size of the messages of the echo: the largest that a terminal gives."""
FLOOD_BYTES = 10**15
PACES = {"as fast as it can": 0.0, "40 KB/s": 0.11}
"""Name → pause after each block. A coding agent with a spinner and a streamed answer prints less than 40 KB/s."""
MEBIBYTE = 1024 * 1024


@dataclass(slots=True)
class Bench:
    """A server and a client of it."""

    api: ApiProcess

    async def spawn(self, argv: Sequence[str], name: str) -> str:
        """Start a shell that becomes a program, and return the id of the agent."""
        async with self.api.client() as client:
            answer = await client.post("/agents", json={"type": "shell", "name": name})
            assert answer.status_code == 201, answer.text
            agent_id = str(answer.json()["id"])
            agent: dict[str, Any] = answer.json()
            while agent["status"] != "ready":
                agent = (await client.get(f"/agents/{agent_id}")).json()
        if argv:
            async with self.attach(agent_id) as socket:
                await socket.send(f"clear; echo st''arted; exec {shlex.join(argv)}\r".encode())
                await read_until(socket, b"started")
        return agent_id

    async def stop(self, agent_id: str) -> None:
        """Stop an agent."""
        async with self.api.client() as client:
            answer = await client.delete(f"/agents/{agent_id}")
            assert answer.status_code < 300, answer.text

    @asynccontextmanager
    async def attach(self, agent_id: str) -> AsyncGenerator[ClientConnection]:
        """Attach to a terminal in binary mode, behind the first frame."""
        url = f"ws://127.0.0.1:{self.api.port}/ws/agents/{agent_id}/terminal?mode=binary"
        async with connect(url, additional_headers=self.api.headers, compression=None, max_size=None) as socket:
            assert json.loads(await socket.recv())["type"] == "connected"
            yield socket


def make_printing_command(count: int, pause_s: float = 0.0) -> list[str]:
    """Return the command that prints so many bytes."""
    return [sys.executable, "-S", "-E", "-c", PRINTER, str(count), str(pause_s), LINE]


async def read_until(socket: ClientConnection, text: bytes) -> None:
    """Read messages until the output has a text."""
    output = b""
    while text not in output:
        output += decode_output(await socket.recv())


def decode_output(message: str | bytes) -> bytes:
    """Return the output of a message. Control messages have none."""
    return message if isinstance(message, bytes) else b""


async def read_bytes(socket: ClientConnection, count: int) -> tuple[float, int]:
    """Press a key, and read so many bytes. Return the seconds and the number of messages."""
    start_s, messages = time.perf_counter(), 0
    await socket.send(b"\r")
    while count > 0:
        count -= len(decode_output(await socket.recv()))
        messages += 1
    return time.perf_counter() - start_s, messages


@asynccontextmanager
async def connect_to_bare_server(kind: str, *argv: str) -> AsyncGenerator[ClientConnection]:
    """Connect to a server that has only the library `websockets`."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", BARE_SERVER, kind, *argv), stdout=asyncio.subprocess.PIPE
    )
    assert process.stdout
    port = int(await process.stdout.readline())
    try:
        async with connect(f"ws://127.0.0.1:{port}", compression=None, max_size=None) as socket:
            yield socket
    finally:
        process.kill()
        await process.wait()


async def echo_bytes(count: int) -> float:
    """Return the seconds in which a bare server echoes so many bytes."""
    block = (LINE * 1000).encode()[:MESSAGE_BYTES]
    async with connect_to_bare_server("echo") as socket:

        async def send() -> None:
            for _ in range(count // len(block)):
                await socket.send(block)

        start_s = time.perf_counter()
        sending = asyncio.ensure_future(send())
        remaining = count // len(block) * len(block)
        while remaining:
            remaining -= len(decode_output(await socket.recv()))
        await sending
        return time.perf_counter() - start_s


async def measure_throughput(bench: Bench, megabytes: int) -> None:
    """Print the speed of the output of an agent beside the two bare servers."""
    count = megabytes * 1_000_000
    echo_s = await echo_bytes(count)
    async with connect_to_bare_server("copy", *make_printing_command(count)) as socket:
        copy_s, copy_messages = await read_bytes(socket, count)
    agent_id = await bench.spawn(make_printing_command(count), "printer")
    async with bench.attach(agent_id) as socket:
        seconds, messages = await read_bytes(socket, count)
    await bench.stop(agent_id)
    print(f"throughput: {megabytes / seconds:.1f} MB/s in {messages} messages")
    print(f"  bare echo of websockets: {megabytes / echo_s:.1f} MB/s, ratio {echo_s / seconds:.2f}")
    speed = f"{megabytes / copy_s:.1f} MB/s in {copy_messages} messages"
    print(f"  bare copy of the terminal: {speed}, ratio {copy_s / seconds:.2f}")


def measure_proportional_bytes(pid: int) -> int:
    """Return the memory of a process, in which shared pages count in shares; 0 if it has ended."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:")), 0)


def measure_memory_of(pid: int) -> dict[str, int]:
    """Return the memory of a process and of its descendants, in bytes by kind."""
    rows = list_processes()
    found, sums = {pid}, {"server": measure_proportional_bytes(pid), "shells": 0, "other": 0}
    for _ in rows:
        more = {row.pid for row in rows if row.parent in found} - found
        if not more:
            break
        found |= more
    for child in found - {pid}:
        name = Path(f"/proc/{child}/comm").read_text().strip() if Path(f"/proc/{child}").exists() else ""
        sums["shells" if name == "bash" else "other"] += measure_proportional_bytes(child)
    return sums


async def measure_memory(bench: Bench, agents: int) -> None:
    """Print the memory of a server with many agents beside the same shells alone."""
    pid = bench.api.process.pid
    before = measure_memory_of(pid)
    ids = [await bench.spawn((), f"memory{number}") for number in range(agents)]
    idle = measure_memory_of(pid)
    for agent_id in ids:
        async with bench.attach(agent_id) as socket:
            await socket.send(b"seq -f '%0100g' 12000; echo fin''ished\r")
            await read_until(socket, b"finished")
    full = measure_memory_of(pid)
    for agent_id in ids:
        await bench.stop(agent_id)
    shells = [await asyncio.create_subprocess_exec("bash", "--norc", "-c", "read x", stdin=-1) for _ in range(agents)]
    await asyncio.sleep(0.5)
    bare = sum(measure_proportional_bytes(shell.pid) for shell in shells)
    for shell in shells:
        shell.kill()
        await shell.wait()
    print(f"memory of {agents} agents, in MiB (shared pages in shares):")
    for name, sums in (("no agent", before), ("idle", idle), ("12,000 lines printed in each", full)):
        parts = ", ".join(f"{kind} {value / MEBIBYTE:.1f}" for kind, value in sums.items())
        each = (sum(sums.values()) - sum(before.values())) / agents / MEBIBYTE
        print(f"  {name}: {sum(sums.values()) / MEBIBYTE:.1f} ({parts}); per agent {each:.1f}")
    print(f"  the shells alone: {bare / MEBIBYTE:.1f}")


async def time_echoes(socket: ClientConnection, keys: int) -> list[float]:
    """Return the milliseconds from each key to its echo."""
    times = list[float]()
    for number in range(keys):
        key = f"<{number}>".encode()
        start_s = time.perf_counter()
        await socket.send(key)
        await read_until(socket, key)
        times.append((time.perf_counter() - start_s) * 1000)
        # a person does not type faster
        await asyncio.sleep(0.02)
    return times


@asynccontextmanager
async def run_printing_agent(bench: Bench, pause_s: float) -> AsyncGenerator[None]:
    """Run an agent that prints without an end, with a viewer in another process."""
    agent_id = await bench.spawn(make_printing_command(FLOOD_BYTES, pause_s), f"pace{int(pause_s * 1000)}")
    viewer = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", __spec__.name if __spec__ else __name__, "--view", agent_id, str(bench.api.port)),
        env={**os.environ, "AGENT_TOKEN": bench.api.token},
        stdout=asyncio.subprocess.PIPE,
    )
    assert viewer.stdout
    assert await viewer.stdout.readline() == b"prints\n"
    try:
        yield
    finally:
        viewer.kill()
        await viewer.wait()
        await bench.stop(agent_id)


async def read_output_until_killed(agent_id: str, port: int) -> None:
    """Start the output of an agent, and read it until this process is killed."""
    url = f"ws://127.0.0.1:{port}/ws/agents/{agent_id}/terminal?mode=binary"
    headers = {"authorization": f"Bearer {os.environ['AGENT_TOKEN']}"}
    async with connect(url, additional_headers=headers, compression=None, max_size=None) as socket:
        await socket.send(b"\r")
        await read_until(socket, LINE.encode())
        print("prints", flush=True)
        while True:
            await socket.recv()


async def measure_echo(bench: Bench, keys: int) -> None:
    """Print the times of the echo of keys, quiet and beside an agent that prints."""
    agent_id = await bench.spawn([sys.executable, "-S", "-E", "-c", ECHO], "echo")
    async with bench.attach(agent_id) as socket:
        quiet = await time_echoes(socket, keys)
        print(f"echo of {keys} keys, ms: quiet p50 {p50(quiet):.1f}, p95 {p95(quiet):.1f}")
        for name, pause_s in PACES.items():
            async with run_printing_agent(bench, pause_s):
                busy = await time_echoes(socket, keys)
            ratio = (p95(busy) or 0.0) / (p95(quiet) or 1.0)
            print(f"  an agent prints {name}: p50 {p50(busy):.1f}, p95 {p95(busy):.1f}, ratio of p95 {ratio:.2f}")
    await bench.stop(agent_id)


async def measure_typing(bench: Bench, keys: int) -> None:
    """Print the time to the first token, quiet and beside an agent that prints."""
    async with open_lab(Options(limit=keys), lambda text: None) as lab:
        for name, pause_s in PACES.items():
            traces = make_traces(lab.edits, 2 * keys, max_keys=min(40, keys))

            async def load(turn: int, pause_s: float = pause_s) -> None:
                async with run_printing_agent(bench, pause_s):
                    await asyncio.get_running_loop().create_future()

            idle, loaded = await type_quiet_and_loaded(lab, traces, (len(traces) + 1) // 2, type_on_engine, load)
            ratio = (p95(loaded) or 0.0) / (p95(idle) or 1.0)
            quiet = f"quiet {p50(idle):.1f} and {p95(idle):.1f} ms ({len(idle)} keys)"
            print(f"typing, an agent prints {name}: first token p50 {p50(loaded):.1f} ms, p95 {p95(loaded):.1f} ms")
            print(f"  ({len(loaded)} keys); {quiet}; ratio of p95 {ratio:.2f}")


async def measure(arguments: argparse.Namespace) -> None:
    """Run the four parts, and print their results."""
    home, root = Path(tempfile.mkdtemp(prefix="lh-cost-")), Path(tempfile.mkdtemp(prefix="lh-work-"))
    api = await launch_api(home, root, LOG_LEVEL="error", MAX_AGENTS=str(arguments.agents + 4))
    try:
        await api.wait_until_ready()
        bench = Bench(api)
        parts: dict[str, Any] = {
            "throughput": (measure_throughput, arguments.megabytes),
            "memory": (measure_memory, arguments.agents),
            "echo": (measure_echo, arguments.keys),
            "typing": (measure_typing, arguments.typing_keys),
        }
        for run, size in parts.values():
            if size:
                await run(bench, size)
    finally:
        await api.end()
        shutil.rmtree(home, ignore_errors=True)
        shutil.rmtree(root, ignore_errors=True)


def main() -> None:
    """Read the arguments and run the program."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, default in (("--megabytes", 100), ("--agents", 10), ("--keys", 300), ("--typing-keys", 160)):
        parser.add_argument(name, type=int, default=default, help=f"0 leaves this part out (default: {default})")
    parser.add_argument("--view", nargs=2, metavar=("AGENT", "PORT"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.view:
        asyncio.run(read_output_until_killed(arguments.view[0], int(arguments.view[1])))
    else:
        asyncio.run(measure(arguments))


if __name__ == "__main__":
    main()
