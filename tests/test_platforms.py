"""Rules about systems: where code asks for the system, and that the package can be imported without POSIX."""

import ast
import subprocess
import sys

from tests.test_tidy import MODULES, ROOT, make_relative_name

PLATFORM_PACKAGES = ("lsp_harness/process/", "lsp_harness/disk/")
"""The packages in which everything lies that differs between systems."""
EXCEPTIONS = frozenset(
    {
        # the files of a library, and the system for which it was compiled
        "lsp_harness/engine/embed/embedder.py",
        "lsp_harness/engine/native/loaded_library.py",
        "lsp_harness/inference/libraries/library_catalogue.py",
        # the packages of this system
        "lsp_harness/extras.py",
        # the places of other programs
        "lsp_harness/knowledge/project_python.py",
        # programs that run without this package
        "lsp_harness/runtime/adapters/echo_program.py",
        "lsp_harness/verify/project_tests/pytest_worker.py",
        "lsp_harness/verify/project_tests/variant_runs.py",
        # the terminal of an agent, with the errors of agents
        "lsp_harness/runtime/terminal/pty_program.py",
        "lsp_harness/runtime/terminal/terminal_program.py",
        # the SDK loads nothing of `process`
        "lsp_harness/sdk/process_session.py",
        # a module of texts imports nothing of `disk`
        "lsp_harness/text/uri.py",
    }
)
POSIX_MODULES = ("fcntl", "grp", "pty", "pwd", "resource", "termios", "tty")


def asks_for_the_system(tree: ast.AST) -> bool:
    return any(
        isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and (node.value.id, node.attr) in {("sys", "platform"), ("os", "name"), ("platform", "system")}
        for node in ast.walk(tree)
    )


def is_for_one_system(tree: ast.Module) -> bool:
    """Return whether a module refuses other systems when it is imported."""
    return any(isinstance(node, ast.Assert) and asks_for_the_system(node) for node in tree.body)


def read_trees() -> dict[str, ast.Module]:
    return {make_relative_name(file): ast.parse(file.read_text(encoding="utf-8")) for file in MODULES}


def test_only_two_packages_and_a_few_modules_ask_for_the_system():
    asking = {name for name, tree in read_trees().items() if asks_for_the_system(tree)}
    assert {name for name in asking if not name.startswith(PLATFORM_PACKAGES)} == EXCEPTIONS


SIMULATION = """
import importlib, os, platform, select, signal, socket, subprocess, sys, types
from types import SimpleNamespace as Fake

import psutil

names = sys.stdin.read().split()
# first as on this system, so that the other packages are loaded
for name in names:
    importlib.import_module(name)
for name in [name for name in sys.modules if name.partition(".")[0] == "lsp_harness"]:
    del sys.modules[name]
for name in BLOCKED:
    sys.modules[name] = None
for owner, absent in (
    (os, "fork forkpty getuid geteuid getgid getegid getpgid getsid killpg setsid mkfifo mknod fchmod fchown chown "
         "pread posix_fallocate posix_spawnp nice uname sysconf sched_getaffinity sched_setscheduler memfd_create "
         "pidfd_open set_blocking waitid fdatasync setxattr getxattr listxattr O_NONBLOCK O_NOCTTY O_NOFOLLOW "
         "O_CLOEXEC O_DIRECTORY O_PATH WNOHANG"),
    (socket, "AF_UNIX SO_PEERCRED send_fds recv_fds"),
    (select, "poll PIPE_BUF"),
    (signal, "SIGKILL SIGHUP SIGQUIT SIGUSR1 SIGUSR2 SIGPIPE SIGCHLD SIGCONT SIGTSTP SIGTTIN SIGTTOU SIGWINCH SIGXFSZ "
             "setitimer ITIMER_VIRTUAL pidfd_send_signal"),
):
    for attribute in absent.split():
        if hasattr(owner, attribute):
            delattr(owner, attribute)
sys.platform = "win32"
os.O_BINARY, signal.SIGBREAK = 0, signal.SIGTERM
subprocess.STARTUPINFO, subprocess.CREATE_NEW_PROCESS_GROUP = Fake, 0x200
sys.modules["msvcrt"] = types.ModuleType("msvcrt")
import ctypes, ctypes.wintypes
ctypes.WinDLL = lambda *_, **__: Fake(CreateMutexW=Fake(), CloseHandle=Fake())
for name in names:
    if name not in FOR_ONE_SYSTEM:
        importlib.import_module(name)
left = FOR_ONE_SYSTEM & set(sys.modules)
assert not left, left
"""
AFTERWARDS = """
from pathlib import Path
from lsp_harness.disk.local_channel import open_channel
from lsp_harness.process import copied_process, process_table
from lsp_harness.process.sandbox.sandbox_choice import choose_sandbox
from lsp_harness.process.signals import ENDING_SIGNALS, KILL, list_terminating
from lsp_harness.runtime.isolation.sandbox_runner import SandboxRunner

choice = choose_sandbox()
assert not choice.is_confined and "only for Linux" in choice.problem_text
assert (copied_process.HAS_COPIES, copied_process.START_METHOD) == (False, "spawn")
assert type(open_channel(Path("a"))).__name__ == "LoopbackChannel"
assert KILL == signal.SIGTERM and signal.SIGBREAK in ENDING_SIGNALS and list_terminating(15) == (15,)
assert process_table.is_alive(os.getpid())
assert os.getpid() in [row.pid for row in process_table.list_group(os.getpid())]
print("imported", len(names))
"""


def test_the_package_is_imported_on_a_simulated_windows():
    trees = read_trees()
    modules = {name.removesuffix(".py").removesuffix("/__init__").replace("/", "."): name for name in trees}
    one_system = {module for module, name in modules.items() if is_for_one_system(trees[name])}
    # programs, which do their work when they are imported, or run beside other files
    programs = {"lsp_harness.__main__", "lsp_harness.verify.project_tests.pytest_worker"}
    lines = f"BLOCKED = {POSIX_MODULES!r}\nFOR_ONE_SYSTEM = {one_system - programs!r}\n"
    ran = subprocess.run(
        [sys.executable, "-c", lines + SIMULATION + AFTERWARDS],
        input="\n".join(sorted(modules.keys() - programs)),
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=110,
    )
    assert ran.returncode == 0, ran.stderr[-2000:]
    assert int(ran.stdout.split()[-1]) == len(modules) - len(programs)


def test_the_rule_finds_questions_for_the_system():
    for text in ("sys.platform == 'win32'", "os.name", "platform.system()"):
        assert asks_for_the_system(ast.parse(text))
    assert not asks_for_the_system(ast.parse("sys.path; os.sep; platform.machine()"))
    assert is_for_one_system(ast.parse("import sys\nassert sys.platform == 'linux'\n"))
