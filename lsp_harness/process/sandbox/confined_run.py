"""The run of a program in a sandbox, with its limits."""

import asyncio
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from lsp_harness.process.process_tree import ProcessTree
from lsp_harness.process.sandbox.sandbox import Sandbox
from lsp_harness.process.sandbox.sandbox_policy import ResourceLimits, SandboxPolicy
from lsp_harness.text.ulid import make_ulid

End = Literal["exited", "timeout", "output_limit", "process_limit"]
READ_CHUNK_BYTES = 65_536
NO_CORE_FILE = 1
"""The limit of core files by which the kernel makes none. With 0, it still starts the program of the machine that
collects crashes, outside of the sandbox (core(5))."""
COUNT_INTERVAL_S = 0.1
DRAIN_S = 1.0
"""Wait for the rest of the output after the end."""
GRACE_S = 0.2
PYTEST_VARIABLES = ("PYTEST_PLUGINS", "PYTEST_DISABLE_PLUGIN_AUTOLOAD")
"""Variables that decide which plug-ins pytest loads. Tests must run with those of the user."""
KEPT_VARIABLES = ("PATH", "LANG", "LC_ALL", "TZ", "VIRTUAL_ENV", *PYTEST_VARIABLES)


@dataclass(frozen=True, slots=True)
class ConfinedResult:
    """The result of a run.

    Attributes:
        end: How the run ended. All but "exited" mean that a limit was reached and everything was killed.
        exit_code: The exit status, or minus the number of the signal that ended the program.
        output: Standard output and standard error, up to the limit.
        left: The numbers of processes that could not be ended. It is nearly always empty.
    """

    end: End
    exit_code: int
    output: bytes
    left: tuple[int, ...] = ()


async def run_confined(
    argv: Sequence[str], sandbox: Sandbox, policy: SandboxPolicy, env: Mapping[str, str] | None = None
) -> ConfinedResult:
    """Run a program in a sandbox until it ends or reaches a limit. No process of it is left afterwards.

    Args:
        argv: The command.
        sandbox: The sandbox.
        policy: The files and resources that it may use.
        env: The whole environment. The default is that of this process.

    Raises:
        OSError: The program or the sandbox cannot be started.
        ValueError: The sandbox cannot do what the policy asks for.
    """
    limits = policy.limits
    command = sandbox.wrap(argv, policy)
    tree = await ProcessTree.start(
        command, mark=make_ulid(), cwd=policy.folder, env=env, prepare=lambda: limit_resources(limits)
    )
    output = bytearray()
    reading = asyncio.ensure_future(_read(tree, output, limits.output_bytes))
    counting = asyncio.ensure_future(_watch_count(tree, limits.processes))
    waiting = asyncio.ensure_future(tree.wait())
    left: list[int] = []
    try:
        watched = {waiting, counting, reading}
        async with asyncio.timeout(limits.wall_s):
            while watched:
                done, watched = await asyncio.wait(watched, return_when=asyncio.FIRST_COMPLETED)
                if waiting in done or any(task.result() for task in done - {waiting}):
                    break
        end: End = "exited" if waiting.done() else "process_limit" if counting.done() else "output_limit"
    except TimeoutError:
        end = "timeout"
    finally:
        left = await tree.end(GRACE_S if waiting.done() else 0.0)
        await asyncio.wait({reading}, timeout=DRAIN_S)
        for task in (reading, counting, waiting):
            task.cancel()
        tree.close()
    exit_code = waiting.result() if waiting.done() and not waiting.cancelled() else -9
    return ConfinedResult(end, exit_code, bytes(output), tuple(left))


async def _read(tree: ProcessTree, output: bytearray, limit: int) -> bool:
    """Collect the output. Return true when it is longer than the limit, and false at its end."""
    while piece := await tree.output.read(READ_CHUNK_BYTES):
        output += piece[: limit - len(output)]
        if len(output) >= limit:
            return True
    return False


async def _watch_count(tree: ProcessTree, limit: int) -> bool:
    """Return true when there are more processes than the limit. The kernel does not limit those of root."""
    while True:
        if len(await tree.find_processes()) > limit:
            return True
        await asyncio.sleep(COUNT_INTERVAL_S)


def limit_resources(limits: ResourceLimits) -> None:
    """Limit the resources of this process and its descendants. It takes no lock. Windows has no such limits."""
    if sys.platform == "win32":
        return
    import resource

    for kind, value in (
        (resource.RLIMIT_DATA, limits.memory_bytes),
        (resource.RLIMIT_FSIZE, limits.file_bytes),
        (resource.RLIMIT_CORE, NO_CORE_FILE),
    ):
        _, hard = resource.getrlimit(kind)
        most = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(kind, (most, most))


def confined_environment(temporary: str, home: str, extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return an environment without the secrets of the user.

    Args:
        temporary: The folder for temporary files.
        home: The home folder to show.
        extra: Variables to add to the environment.
    """
    kept = {name: os.environ[name] for name in KEPT_VARIABLES if name in os.environ}
    return {**kept, "HOME": home, "TMPDIR": temporary, "PYTHONDONTWRITEBYTECODE": "1", **(extra or {})}
