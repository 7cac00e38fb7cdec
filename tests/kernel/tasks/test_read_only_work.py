"""Commands that may only read: what they reach in each sandbox, and what they cannot change."""

import os
import socket
import subprocess
from pathlib import Path

import pytest

from lsp_harness.errors import UsageError
from lsp_harness.kernel.tasks.read_only_work import confine_reading
from lsp_harness.kernel.tasks.task_output import TaskOutput
from lsp_harness.kernel.tasks.task_request import ShellWork
from lsp_harness.kernel.tasks.task_runner import run_program
from lsp_harness.process.sandbox.bubblewrap import Bubblewrap
from lsp_harness.process.sandbox.landlock import Landlock
from lsp_harness.process.sandbox.private_view import PrivateView
from lsp_harness.process.sandbox.sandbox import NoSandbox, Sandbox
from lsp_harness.process.sandbox.sandbox_choice import SandboxChoice

pytestmark = pytest.mark.process

RUN_S = 30.0
SANDBOXES: tuple[type[Sandbox], ...] = (PrivateView, Bubblewrap, Landlock)
SECRETS = (".env", "config/credentials.json", "deep/.ssh/id_ed25519", "keys/server.pem", "copy-of-env")


@pytest.fixture(params=SANDBOXES, ids=lambda sandbox: sandbox.name)
def choice(request: pytest.FixtureRequest) -> SandboxChoice:
    sandbox: Sandbox = request.param()
    if problem := sandbox.find_problem():
        pytest.skip(f"{sandbox.name} does not work here: {problem}")
    return SandboxChoice(sandbox)


@pytest.fixture
def root(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    # paths of sockets are short
    home = tmp_path_factory.mktemp("h")
    root = home / "ws"
    for name in SECRETS[:-1]:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("s3cret")
    os.link(root / ".env", root / SECRETS[-1])
    (root / "app.py").write_text("VALUE = 'text'\n")
    (root / "link").symlink_to(".env")
    (home / "notes.txt").write_text("s3cret")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("LSP_HARNESS_HOME", str(root / "own"))
    (root / "own/state").mkdir(parents=True)
    (root / "own/state/api-token").write_text("s3cret")
    return root


def read_files(folder: Path) -> dict[str, tuple[bytes, int, int]]:
    found = [path for path in folder.rglob("*") if path.is_file()]
    return {str(path): (path.read_bytes(), path.stat().st_mode, path.stat().st_mtime_ns) for path in found}


def run(script: str, root: Path, choice: SandboxChoice) -> str:
    """Return the output and the errors of a command that may only read."""
    work = confine_reading(ShellWork(script, root), [root], choice)
    return subprocess.run(
        work.argv, cwd=work.cwd, env=work.env, capture_output=True, text=True, timeout=RUN_S, check=False
    ).stdout.strip()


def test_texts_are_read_and_names_are_listed(root: Path, choice: SandboxChoice) -> None:
    assert run("cat app.py && ls && cd config && pwd", root, choice).splitlines() == [
        "VALUE = 'text'",
        *sorted(path.name for path in root.iterdir() if not path.name.startswith(".")),
        f"{root}/config",
    ]


def test_commands_that_search_a_whole_folder_find_texts_and_no_secret(root: Path, choice: SandboxChoice) -> None:
    assert run("grep -rs 'text\\|s3cret' .; find . -name app.py", root, choice) == "./app.py:VALUE = 'text'\n./app.py"


@pytest.mark.parametrize("name", [*SECRETS, "link", "../notes.txt", "own/state/api-token"])
def test_no_secret_can_be_read(name: str, root: Path, choice: SandboxChoice) -> None:
    assert "s3cret" not in run(f"cat {name}; cat < {name}; cp {name} /tmp/x && cat /tmp/x", root, choice)


@pytest.mark.parametrize(
    "attempt",
    [
        "echo x > app.py",
        "echo x >> new.txt",
        "rm -rf app.py config",
        "mv app.py other.py",
        "mkdir folder",
        "ln -s app.py other",
        "ln app.py /tmp/app && echo x > /tmp/app",
        "chmod 777 app.py",
        "chmod 777 .",
        "touch -d 2001-01-01 app.py",
        "truncate -s 0 app.py",
        "sed -i s/text/x/ app.py",
        "mount -t tmpfs none .",
        "unshare -Urm sh -c 'mount -o remount,rw,bind . && echo x > app.py'",
        "unshare -Urm sh -c 'umount .env || umount -l .env; cat .env > /tmp/x'",
        "cat .env > ../copied",
        "echo x > ../notes.txt",
        "git init -q .",
    ],
)
def test_a_command_that_reads_cannot_change_a_file(attempt: str, root: Path, choice: SandboxChoice) -> None:
    before = read_files(root.parent)
    run(attempt, root, choice)
    assert read_files(root.parent) == before
    assert not (root / ".git").exists()


def test_other_processes_sockets_and_keys_are_hidden(
    root: Path, choice: SandboxChoice, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "s3cret")
    monkeypatch.setenv("UV_INDEX_URL", "https://user:s3cret@packages.example/simple")
    script = f"env; cat /proc/{os.getpid()}/environ; kill -0 {os.getpid()} && echo signalled"
    with socket.socket(socket.AF_UNIX) as server, socket.create_server(("127.0.0.1", 0)) as network:
        server.bind(str(root / "socket"))
        server.listen()
        addresses = (str(root / "socket"), network.getsockname())
        code = f"""
import socket
for family, address in ((socket.AF_UNIX, {addresses[0]!r}), (socket.AF_INET, {addresses[1]!r})):
    try:
        socket.socket(family).connect(address)
        print("connected")
    except OSError:
        pass
"""
        output = run(f"{script}; python3 -c '{code.replace(chr(39), chr(34))}'", root, choice)
    assert "PATH=" in output
    assert [word for word in ("s3cret", "signalled", "connected") if word in output] == []


def test_temporary_files_can_be_written_and_disappear(root: Path, choice: SandboxChoice) -> None:
    name = f"lsp-harness-test-{os.getpid()}"
    output = run(f'echo kept > "$TMPDIR/{name}" && cat "$TMPDIR/{name}"', root, choice)
    assert output == ("" if isinstance(choice.sandbox, Landlock) else "kept")
    assert not Path("/tmp", name).exists()


async def test_a_read_only_command_runs_as_a_task(root: Path, tmp_path: Path) -> None:
    output = TaskOutput("01J", tmp_path / "log", lambda text: None)
    work = confine_reading(ShellWork("cat app.py; exit 3", root), [root])
    assert await run_program(work, output) == 3
    output.close()


def test_a_command_needs_a_sandbox_and_a_folder_in_the_workspace(root: Path, choice: SandboxChoice) -> None:
    with pytest.raises(UsageError, match="no sandbox works here"):
        confine_reading(ShellWork("true", root), [root], SandboxChoice(NoSandbox(), {"landlock": "too old"}))
    with pytest.raises(UsageError, match="outside of the workspace"):
        confine_reading(ShellWork("true", root.parent), [root], choice)
