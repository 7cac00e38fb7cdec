"""Programs in a sandbox: what they can reach, and how they end."""

import os
import select
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from lsp_harness.process.process_table import list_processes
from lsp_harness.process.sandbox.bubblewrap import Bubblewrap
from lsp_harness.process.sandbox.confined_run import ConfinedResult, confined_environment, run_confined
from lsp_harness.process.sandbox.landlock import Landlock
from lsp_harness.process.sandbox.private_view import PrivateView
from lsp_harness.process.sandbox.sandbox import NoSandbox, Sandbox
from lsp_harness.process.sandbox.sandbox_choice import choose_sandbox
from lsp_harness.process.sandbox.sandbox_policy import ResourceLimits, SandboxPolicy

PYTHON = Path(sys.executable)
CONFINED: tuple[type[Sandbox], ...] = (PrivateView, Bubblewrap, Landlock)


@pytest.fixture(params=CONFINED, ids=lambda sandbox: sandbox.name)
def sandbox(request: pytest.FixtureRequest) -> Sandbox:
    found: Sandbox = request.param()
    if problem := found.find_problem():
        pytest.skip(f"{found.name} does not work here: {problem}")
    return found


class Project:
    """A folder with a home beside it, both within a folder that is not for temporary files."""

    def __init__(self, folder: Path) -> None:
        self.home = folder / "home"
        self.folder = self.home / "project"
        self.scratch = folder / "scratch"
        for path in (self.folder, self.scratch):
            path.mkdir(parents=True)
        self.file = self.folder / "a.txt"
        self.file.write_text("on disk")
        self.secret = self.home / "secret.txt"
        self.secret.write_text("the secret")

    def policy(self, **more: object) -> SandboxPolicy:
        visible = (Path(sys.prefix), Path(sys.base_prefix))
        fields = {"writable": (self.scratch,), "hidden": (self.home,), "visible": visible} | more
        return SandboxPolicy(self.folder, **fields)  # pyright: ignore[reportArgumentType]

    async def run(self, code: str, sandbox: Sandbox, *arguments: str, **more: object) -> ConfinedResult:
        env = confined_environment(str(self.scratch), str(self.scratch))
        return await run_confined([str(PYTHON), "-c", code, *arguments], sandbox, self.policy(**more), env)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


ATTEMPT = """
import sys
try:
    {attempt}
except OSError as error:
    sys.exit(f"refused: {{type(error).__name__}}")
"""


@pytest.mark.parametrize(
    "attempt",
    [
        "open(sys.argv[1] + '/a.txt', 'w').write('changed')",
        "open(sys.argv[1] + '/new.txt', 'w').write('new')",
        "import os; os.remove(sys.argv[1] + '/a.txt')",
        "import os; os.rename(sys.argv[1] + '/a.txt', sys.argv[2] + '/b.txt')",
        "import os; os.truncate(sys.argv[1] + '/a.txt', 0)",
        "import os; os.symlink('/etc/passwd', sys.argv[1] + '/link')",
        "open(sys.argv[1] + '/../secret.txt').read()",
    ],
)
async def test_other_files_cannot_be_reached(attempt: str, sandbox: Sandbox, project: Project) -> None:
    result = await project.run(ATTEMPT.format(attempt=attempt), sandbox, str(project.folder), str(project.scratch))
    assert result.exit_code == 1
    assert b"refused" in result.output
    assert {path.name: path.read_text() for path in project.folder.iterdir()} == {"a.txt": "on disk"}


async def test_the_folder_is_read_and_scratch_folders_are_written(sandbox: Sandbox, project: Project) -> None:
    code = "import sys; open(sys.argv[1] + '/out', 'w').write(open('a.txt').read())"
    result = await project.run(code, sandbox, str(project.scratch))
    assert (result.end, result.exit_code, result.output) == ("exited", 0, b"")
    assert (project.scratch / "out").read_text() == "on disk"


async def test_a_candidate_replaces_a_file_in_the_sandbox(project: Project) -> None:
    sandbox = Bubblewrap()
    if problem := sandbox.find_problem():
        pytest.skip(f"bubblewrap does not work here: {problem}")
    candidate = project.scratch / "candidate"
    candidate.write_text("the candidate")
    result = await project.run("print(open('a.txt').read())", sandbox, replaced={project.file: candidate})
    assert result.output == b"the candidate\n"
    assert project.file.read_text() == "on disk"


@pytest.mark.parametrize("sandbox_class", [Landlock, NoSandbox])
def test_a_sandbox_that_cannot_replace_files_raises_an_error(sandbox_class: type[Sandbox], project: Project) -> None:
    with pytest.raises(ValueError, match="copy the folder"):
        sandbox_class().wrap(["true"], project.policy(replaced={project.file: project.secret}))


async def test_the_network_cannot_be_reached(sandbox: Sandbox, project: Project) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = str(server.getsockname()[1])
        code = ATTEMPT.format(attempt="import socket; socket.create_connection(('127.0.0.1', int(sys.argv[1])), 5)")
        result = await project.run(code, sandbox, port)
    assert b"refused" in result.output


@pytest.mark.parametrize("address", ["udp", "unix"])
async def test_services_of_the_machine_cannot_be_reached(address: str, sandbox: Sandbox, project: Project) -> None:
    # bubblewrap hides the folders in which services have their sockets, and the home of the user, where this one is
    family = socket.AF_INET if address == "udp" else socket.AF_UNIX
    with socket.socket(family, socket.SOCK_DGRAM) as service:
        service.settimeout(0.2)
        service.bind(("127.0.0.1", 0) if address == "udp" else str(project.home / "s"))
        target = repr(service.getsockname())
        call = f"import socket; socket.socket({family:d}, socket.SOCK_DGRAM).sendto(b'x', {target})"
        result = await project.run(ATTEMPT.format(attempt=call), sandbox)
        with pytest.raises(TimeoutError):
            service.recv(1)
    assert result.end == "exited"


async def test_the_processes_of_a_program_can_talk_to_each_other(sandbox: Sandbox, project: Project) -> None:
    code = (
        "import asyncio, socket; a, b = socket.socketpair(); a.send(b'x'); print(b.recv(1)); asyncio.new_event_loop()"
    )
    assert (await project.run(code, sandbox)).output == b"b'x'\n"


async def test_a_run_that_takes_too_long_is_killed(sandbox: Sandbox, project: Project) -> None:
    result = await project.run("while True: pass", sandbox, limits=ResourceLimits(wall_s=0.5))
    assert (result.end, result.left) == ("timeout", ())


async def test_a_flood_of_output_is_cut_off(sandbox: Sandbox, project: Project) -> None:
    code = "import sys\nwhile True: sys.stdout.write('x' * 100000)"
    result = await project.run(code, sandbox, limits=ResourceLimits(output_bytes=100_000))
    assert result.end == "output_limit"
    assert len(result.output) == 100_000


async def test_too_much_memory_is_refused(sandbox: Sandbox, project: Project) -> None:
    result = await project.run("b'x' * (1 << 30)", sandbox, limits=ResourceLimits(memory_bytes=300 << 20))
    assert result.exit_code == 1
    assert b"MemoryError" in result.output


async def test_a_file_that_is_too_large_is_refused(sandbox: Sandbox, project: Project) -> None:
    code = (
        "import sys, signal; signal.signal(25, signal.SIG_IGN); open(sys.argv[1] + '/big', 'wb').write(b'x' * 3000000)"
    )
    result = await project.run(code, sandbox, str(project.scratch), limits=ResourceLimits(file_bytes=1 << 20))
    assert result.exit_code == 1
    assert (project.scratch / "big").stat().st_size <= 1 << 20


MANY = """
import os, time
for _ in range(40):
    if not os.fork():
        time.sleep(300)
time.sleep(300)
"""
DAEMON = """
import os, time
if not os.fork():
    os.setsid()
    if not os.fork():
        print("daemon", flush=True)
        time.sleep(300)
    os._exit(0)
os.wait()
"""


async def test_too_many_processes_end_the_run(sandbox: Sandbox, project: Project) -> None:
    result = await project.run(MANY, sandbox, limits=ResourceLimits(processes=20))
    assert (result.end, result.left) == ("process_limit", ())


async def test_no_daemon_is_left(sandbox: Sandbox, project: Project) -> None:
    result = await project.run(DAEMON, sandbox)
    assert result.left == ()
    assert not [row for row in list_processes() if str(project.scratch) in _read_environment(row.pid)]


DAEMON_CODE = "import os, sys, time; os.write(int(sys.argv[1]), b'ready'); os.close(int(sys.argv[2])); time.sleep(300)"
LEAVER = """
import os, signal, sys, time
for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
    signal.signal(number, signal.SIG_IGN)
pipe = os.open(sys.argv[1], os.O_WRONLY)
started, starting = os.pipe()
if not os.fork():
    os.setsid()
    for descriptor in (pipe, starting):
        os.set_inheritable(descriptor, True)
    if not os.fork():
        os.execve(sys.executable, [sys.executable, "-c", sys.argv[2], str(pipe), str(starting)], {})
    os._exit(0)
os.close(pipe)
os.close(starting)
os.read(started, 1)
"""
"""A program that leaves a daemon without a mark in another session, which holds a pipe open as long as it lives."""
WAITS, LEAVES, KILLS = "time.sleep(300)", "", "os.kill(os.getppid(), signal.SIGKILL); time.sleep(300)"
RUNNER = """
import asyncio, sys
from pathlib import Path
from lsp_harness.process.sandbox.confined_run import run_confined
from lsp_harness.process.sandbox.sandbox_choice import SANDBOXES
from lsp_harness.process.sandbox.sandbox_policy import SandboxPolicy

sandbox = next(sandbox for sandbox in SANDBOXES if sandbox.name == sys.argv[1])()
scratch = Path(sys.argv[2])
argv = [sys.executable, "-c", sys.argv[3], str(scratch / "pipe"), sys.argv[4]]
visible = (Path(sys.prefix), Path(sys.base_prefix))
asyncio.run(run_confined(argv, sandbox, SandboxPolicy(scratch, (scratch,), visible=visible)))
"""
LIMIT_S = 60.0


@pytest.mark.parametrize(
    "ending", [WAITS, LEAVES, KILLS], ids=["killed with us", "left at the end", "killed the guard"]
)
def test_no_process_is_left_when_this_process_is_killed(ending: str, sandbox: Sandbox, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reading = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    command = [sys.executable, "-c", RUNNER, sandbox.name, str(tmp_path), LEAVER + ending, DAEMON_CODE]
    with subprocess.Popen(command, stdin=subprocess.DEVNULL) as process:
        assert _read_pipe(reading) == b"ready"
        if ending == LEAVES:
            assert process.wait() == 0
        process.kill()
    # the end of the pipe is the end of the daemon
    assert _read_pipe(reading) == b""
    os.close(reading)


def _read_pipe(descriptor: int) -> bytes:
    """Return what comes next. The time is a limit for a broken sandbox, and no expectation."""
    assert select.select([descriptor], (), (), LIMIT_S)[0]
    return os.read(descriptor, 100)


def _read_environment(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/environ").read_bytes().decode(errors="replace")
    except OSError:
        return ""


def test_the_environment_has_the_plugins_of_pytest_but_no_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-123")
    monkeypatch.setenv("PYTEST_PLUGINS", "my_plugin")
    environment = confined_environment("/tmp", "/tmp")
    assert "OPENAI_API_KEY" not in environment
    assert environment["PYTEST_PLUGINS"] == "my_plugin"


class BrokenSandbox(Sandbox):
    """A sandbox whose program does not exist."""

    name = "broken"

    def wrap(self, argv: object, policy: SandboxPolicy) -> list[str]:
        return ["/nonexistent/sandbox"]


def test_the_first_sandbox_that_works_is_chosen() -> None:
    choice = choose_sandbox([BrokenSandbox])
    assert isinstance(choice.sandbox, NoSandbox)
    assert not choice.is_confined
    assert "/nonexistent/sandbox" in choice.problems["broken"]


def test_the_launcher_says_why_a_command_cannot_start(project: Project) -> None:
    if problem := Landlock().find_problem():
        pytest.skip(problem)
    command = Landlock().wrap(["/nonexistent/program"], project.policy())
    result = subprocess.run(command, capture_output=True, text=True, check=False, env=dict(os.environ))
    assert result.returncode == 126
    assert "No such file" in result.stderr


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make the folder of another user")
def test_bubblewrap_works_beside_a_socket_that_its_user_cannot_reach(project: Project) -> None:
    if problem := Bubblewrap().find_problem():
        pytest.skip(problem)
    # /tmp and the home are covered as a whole
    with tempfile.TemporaryDirectory(dir="/srv") as name, socket.socket(socket.AF_UNIX) as service:
        service.bind(f"{name}/s")
        service.listen()
        os.chown(name, 54_321, 54_321)
        command = Bubblewrap().wrap(["cat", f"{name}/s"], project.policy())
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stderr == f"cat: {name}/s: Permission denied\n"
