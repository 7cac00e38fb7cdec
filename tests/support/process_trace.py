"""A trace of the programs that a process and its descendants start, and of the code of a folder that they load.

`strace` follows all processes, whatever they are written in. An audit hook of Python sees the starts of programs by
each Python process with the environment of the trace, and the code that it loads without starting anything. It needs
no other program, so it is used where `strace` is missing, too.
"""

import ast
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path

HOOK = '''
"""Records what this process starts and loads. It may import nothing that a workspace could replace."""
import os
import sys


def install():
    output = os.open(os.environ["TRACED_OUTPUT"], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    folder = os.environ["TRACED_FOLDER"]
    commands = {"subprocess.Popen": 1, "os.exec": 1, "os.posix_spawn": 1, "os.spawn": 2}

    def record(*words):
        os.write(output, (repr(words) + "\\n").encode())

    def hook(event, arguments):
        if event in commands:
            command = arguments[commands[event]]
            record("run", *map(os.fsdecode, [command] if isinstance(command, str | bytes) else command))
        elif event in ("os.system", "pty.spawn"):
            record("run", *map(str, arguments))
        elif event == "exec" and str(getattr(arguments[0], "co_filename", "")).startswith(folder):
            record("load", arguments[0].co_filename)
        elif event == "ctypes.dlopen" and str(arguments[0]).startswith(folder):
            record("load", str(arguments[0]))

    sys.addaudithook(hook)


install()
'''
CALL = re.compile(r'(?m)^\d+ +execve\("((?:[^"\\]|\\.)*)", (\[(?:"(?:[^"\\]|\\.)*"|[, ])*\])(?!.* = -1 ENOENT)')
ATTACH = '''
"""Let strace follow this process, and become a program. strace has none of its pipes, so that their ends are seen."""
import ctypes
import os
import sys
import time

pid = str(os.getpid())
ctypes.CDLL(None).prctl(0x59616D61, ctypes.c_ulong(-1), 0, 0, 0)
if os.fork() == 0:
    if os.fork() == 0:
        null = os.open(os.devnull, os.O_RDWR)
        for number in range(3):
            os.dup2(null, number)
        options = ["-f", "-qq", "-s", "4096", "-e", "trace=execve", "-e", "signal=none"]
        os.execvp("strace", ["strace", *options, "-o", sys.argv[1], "-p", pid])
    os._exit(0)
os.wait()
deadline = time.monotonic() + 10
while "TracerPid:\\t0\\n" in open("/proc/self/status").read():
    if time.monotonic() > deadline:
        sys.exit("strace does not attach")
    time.sleep(0.005)
os.execv(sys.argv[2], sys.argv[2:])
'''


@cache
def find_strace_problem() -> str:
    """Return why `strace` cannot be used here, or an empty text. A container may forbid it."""
    if not shutil.which("strace"):
        return "strace is not installed"
    command = [sys.executable, "-I", "-S", "-c", ATTACH, os.devnull, sys.executable, "-c", ""]
    result = subprocess.run(command, capture_output=True, check=False)
    return "" if result.returncode == 0 else f"strace does not work here: {result.stderr.decode().strip()}"


@dataclass(frozen=True)
class ProcessTrace:
    """A trace that a test adds to a process.

    Attributes:
        folder: The folder for the files of the trace.
        workspace: The folder whose code must not be loaded.
        has_strace: Whether `strace` follows the process.
    """

    folder: Path
    workspace: Path
    has_strace: bool

    def prepare(self) -> dict[str, str]:
        """Write the hook, and return the variables by which Python loads it."""
        hooks = self.folder / "hooks"
        hooks.mkdir(parents=True)
        (hooks / "sitecustomize.py").write_text(HOOK)
        path = os.pathsep.join(filter(None, (str(hooks), os.environ.get("PYTHONPATH", ""))))
        return {"PYTHONPATH": path, "TRACED_OUTPUT": str(self._audit), "TRACED_FOLDER": str(self.workspace)}

    def command(self, *arguments: str) -> list[str]:
        """Return the arguments of Python that run another Python under the trace, in the process that was started."""
        if not self.has_strace:
            return [*arguments]
        # the hook must not see the start of strace
        return ["-I", "-S", "-c", ATTACH, str(self._calls), sys.executable, *arguments]

    def runs(self) -> list[list[str]]:
        """Return the commands of all processes but the first one."""
        commands = [[*words[1:]] for words in self._read_audit() if words[0] == "run"]
        if self.has_strace:
            for program, arguments in CALL.findall(self._calls.read_text())[1:]:
                commands.append([ast.literal_eval(f'"{program}"'), *ast.literal_eval(arguments)[1:]])
        return commands

    def loads(self) -> list[str]:
        """Return the files of the workspace whose code a process of Python has run."""
        return [words[1] for words in self._read_audit() if words[0] == "load"]

    @property
    def _audit(self) -> Path:
        return self.folder / "audit"

    @property
    def _calls(self) -> Path:
        return self.folder / "calls"

    def _read_audit(self) -> list[tuple[str, ...]]:
        text = self._audit.read_text() if self._audit.exists() else ""
        return [ast.literal_eval(line) for line in text.splitlines()]
