"""A real ssh server on the loopback device, and a real image of a container made of programs of this machine."""

import os
import shutil
import socket
import subprocess
import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from lsp_harness.config.runtime_schema import Runtime

SSHD = shutil.which("sshd", path=f"{os.environ.get('PATH', '')}:/usr/sbin") or ""
IMAGE = "localhost/lsp-harness-test:1"
PROGRAMS = ("bash", "cat", "env", "ls", "sh", "sleep", "stty", "setsid", "kill")
CONTAINERS_CONF = """
[containers]
default_ulimits = ["nofile=1024:1024", "nproc=1024:1024"]
[engine]
{runtime}
cgroup_manager = "cgroupfs"
events_logger = "file"
"""
STORAGE_CONF = """
[storage]
driver = "vfs"
graphroot = "{folder}/graph"
runroot = "{folder}/run"
"""
WAIT_S = 20.0


def _wait_for_port(port: int, server: "subprocess.Popen[bytes]") -> None:
    while server.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=WAIT_S).close()
        except ConnectionRefusedError:
            continue
        return
    pytest.skip(f"sshd does not start here: {server.stderr.read().decode()[-200:] if server.stderr else ''}")


@pytest.fixture
def ssh_settings(tmp_path: Path) -> Iterator[Runtime]:
    """Start an ssh server with a key of the test, and return the settings for it."""
    if not SSHD or not shutil.which("ssh-keygen"):
        pytest.skip("no ssh server is installed: apt-get install openssh-server")
    folder = tmp_path / "ssh"
    folder.mkdir(mode=0o700)
    for name in ("host", "user"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", folder / name], check=True)
    if os.getuid() == 0:
        Path("/run/sshd").mkdir(exist_ok=True)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    lines = [
        f"HostKey {folder}/host",
        f"AuthorizedKeysFile {folder}/user.pub",
        "ListenAddress 127.0.0.1",
        f"Port {port}",
        *("UsePAM no", "StrictModes no", "PermitRootLogin yes", "PasswordAuthentication no", "PidFile none"),
        "AcceptEnv FAKE_API_KEY",
    ]
    (folder / "sshd_config").write_text("\n".join(lines) + "\n")
    server = subprocess.Popen([SSHD, "-D", "-e", "-f", folder / "sshd_config"], stderr=subprocess.PIPE)
    try:
        _wait_for_port(port, server)
        options = ("-F/dev/null", "-i", str(folder / "user"), f"-p{port}", "-oStrictHostKeyChecking=no")
        yield Runtime(ssh_host="127.0.0.1", ssh_options=(*options, f"-oUserKnownHostsFile={folder}/known"))
    finally:
        server.kill()
        server.wait()
        if server.stderr:
            server.stderr.close()


@pytest.fixture
def container_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Runtime]:
    """Make an image of the programs of this machine, and return the settings for it."""
    if not shutil.which("podman"):
        pytest.skip("no podman is installed: apt-get install podman runc")
    folder = tmp_path / "containers"
    folder.mkdir()
    runtime = 'runtime = "runc"' if shutil.which("runc") else ""
    (folder / "containers.conf").write_text(CONTAINERS_CONF.format(runtime=runtime))
    (folder / "storage.conf").write_text(STORAGE_CONF.format(folder=folder))
    monkeypatch.setenv("CONTAINERS_CONF", str(folder / "containers.conf"))
    monkeypatch.setenv("CONTAINERS_STORAGE_CONF", str(folder / "storage.conf"))
    _write_image(folder / "image.tar")
    subprocess.run(["podman", "import", "-q", folder / "image.tar", IMAGE], capture_output=True, check=False)
    trial = ["podman", "run", "--rm", "--network=none", IMAGE, "/bin/sh", "-c", "exit 0"]
    result = subprocess.run(trial, capture_output=True, text=True, check=False)
    if result.returncode:
        pytest.skip(f"podman does not run here: {result.stderr.strip()[-200:]}")
    yield Runtime(container_image=IMAGE, container_program="podman")
    subprocess.run(["podman", "rm", "--all", "--force"], capture_output=True, check=False)
    subprocess.run(["podman", "system", "reset", "--force"], capture_output=True, check=False)


def _write_image(file: Path) -> None:
    """Write a file system with some programs and their libraries."""
    with tarfile.open(file, "w", dereference=True) as archive:
        libraries = set[str]()
        for name in PROGRAMS:
            program = shutil.which(name) or pytest.skip(f"{name} is not installed")
            archive.add(program, f"usr/bin/{name}")
            archive.add(program, f"bin/{name}")
            listing = subprocess.run(["ldd", program], capture_output=True, text=True, check=False).stdout
            libraries |= {word for word in listing.split() if word.startswith("/")}
        for library in sorted(libraries):
            archive.add(library, library.lstrip("/"))
