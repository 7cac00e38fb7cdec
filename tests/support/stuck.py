"""Processes that hold an engine's socket and give no sign of life."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil

LISTENS = """
import os, signal, socket, sys
path, calls, deaf = sys.argv[1:]
if deaf == "deaf":
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
listener = socket.socket(socket.AF_UNIX)
listener.bind(path)
listener.listen(int(calls))
print(flush=True)
while True:
    signal.pause()
"""


@contextmanager
def start_listener(
    path: Path, *, calls: int = 128, deaf: bool = False, stopped: bool = False
) -> Iterator[psutil.Popen]:
    """Start a process that listens and accepts no connection. It may ignore SIGTERM (`deaf`) or be `stopped`."""
    process = psutil.Popen(
        [sys.executable, "-S", "-c", LISTENS, str(path), str(calls), "deaf" if deaf else "hears"],
        stdout=subprocess.PIPE,
    )
    assert process.stdout
    process.stdout.readline()
    if stopped:
        stop(process.pid)
    try:
        yield process
    finally:
        with suppress(psutil.NoSuchProcess):
            process.kill()
        process.wait(30)
        process.stdout.close()


def stop(pid: int) -> None:
    """Stop a process by SIGSTOP, and wait until the signal has its effect."""
    os.kill(pid, signal.SIGSTOP)
    # not our child everywhere: there is no event to wait for
    while psutil.Process(pid).status() != psutil.STATUS_STOPPED:
        pass


def has_ended(pid: int) -> bool:
    """Return whether a process has ended, also when its parent has not reaped it yet."""
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True
