"""Private views of the machine: what a program in one sees, and what is left of its changes."""

import json
import os
import socket
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from lsp_harness.process.sandbox import namespace_launcher
from lsp_harness.process.sandbox.private_view import LAUNCHER, PrivateView, describe_view
from lsp_harness.process.sandbox.sandbox_policy import SandboxPolicy

QUICK_PYTHON = (sys.executable, "-I", "-S")
RUN_S = 30.0


@dataclass(frozen=True)
class Desk:
    """A home with a project in it, and a folder outside of both."""

    home: Path
    project: Path
    outside: Path
    layer: Path

    def policy(self, **more: object) -> SandboxPolicy:
        policy = SandboxPolicy(self.project, overlays=(self.home,), layer=self.layer)
        return replace(policy, **more)  # pyright: ignore[reportArgumentType]

    def run(self, code: str, *arguments: object, **more: object) -> str:
        """Return the output of a Python program that runs in a view."""
        return run(PrivateView().wrap([*QUICK_PYTHON, "-c", code, *map(str, arguments)], self.policy(**more)))


def run(command: Sequence[str]) -> str:
    result = subprocess.run(command, capture_output=True, text=True, timeout=RUN_S, check=False)
    assert (result.returncode, result.stderr) == (0, "")
    return result.stdout.strip()


def read_disk_texts(folder: Path) -> dict[str, str]:
    return {path.relative_to(folder).as_posix(): path.read_text() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture(scope="module", autouse=True)
def _namespaces() -> None:
    if problem := PrivateView().find_problem():
        pytest.skip(f"namespaces do not work here: {problem}")


@pytest.fixture
def desk(tmp_path_factory: pytest.TempPathFactory) -> Desk:
    # paths of sockets are short
    folder = tmp_path_factory.mktemp("v")
    made = Desk(folder / "home", folder / "home" / "project", folder / "out", folder / "layer")
    for path in (made.project, made.outside, made.layer):
        path.mkdir(parents=True)
    (made.project / "mod.py").write_text("VALUE = 'disk'\n")
    return made


def test_private_files_are_absent(desk: Desk) -> None:
    private = [desk.home / "token", desk.home / "keys", desk.home / "config" / "tool" / "password"]
    for file in (private[0], private[1] / "key", private[2], desk.home / "config" / "tool" / "settings"):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("private")
    code = """
import json, os, sys
files = [os.path.join(folder, name) for folder, _, names in os.walk(sys.argv[1]) for name in names]
found = sorted(os.path.relpath(file, sys.argv[1]) for file in files)
print(json.dumps([found, [os.path.exists(path) for path in sys.argv[2:]]]))
"""
    found, exist = json.loads(desk.run(code, desk.home, *private, absent=tuple(private)))
    assert found == ["config/tool/settings", "project/mod.py"]
    assert exist == [False, False, False]
    assert private[0].read_text() == "private"


def test_private_files_outside_of_overlays_are_empty(desk: Desk) -> None:
    token, keys = desk.outside / "token", desk.outside / "keys"
    keys.mkdir()
    for file in (token, keys / "key"):
        file.write_text("private")
    code = "import os, sys; print(repr(open(sys.argv[1]).read()), os.listdir(sys.argv[2]))"
    assert desk.run(code, token, keys, absent=(token, keys)) == "'' []"


def run_beside_mount(desk: Desk, place: Path, code: str, *arguments: object, **more: object) -> str:
    """Return the output of a program in a view. Another file system with the file `inner` is mounted on a folder."""
    place.mkdir(parents=True, exist_ok=True)
    script = 'mount -t tmpfs none "$1" && echo inner > "$1/inner" && shift && exec "$@"'
    wrapped = PrivateView().wrap([*QUICK_PYTHON, "-c", code, *map(str, arguments)], desk.policy(**more))
    return run(["unshare", "--map-root-user", "--mount", "sh", "-c", script, "sh", str(place), *wrapped])


@pytest.mark.parametrize("name", ["project/node_modules", "volume of a person", ".cache/deep/er"])
def test_folders_with_other_file_systems_are_covered(name: str, desk: Desk) -> None:
    texts = {"token": "private", "notes/todo": "tea", "notes/token": "private", "mode": "x"}
    for path, text in texts.items():
        (desk.home / path).parent.mkdir(parents=True, exist_ok=True)
        (desk.home / path).write_text(text)
    (desk.home / "mode").chmod(0o750)
    (desk.home / "link").symlink_to("notes/todo")
    code = """
import json, os, sys
home, place = sys.argv[1:]
os.chdir(home)
seen = {name: open(name).read().strip() for name in ("link", "project/mod.py", place + "/inner")}
for name in ("new", "mode", "notes/todo", "notes/new", "project/mod.py", place + "/inner", place + "/new"):
    with open(name, "w") as file:
        file.write("changed")
os.rename("notes/todo", "notes/done")
seen["changed"] = [open(name).read() for name in ("notes/done", "mode", place + "/inner", place + "/new")]
seen["private"] = [os.path.exists(name) for name in ("token", "notes/token")]
seen["mode"] = oct(os.stat("mode").st_mode & 0o777)
print(json.dumps(seen))
"""
    before = read_disk_texts(desk.home)
    absent = (desk.home / "token", desk.home / "notes" / "token")
    seen = json.loads(run_beside_mount(desk, desk.home / name, code, desk.home, name, absent=absent))
    assert seen == {
        "link": "tea",
        "project/mod.py": "VALUE = 'disk'",
        f"{name}/inner": "inner",
        "changed": ["changed"] * 4,
        "private": [False, False],
        "mode": "0o750",
    }
    assert read_disk_texts(desk.home) == before


def test_socket_beside_another_file_system_refuses_connections(desk: Desk) -> None:
    code = """
import os, sys
print(sorted(os.listdir(sys.argv[1])))
"""
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(desk.home / "s"))
        server.listen()
        assert run_beside_mount(desk, desk.home / "volume", code, desk.home) == "['project', 'volume']"


@pytest.mark.parametrize("place", ["home", "outside"])
def test_sockets_of_other_programs_refuse_connections(place: str, desk: Desk) -> None:
    path = str(getattr(desk, place) / "s")
    code = """
import socket, sys
try:
    socket.socket(socket.AF_UNIX).connect(sys.argv[1].replace("@", chr(0)))
    print("connected")
except OSError:
    print("refused")
"""
    abstract = f"@{path}"
    with socket.socket(socket.AF_UNIX) as named, socket.socket(socket.AF_UNIX) as nameless:
        named.bind(path)
        nameless.bind(abstract.replace("@", chr(0)))
        for server in (named, nameless):
            server.listen()
        assert [desk.run(code, address) for address in (path, abstract)] == ["refused", "refused"]
        with socket.socket(socket.AF_UNIX) as client:
            client.connect(path)


def test_writes_in_overlays_vanish(desk: Desk) -> None:
    (desk.project / "old.txt").write_text("old")
    before = read_disk_texts(desk.home)
    code = """
import os, sys
open("new.txt", "w").write("new")
open("mod.py", "w").write("changed")
os.remove("old.txt")
os.makedirs("folder/below")
open(sys.argv[1] + "/in-home", "w").write("new")
print(sorted(os.listdir(".")), open("mod.py").read())
"""
    assert desk.run(code, desk.home) == "['folder', 'mod.py', 'new.txt'] changed"
    assert read_disk_texts(desk.home) == before
    assert not (desk.project / "folder").exists()
    assert list(desk.layer.iterdir()) == []


def test_other_folders_can_only_be_read(desk: Desk) -> None:
    (desk.outside / "a.txt").write_text("disk")
    code = """
import sys
print(open(sys.argv[1] + "/a.txt").read())
try:
    open(sys.argv[1] + "/b.txt", "w")
    print("written")
except OSError as error:
    print(error.strerror)
"""
    assert desk.run(code, desk.outside) == "disk\nRead-only file system"


def test_writes_in_writable_folders_stay(desk: Desk) -> None:
    code = "import sys; open(sys.argv[1] + '/b.txt', 'w').write('stays')"
    desk.run(code, desk.outside, writable=(desk.outside,))
    assert read_disk_texts(desk.outside) == {"b.txt": "stays"}


def test_a_replaced_text_is_seen_at_its_real_path(desk: Desk) -> None:
    text = desk.outside / "text"
    text.write_text("VALUE = 'proposed'\n")
    code = "import sys; sys.path.insert(0, sys.argv[1]); import mod; print(mod.VALUE, mod.__file__)"
    file = desk.project / "mod.py"
    assert desk.run(code, desk.project, replaced={file: text}) == f"proposed {file}"
    assert file.read_text() == "VALUE = 'disk'\n"


def test_a_text_makes_a_new_file_in_a_new_folder(desk: Desk) -> None:
    text = desk.outside / "text"
    text.write_text("VALUE = 'proposed'\n")
    code = "import sys; sys.path.insert(0, sys.argv[1]); from new.below import mod; print(mod.VALUE)"
    new = desk.project / "new" / "below" / "mod.py"
    assert desk.run(code, desk.project, replaced={new: text}) == "proposed"
    assert not (desk.project / "new").exists()


def test_bytecode_of_a_replaced_file_is_hidden(desk: Desk) -> None:
    text, cache = desk.outside / "text", desk.project / "__pycache__"
    text.write_text("VALUE = 'proposed'\n")
    cache.mkdir()
    for name in ("mod.cpython-311.pyc", "mod.cpython-311.opt-1.pyc", "mod.pypy310.pyc", "model.cpython-311.pyc"):
        (cache / name).write_text("stale")
    (desk.project / "mod.pyc").write_text("stale")
    code = "import os; print(sorted(os.listdir('__pycache__')), sorted(os.listdir('.')))"
    seen = desk.run(code, replaced={desk.project / "mod.py": text})
    assert seen == "['model.cpython-311.pyc'] ['__pycache__', 'mod.py']"
    assert len(list(cache.iterdir())) == 4


def test_other_processes_are_not_visible(desk: Desk) -> None:
    code = "import os; print(sorted(int(name) for name in os.listdir('/proc') if name.isdecimal()), os.getpid())"
    # the first process of the view, and this one
    assert desk.run(code) == "[1, 2] 2"


def test_loopback_and_semaphores_work(desk: Desk) -> None:
    code = """
import multiprocessing, socket
context = multiprocessing.get_context("fork")
lock, queue = context.Lock(), context.SimpleQueue()
with lock:
    child = context.Process(target=queue.put, args=("from a process",))
    child.start()
    child.join()
with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()) as client:
    client.sendall(b"by loopback")
    print(queue.get(), server.accept()[0].recv(100).decode())
"""
    assert desk.run(code) == "from a process by loopback"


def test_servers_outside_cannot_be_reached(desk: Desk) -> None:
    code = """
import socket, sys
try:
    socket.create_connection(("127.0.0.1", int(sys.argv[1])), 5)
    print("connected")
except OSError:
    print("refused")
"""
    with socket.create_server(("127.0.0.1", 0)) as server:
        assert desk.run(code, server.getsockname()[1]) == "refused"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may write there")
@pytest.mark.parametrize("path", ["/proc/sys/kernel/panic", "/proc/sysrq-trigger"])
def test_root_cannot_change_the_machine_by_proc(path: str, desk: Desk) -> None:
    if not os.path.exists(path):
        pytest.skip(f"{path} is not there")
    # opening alone changes nothing
    code = """
import os, sys
try:
    os.open(sys.argv[1], os.O_WRONLY)
    print("opened")
except OSError as error:
    print("refused")
"""
    assert desk.run(code, path) == "refused"
    # its own views get a /proc all the same, see below
    assert desk.run(code, path, layer=None, makes_views=True) == "refused"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root makes devices")
def test_devices_elsewhere_are_closed_and_those_in_dev_work(desk: Desk) -> None:
    device = desk.outside / "device"
    os.mknod(device, 0o20666, os.makedev(1, 5))
    code = """
import os, sys
assert os.read(os.open("/dev/zero", os.O_RDONLY), 1) == b"\\0"
try:
    os.open(sys.argv[1], os.O_RDWR)
except PermissionError:
    print("closed")
"""
    assert desk.run(code, device) == "closed"


@pytest.mark.parametrize("folder", ["/run", "/dev/shm"])
def test_folders_in_memory_have_a_limit(folder: str, desk: Desk) -> None:
    code = "import os, sys; status = os.statvfs(sys.argv[1]); print(status.f_blocks * status.f_frsize)"
    assert int(desk.run(code, folder)) <= namespace_launcher.SMALL_BYTES


def test_a_program_in_a_view_can_make_another_view(desk: Desk) -> None:
    (desk.home / "token").write_text("private")
    outer = desk.policy(layer=None, makes_views=True)
    request = json.dumps(describe_view(desk.policy(absent=(desk.home / "token",))))
    inner = [*QUICK_PYTHON, str(LAUNCHER), request, *QUICK_PYTHON, "-c"]
    code = """
import os, sys
print(os.listdir(".."), os.path.exists("left"), flush=True)
open("left", "w").write("left")
"""
    twice = "import subprocess, sys\nfor _ in range(2):\n    subprocess.run(sys.argv[1:], check=True)"
    output = run(PrivateView().wrap([*QUICK_PYTHON, "-c", twice, *inner, code], outer))
    # no run sees the files of the one before it
    assert output.splitlines() == ["['project'] False"] * 2
    assert read_disk_texts(desk.home) == {"token": "private", "project/mod.py": "VALUE = 'disk'\n"}


def test_a_program_that_makes_views_can_only_read_itself(desk: Desk) -> None:
    code = """
try:
    open("left", "w")
    print("written")
except OSError as error:
    print(error.strerror)
"""
    assert desk.run(code, layer=None, makes_views=True) == "Read-only file system"


def test_the_exit_status_of_the_program_is_that_of_the_view(desk: Desk) -> None:
    for code, status in (("raise SystemExit(3)", 3), ("import os; os.kill(os.getpid(), 9)", 137)):
        command = PrivateView().wrap([*QUICK_PYTHON, "-c", code], desk.policy())
        assert subprocess.run(command, timeout=RUN_S, check=False).returncode == status


def test_overlays_need_a_folder_for_their_changes(desk: Desk) -> None:
    with pytest.raises(ValueError, match="need a folder"):
        describe_view(desk.policy(layer=None))
