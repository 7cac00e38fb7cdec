"""Programs under supervisors that a server starts as copies of itself."""

import asyncio
import os
import signal
import threading
from pathlib import Path

import pytest

from lsp_harness.process import supervised_child
from lsp_harness.process.process_tree import ProcessTree
from lsp_harness.process.sandbox.landlock import Landlock
from lsp_harness.process.sandbox.private_view import PrivateView
from lsp_harness.process.sandbox.sandbox import Sandbox
from lsp_harness.process.sandbox.sandbox_policy import SandboxPolicy
from lsp_harness.process.supervised_child import SupervisedChild, start_child
from lsp_harness.process.termination import OpenProcess
from lsp_harness.text.ulid import make_ulid

ORDINARY_SIGNALS = 0x7FFFFFFF
"""The bits of the signals 1 to 31. Others may be ignored by what started the tests."""
ENVIRONMENT = {"PATH": os.environ["PATH"], "NAME": "\udce9"}


async def run(command: list[str], folder: Path) -> tuple[int, str]:
    """Run a program under a supervisor. Return its exit status and its output."""
    tree = await ProcessTree.start_supervised(command, mark=make_ulid(), cwd=folder, env=ENVIRONMENT)
    output = await tree.output.read()
    code = await tree.wait()
    assert await tree.end() == []
    tree.close()
    return code, output.decode("utf-8", "surrogateescape")


async def test_a_server_that_was_killed_is_replaced(tmp_path: Path):
    assert await run(["true"], tmp_path) == (0, "")
    server = supervised_child._servers[threading.get_ident()]
    server._process.kill()
    server._process.wait()

    assert await run(["/bin/sh", "-c", 'printf %s "$NAME"; exit 3'], tmp_path) == (3, "\udce9")
    assert supervised_child._servers[threading.get_ident()] is not server


async def test_the_supervisor_has_no_variable_of_this_process(tmp_path: Path):
    tree = await ProcessTree.start_supervised(["sleep", "1000"], mark=make_ulid(), cwd=tmp_path)
    names = {entry.partition("=")[0] for entry in Path(f"/proc/{tree.pid}/environ").read_text().split("\0")}
    await tree.end(0.0)
    tree.close()

    assert names == {"PATH", "LC_ALL", ""}


async def test_a_program_whose_supervisor_was_killed_is_ended(tmp_path: Path):
    tree = await ProcessTree.start_supervised(["sleep", "1000"], mark=make_ulid(), cwd=tmp_path)
    programs = [OpenProcess(row.pid) for row in await tree.find_processes() if row.pid != tree.pid]
    os.kill(tree.pid, signal.SIGKILL)

    assert await tree.wait() == -signal.SIGKILL
    assert await tree.end(0.0) == []
    assert len(programs) == 1
    assert programs[0].has_ended()
    programs[0].close()
    tree.close()


async def test_a_program_ends_with_the_thread_that_started_the_supervisor(tmp_path: Path):
    children: list[SupervisedChild] = []

    async def start() -> None:
        with open(os.devnull, "r+b") as nothing:
            children.append(start_child(nothing.fileno(), nothing.fileno()))
        await children[0].start(["sleep", "1000"], str(tmp_path), ENVIRONMENT)

    thread = threading.Thread(target=lambda: asyncio.run(start()))
    thread.start()
    thread.join()

    assert await children[0].wait_for_end() == -signal.SIGTERM
    children[0].close()


@pytest.mark.parametrize("sandbox", [PrivateView(), Landlock()], ids=lambda sandbox: sandbox.name)
async def test_a_sandbox_in_a_copy_is_like_one_in_a_new_interpreter(sandbox: Sandbox, tmp_path: Path):
    if problem := sandbox.find_problem():
        pytest.skip(problem)
    script = (
        "env | cut -d= -f1 | sort | tr '\\n' ' '; ls /proc/self/fd | wc -l; grep SigIgn /proc/self/status; kill -9 $$"
    )
    command = sandbox.wrap(["/bin/sh", "-c", script], SandboxPolicy(tmp_path))

    code, output = await run(command, tmp_path)

    *names, descriptors, _, ignored = output.split()
    assert names == ["LSP_HARNESS_TASK", "NAME", "PATH", "PWD"]
    # `ls` opens the folder itself
    assert descriptors == "4"
    assert int(ignored, 16) & ORDINARY_SIGNALS == 0
    assert code in (-signal.SIGKILL, 128 + signal.SIGKILL)
