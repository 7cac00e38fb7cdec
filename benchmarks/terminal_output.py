"""A lot of output in one terminal with three viewers, of which one never reads.

    python -m benchmarks.terminal_output [--megabytes 200]

The viewers that read must get every byte in order, the memory must stay flat, and the speed stands beside that of the
same output read from a bare pseudo-terminal in the same run.
"""

import argparse
import asyncio
import hashlib
import os
import pty
import subprocess
import sys
import time
from pathlib import Path

from lsp_harness.process.process_table import resident_bytes
from lsp_harness.runtime.terminal.terminal import Terminal
from lsp_harness.runtime.terminal.terminal_viewer import TerminalViewer

LINE = "the quick brown fox jumps over the lazy dog 0123456789 abcdefghijkl"
PROGRAM = """
import os, sys, termios, tty
# the input that waits is kept
tty.setraw(0, termios.TCSANOW)
os.read(0, 1)
count, line = int(sys.argv[1]), sys.argv[2]
for start in range(0, count, 500):
    os.write(1, "".join(f"{number:08d} {line}\\r\\n" for number in range(start, min(start + 500, count))).encode())
"""


def compute_expected_digest(lines: int) -> str:
    digest = hashlib.sha256()
    for number in range(lines):
        digest.update(f"{number:08d} {LINE}\r\n".encode())
    return digest.hexdigest()


def read_bare(argv: list[str]) -> float:
    """Return the seconds that reading the output from a bare pseudo-terminal takes."""
    ours, theirs = pty.openpty()
    with subprocess.Popen(argv, stdin=theirs, stdout=theirs, start_new_session=True):
        os.close(theirs)
        start_s = time.perf_counter()
        os.write(ours, b"\r")
        try:
            while os.read(ours, 65_536):
                pass
        except OSError:
            # the program has ended
            pass
    os.close(ours)
    return time.perf_counter() - start_s


async def read_digest(viewer: TerminalViewer) -> str:
    """Return the hash of all output after the snapshot."""
    await anext(viewer)
    digest = hashlib.sha256()
    async for chunk in viewer:
        digest.update(chunk)
    return digest.hexdigest()


async def measure(megabytes: int) -> None:
    """Run the program, and print the result."""
    lines = megabytes * 1_000_000 // (len(LINE) + 11)
    argv = [sys.executable, "-S", "-E", "-c", PROGRAM, str(lines), LINE]
    bare_s = await asyncio.to_thread(read_bare, argv)
    terminal = await Terminal.start(
        argv, cwd=Path.cwd(), env=os.environ, columns=120, rows=40, log_file=None, mark="terminal_output"
    )
    readers, never_read = [terminal.attach(), terminal.attach()], terminal.attach()
    tasks = [asyncio.create_task(read_digest(viewer)) for viewer in readers]
    await asyncio.sleep(0)
    before = largest = resident_bytes(os.getpid())
    start_s, cpu_s = time.perf_counter(), time.process_time()
    terminal.write(b"\r")
    waiting = asyncio.create_task(terminal.wait())
    while not waiting.done():
        await asyncio.wait({waiting}, timeout=0.2)
        largest = max(largest, resident_bytes(os.getpid()))
    seconds = time.perf_counter() - start_s
    cpu_s = time.process_time() - cpu_s
    digests = [await task for task in tasks]
    terminal.close()
    print(f"{megabytes} MB: {megabytes / seconds:.1f} MB/s, bare terminal {megabytes / bare_s:.1f} MB/s")
    print(f"processor time of this process: {cpu_s:.1f} s of {seconds:.1f} s")
    print(f"complete and in order: {[digest == compute_expected_digest(lines) for digest in digests]}")
    print(f"the viewer that never reads was dropped: {never_read.is_dropped}")
    print(f"memory: {before / 1e6:.0f} MB before, at most {largest / 1e6:.0f} MB")


def main() -> None:
    """Read the arguments and run the program."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=int, default=200)
    arguments = parser.parse_args()
    asyncio.run(measure(arguments.megabytes))


if __name__ == "__main__":
    main()
