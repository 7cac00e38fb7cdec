"""The programs of this machine that really run: one on PATH may not run, as those of rustup with another home."""

import shutil
import subprocess
from functools import cache

VERSION_ARGUMENTS = {"go": ("version",), "tmux": ("-V",)}
"""Program without `--version` → the arguments that print its version."""
UNTRIED = frozenset({"pyright-langserver", "ssh-keygen", "sshd"})
"""Programs that cannot be tried: they print no version, or wait for input."""
LIMIT_S = 60.0


@cache
def find_program_problem(program: str) -> str:
    """Return why a program cannot be used, or an empty text. It runs once in a process of tests.

    Args:
        program: Its name on PATH, or its path.
    """
    name = program.rpartition("/")[2]
    path = shutil.which(program)
    if path is None:
        return f"{name} is not installed"
    if name in UNTRIED:
        return ""
    asked = [path, *VERSION_ARGUMENTS.get(name, ("--version",))]
    try:
        done = subprocess.run(asked, capture_output=True, stdin=subprocess.DEVNULL, timeout=LIMIT_S, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"{name} is on PATH and does not run: {error}"
    if done.returncode == 0:
        return ""
    lines = (done.stderr or done.stdout).decode(errors="replace").strip().splitlines()
    return f"{name} is on PATH and does not run: {lines[0] if lines else f'status {done.returncode}'}"


@cache
def find_node_problem() -> str:
    """Return why Node.js cannot load modules without being told that they are some, or an empty text."""
    if problem := find_program_problem("node"):
        return problem
    version = subprocess.run(["node", "--version"], capture_output=True, text=True, check=True).stdout.strip()
    major, minor = (int(part) for part in version.removeprefix("v").split(".")[:2])
    return "" if (major, minor) >= (20, 19) else f"Node.js 20.19 or newer is needed, and this is {version}"
