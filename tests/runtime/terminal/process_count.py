"""Counts of the processes and descriptors that terminals leave, and waiting for what a terminal shows."""

import asyncio
import os
import sys
from collections.abc import Callable
from pathlib import Path

from lsp_harness.process.process_table import environment_value, list_processes
from lsp_harness.process.process_tree import MARK_VARIABLE
from lsp_harness.runtime.terminal.terminal import Terminal

DEADLINE_S = 30.0
ESCAPE_SCRIPTS = {
    "in the background": "sleep 1000 &",
    "in its own session": "setsid sleep 1000 &",
    "without hang-up": "nohup setsid sleep 1000 >/dev/null 2>&1 &",
    "an orphan in its own session": "(setsid sleep 1000 >/dev/null 2>&1 &)",
    "without the mark": "env -i setsid sleep 1000 >/dev/null 2>&1 &",
    "a daemon": f"{sys.executable} -S -E {Path(__file__).with_name('daemon_program.py')}",
    "an orphan without the mark": "(env -i setsid sleep 1000 >/dev/null 2>&1 &)",
    "deaf": "sh -c 'trap \"\" TERM HUP INT; while :; do sleep 1000; done' >/dev/null 2>&1 &",
    "stopped": "sleep 1000 & kill -STOP $!",
}
"""The ways by which processes of an agent leave its session, its process group and its parent. `a daemon` forks twice
and writes nothing before its second process runs."""


def find_processes_with_mark(mark: str) -> list[int]:
    """Return the processes with a mark that begins like this one."""
    return [
        row.pid
        for row in list_processes()
        if any(name.startswith(mark) for name in environment_value(row.pid, MARK_VARIABLE).split(":"))
    ]


def find_descendants(pid: int) -> set[int]:
    """Return the numbers of all descendants of a process."""
    rows = list_processes()
    found = {pid}
    while more := {row.pid for row in rows if row.parent in found} - found:
        found |= more
    return found - {pid}


def open_descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


async def wait_until(condition: Callable[[], bool], terminal: Terminal) -> None:
    """Wait until a condition holds. It is looked at whenever the screen changes."""
    changed = asyncio.Event()
    listener = lambda _: changed.set()
    terminal.listeners.append(listener)
    try:
        async with asyncio.timeout(DEADLINE_S):
            while not condition():
                await changed.wait()
                changed.clear()
    except TimeoutError as error:
        raise AssertionError("\n".join(terminal.read_lines(50))) from error
    finally:
        terminal.listeners.remove(listener)


async def until_shown(text: str, terminal: Terminal) -> None:
    """Wait until a text is on the screen or in its history."""
    await wait_until(lambda: text in "\n".join(terminal.read_lines(10_000)), terminal)
