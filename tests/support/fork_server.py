"""A process with our modules that starts Python programs as copies of itself, so that a test does not wait for imports.

`python -m tests.support.fork_server FD MODULE...` is its main program; `tests.support.forked_process` is its client.
Each message on the socket FD starts one program. It is JSON, and has four descriptors: the standard streams of the
program, and a pipe for its process id and, at its end, its exit status.
"""

import gc
import importlib
import io
import json
import os
import runpy
import signal
import socket
import sys
from typing import Any

MESSAGE_LIMIT = 1 << 20
DESCRIPTORS = 4


def main() -> None:
    """Serve until the client closes the socket. In the process of a program, run it."""
    server = socket.socket(fileno=int(sys.argv[1]))
    for module in sys.argv[2:]:
        importlib.import_module(module)
    # at its end, a program need not look through the objects of the modules: half a second less
    gc.freeze()
    # no zombies are left of the processes that wait for the programs
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    while True:
        data, descriptors, _, _ = socket.recv_fds(server, MESSAGE_LIMIT, DESCRIPTORS)
        if not data:
            return None
        if os.fork() == 0:
            server.close()
            *streams, report = descriptors
            if _begin_program(streams, report):
                return run_program(json.loads(data))
        for descriptor in descriptors:
            os.close(descriptor)


def run_program(message: dict[str, Any]) -> None:
    """Run a program as Python's command line does.

    Args:
        message: `arguments`, those after `python`: a path or `-m` and the name of a module, and the program's own;
            `folder`, the working directory; `environment`; and `replaces`, whether a new Python takes the place of
            this process, which may have options of Python among its arguments.
    """
    os.chdir(message["folder"])
    if message["replaces"]:
        os.execve(sys.executable, [sys.executable, *message["arguments"]], message["environment"])
    # those of the fork server know what kind of file they wrote to
    sys.stdin, sys.stdout, sys.stderr = (
        io.TextIOWrapper(os.fdopen(number, mode, closefd=False), line_buffering=number == 2, errors=errors)
        for number, mode, errors in ((0, "rb", "strict"), (1, "wb", "strict"), (2, "wb", "backslashreplace"))
    )
    os.environ.clear()
    os.environ.update(message["environment"])
    arguments: list[str] = message["arguments"]
    if arguments[0] == "-m":
        sys.argv = arguments[1:]
        runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
    else:
        sys.argv = arguments
        runpy.run_path(arguments[0], run_name="__main__")


def _begin_program(streams: list[int], report: int) -> bool:
    """Fork again. Return True in the process of the program. The other one reports its exit status, and ends."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    if pid := os.fork():
        for descriptor in streams:
            os.close(descriptor)
        os.write(report, b"%d\n" % pid)
        _, status = os.waitpid(pid, 0)
        os.write(report, b"%d\n" % os.waitstatus_to_exitcode(status))
        os._exit(0)
    os.close(report)
    for number, descriptor in enumerate(streams):
        os.dup2(descriptor, number)
        os.close(descriptor)
    return True


if __name__ == "__main__":
    main()
