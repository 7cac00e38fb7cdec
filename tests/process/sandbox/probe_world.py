"""The machine around a sandbox: private files, processes, sockets and objects that probes try to reach.

    python -m tests.process.sandbox.probe_world SANDBOX FOLDER OUTSIDE

It runs as the user whose sandbox is tested, starts the probes in it, and prints what they said and changed as JSON.
"""

import asyncio
import contextlib
import ctypes
import json
import os
import pty
import resource
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from lsp_harness.process.sandbox.sandbox import Sandbox
from lsp_harness.process.sandbox.sandbox_choice import SANDBOXES
from lsp_harness.process.sandbox.sandbox_policy import ResourceLimits
from lsp_harness.verify.project_tests.project_overlay import ConfinedProgram, ProjectOverlay
from tests.process.sandbox import file_probes, kernel_probes, probe_tools, probes

SECRET = "s3cret-of-the-user"
ATTRIBUTED = ("", "id_ed25519")
"""Names in the folder of keys of the user that have a note about them."""
SECRETS = (
    *(".aws/credentials", ".kube/config", ".docker/config.json", ".gnupg/secring", ".azure/token.json"),
    *(".config/gcloud/credentials.db", ".npmrc", ".pypirc", ".git-credentials", ".config/git/credentials", ".pgpass"),
    *(".config/gh/hosts.yml", ".python_history", ".zsh_history", ".psql_history", ".lesshst", ".node_repl_history"),
    *(".mozilla/firefox/a/logins.json", ".config/google-chrome/Default/Cookies", ".config/chromium/Default/Cookies"),
    *(".local/share/keyrings/login.keyring", ".password-store/a", ".thunderbird/a", ".claude/.credentials.json"),
    *(".config/rclone/rclone.conf", ".terraform.d/credentials.tfrc.json", ".cargo/credentials.toml", ".vault-token"),
    *(".Xauthority", ".ICEauthority", ".local/share/fish/fish_history", ".config/containers/auth.json"),
    *(".config/pypoetry/auth.toml", ".local/share/uv/credentials/a", ".config/uv/credentials.toml", ".yarnrc.yml"),
    *(".bundle/config", ".gem/credentials", ".composer/auth.json", ".nuget/NuGet/NuGet.Config", ".ivy2/.credentials"),
    *(".sbt/.credentials", ".config/configstore/firebase-tools.json", ".config/hub", ".config/glab-cli/config.yml"),
    *(".fly/config.yml", ".config/heroku/token", ".ngrok2/ngrok.yml", ".config/ngrok/ngrok.yml", ".digitalocean/token"),
    *(".config/Code/User/globalStorage/state.vscdb", ".config/Cursor/User/globalStorage/state.vscdb"),
    *(".cursor/mcp.json", ".codeium/token", ".local/state/python_history", ".config/psql/psql_history"),
    *(".bash_sessions/a.history", ".zsh_sessions/a.history", ".cache/huggingface/token", ".config/pulumi/a"),
    *(".pulumi/credentials.json", ".config/hcloud/cli.toml", ".config/linode-cli", ".config/openstack/clouds.yaml"),
    *(
        ".s3cfg",
        ".boto",
        ".mc/config.json",
        ".config/filezilla/sitemanager.xml",
        ".purple/accounts.xml",
        ".irssi/config",
    ),
    *(
        ".msmtprc",
        ".fetchmailrc",
        ".mutt/muttrc",
        ".config/neomutt/a",
        ".config/evolution/a",
        ".local/share/evolution/a",
    ),
    *(".wallet/a", ".ethereum/keystore/a", ".config/solana/id.json", ".electrum/wallets/a", ".bitcoin/wallet.dat"),
    *(".viminfo", ".local/share/recently-used.xbel", ".config/Slack/Cookies", ".config/discord/Cookies"),
    *(
        "snap/firefox/common/.mozilla/firefox/a/logins.json",
        ".var/app/org.mozilla.firefox/.mozilla/firefox/a/logins.json",
    ),
    *(
        ".config/mozilla/firefox/a/logins.json",
        ".config/opera/Cookies",
        ".config/vivaldi/Cookies",
        ".config/sops/age/keys.txt",
    ),
    *(".local/share/atuin/key", ".local/share/nvim/shada/main.shada", ".local/state/nvim/shada/main.shada"),
    *(
        ".rediscli_history",
        ".mysql_history",
        ".sqlite_history",
        ".local/share/mcfly/history.db",
        ".config/nushell/history.txt",
    ),
)
"""Files in a home with passwords, keys, tokens, letters or what a person typed."""
RUN_S = 300.0
"""The limit of all probes together. It is no expectation."""
VICTIM = f"""
import ctypes, sys
buffer = ctypes.create_string_buffer(b"{SECRET}", 100)
print(ctypes.addressof(buffer), flush=True)
sys.stdin.readline()
print(buffer.value.decode(), flush=True)
"""
IPC_CREAT_PRIVATE = 0o1600
libc = ctypes.CDLL(None, use_errno=True)


class ProbeWorld:
    """The surroundings of a sandbox, and how they look before and after the probes."""

    def __init__(self, folder: Path, outside: Path) -> None:
        self.outside, self.home = outside, folder / "home"
        self.project, self.scratch, self.runtime = self.home / "project", folder / "scratch", folder / "run"
        for path in (self.project, self.scratch, self.runtime / "lsp-harness/api", self.home / ".ssh", self.outside):
            path.mkdir(parents=True, exist_ok=True, mode=0o700)
        os.environ.update(
            HOME=str(self.home),
            XDG_RUNTIME_DIR=str(self.runtime),
            LSP_HARNESS_HOME=str(self.outside / "own"),
            OPENAI_API_KEY=SECRET,
            UV_INDEX_URL=f"https://user:{SECRET}@packages.example/simple",
        )
        self.private = {
            "token": self.runtime / "lsp-harness/api/api-token",
            "state": self.outside / "own/state/sessions",
            "settings": self.outside / "own/config.toml",
            "key": self.home / ".ssh/id_ed25519",
            "history": self.home / ".bash_history",
        }
        for file in self.private.values():
            file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            file.write_text(SECRET)
        for name in ATTRIBUTED:
            with contextlib.suppress(OSError):
                os.setxattr(self.private["key"].parent / name, "user.note", SECRET.encode())
        self.secrets = [self.home / name for name in SECRETS]
        for file in self.secrets:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(SECRET)
        self.target = self.home / "dotfiles/credentials"
        self.target.parent.mkdir()
        self.target.write_text(SECRET)
        (self.home / ".aws").mkdir(exist_ok=True)
        (self.home / ".netrc").symlink_to(self.target)
        for name in probes.all_probes():
            (outside / name).mkdir()
            (outside / name / "file").write_text("text")
            (outside / name / "file").chmod(0o600)
            (outside / name / "link").symlink_to("file")
            with contextlib.suppress(OSError):
                os.setxattr(outside / name / "file", "user.kept", b"kept")
        for module in (probes, file_probes, kernel_probes, probe_tools):
            shutil.copy(str(module.__file__), self.project)

    def watch_files(self, name: str) -> dict[str, object]:
        """Return everything about the files that belong to one probe."""
        found: dict[str, object] = {}
        for path in (self.outside / name, *sorted((self.outside / name).rglob("*"))):
            status = path.lstat()
            text = path.read_text() if path.is_file() else ""
            attributes = {key: os.getxattr(path, key) for key in os.listxattr(path)}
            facts = (status.st_mode, status.st_uid, status.st_gid, status.st_nlink, status.st_mtime_ns)
            found[str(path)] = (*facts, status.st_ctime_ns, text, attributes)
        return found


class Victim:
    """A process outside of the sandbox, with all its properties that others may change."""

    def __init__(self, token: Path) -> None:
        self._token = token.open()
        self._process = subprocess.Popen(
            [sys.executable, "-c", VICTIM],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=token.parent,
            pass_fds=(self._token.fileno(),),
            start_new_session=True,
        )
        assert self._process.stdout is not None
        self.pid, self.descriptor = self._process.pid, self._token.fileno()
        self.address = int(self._process.stdout.readline())

    def watch(self) -> dict[str, object]:
        """Return its state."""
        pid = self.pid
        status = Path(f"/proc/{pid}/status").read_text().splitlines()
        return {
            "traced": next(line for line in status if line.startswith("TracerPid")),
            "stopped": Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] in "TtZX",
            "limits": [resource.prlimit(pid, kind) for kind in range(16)],
            "priority": os.getpriority(os.PRIO_PROCESS, pid),
            "disk": probes.system_call(252, 31, 1, pid),
            "cores": sorted(os.sched_getaffinity(pid)),
            "schedule": os.sched_getscheduler(pid),
            "memory": Path(f"/proc/{pid}/oom_score_adj").read_text(),
            "name": Path(f"/proc/{pid}/comm").read_text(),
            "groups": Path(f"/proc/{pid}/cgroup").read_text(),
        }

    def end(self) -> str:
        """Let it end, and return the text that it had in memory. Empty if it had ended before."""
        with contextlib.suppress(BrokenPipeError):
            said, _ = self._process.communicate("\n", timeout=RUN_S)
            return said.strip()
        return ""


class Objects:
    """Sockets, objects of the kernel and a terminal outside."""

    def __init__(self, world: ProbeWorld) -> None:
        os.chdir(world.runtime)
        self._streams = {
            "runtime": world.runtime / "lsp-harness/s",
            "home": world.home / "s",
            "agent": world.home / ".ssh/agent",
            "outside": world.outside / "s",
        }
        self._sockets: dict[str, socket.socket] = {}
        for name, path in self._streams.items():
            self._bind(name, socket.SOCK_STREAM, str(path))
        self._bind("datagrams", socket.SOCK_DGRAM, str(world.home / "d"))
        self._bind("packets", socket.SOCK_SEQPACKET, str(world.outside / "p"))
        self._abstract = f"probe-{os.getpid()}"
        self._bind("abstract_datagrams", socket.SOCK_DGRAM, f"\0{self._abstract}-d")
        self._bind("abstract", socket.SOCK_STREAM, f"\0{self._abstract}")
        for name, kind in (("port", socket.SOCK_STREAM), ("datagram_port", socket.SOCK_DGRAM)):
            self._bind(name, kind, ("127.0.0.1", 0), socket.AF_INET)
        self._memory = libc.shmget(0, 100, IPC_CREAT_PRIVATE)
        libc.shmat.restype = ctypes.c_void_p
        self._at = libc.shmat(self._memory, None, 0)
        ctypes.memmove(self._at, SECRET.encode(), len(SECRET))
        self._semaphores = libc.semget(0, 1, IPC_CREAT_PRIVATE)
        self._messages = libc.msgget(0, IPC_CREAT_PRIVATE)
        libc.msgsnd(self._messages, (1).to_bytes(8, sys.byteorder) + SECRET.encode(), len(SECRET), 0)
        self._key = -1
        with contextlib.suppress(OSError):
            self._key = probes.system_call(248, 217, b"user", b"lsp-harness-probe", SECRET.encode(), len(SECRET), -4)
        self._queue = f"probe-{os.getpid()}"
        # the kernel counts the bytes of all queues of a user, and an ordinary queue has 80 KiB
        size = (ctypes.c_long * 8)(0, 1, len(SECRET), 0)
        self._queued = probes.system_call(240, 180, self._queue.encode(), os.O_CREAT | os.O_RDWR, 0o600, size)
        probes.system_call(242, 182, self._queued, SECRET.encode(), len(SECRET), 0, None)
        self._terminal, self._user = pty.openpty()
        self._shared = Path("/dev/shm", f"probe-{os.getpid()}")
        self._shared.write_text(SECRET)

    def _bind(self, name: str, kind: int, address: object, family: int = socket.AF_UNIX) -> None:
        server = self._sockets[name] = socket.socket(family, kind)
        server.bind(address)  # pyright: ignore[reportArgumentType]
        server.setblocking(False)
        if kind != socket.SOCK_DGRAM:
            server.listen()

    def describe(self) -> dict[str, Any]:
        """Return what the probes are told."""
        return {
            "sockets": {
                **{name: str(path) for name, path in self._streams.items()},
                "datagrams": self._sockets["datagrams"].getsockname(),
                "abstract": self._abstract,
                "abstract_datagrams": f"{self._abstract}-d",
                "packets": self._sockets["packets"].getsockname(),
            },
            "port": self._sockets["port"].getsockname()[1],
            "datagram_port": self._sockets["datagram_port"].getsockname()[1],
            "memory": self._memory,
            "semaphores": self._semaphores,
            "messages": self._messages,
            "queue": self._queue,
            "interfaces": [name for _, name in socket.if_nameindex() if name != "lo"],
            "terminal": os.ttyname(self._user),
            "shared": str(self._shared),
        }

    def watch(self) -> dict[str, object]:
        """Return what arrived, and the objects as they are."""
        os.set_blocking(self._terminal, False)
        typed = b""
        with contextlib.suppress(BlockingIOError):
            typed = os.read(self._terminal, 100)
        return {
            "arrived": sorted(name for name, server in self._sockets.items() if _has_arrived(server)),
            "memory": ctypes.string_at(self._at, 100) if libc.shmctl(self._memory, 2, bytes(200)) == 0 else "removed",
            "semaphores": libc.semctl(self._semaphores, 0, 12),
            "messages": libc.msgctl(self._messages, 2, bytes(200)),
            "typed": typed,
            "queue": os.pread(self._queued, 100, 0),
            "shared": self._shared.read_text(),
        }

    def close(self) -> None:
        """Remove the objects."""
        libc.shmctl(self._memory, 0, None)
        libc.semctl(self._semaphores, 0, 0)
        libc.msgctl(self._messages, 0, None)
        if self._key >= 0:
            # the same tests may run twice, and the user has one key of this name
            with contextlib.suppress(OSError):
                probes.system_call(250, 219, 9, self._key, -4)
        probes.system_call(241, 181, self._queue.encode())
        self._shared.unlink()
        for server in self._sockets.values():
            server.close()


def _has_arrived(server: socket.socket) -> bool:
    with contextlib.suppress(BlockingIOError):
        if server.type != socket.SOCK_DGRAM:
            server.accept()[0].close()
        else:
            server.recv(1)
        return True
    return False


def _try(watch: Callable[[], dict[str, object]]) -> dict[str, object]:
    try:
        return watch()
    except OSError as error:
        return {"gone": str(error)}


async def try_probes(sandbox: Sandbox, folder: Path, outside: Path) -> dict[str, Any]:
    """Return what the probes said in a sandbox, and the changes outside, by the name of the probe or the object."""
    world = ProbeWorld(folder, outside)
    token = world.private["token"]
    names = probes.all_probes()
    # each probe of a process has one of its own
    victims = {name: Victim(token) for name in names if name.startswith("processes")}
    spare, objects = Victim(token), Objects(world)
    before: dict[str, object] = {name: world.watch_files(name) for name in names}
    before |= {f"victim of {name}": victim.watch() for name, victim in {**victims, "all": spare}.items()}
    before["objects"] = objects.watch()
    told: Mapping[str, Any] = {
        **objects.describe(),
        "secret": SECRET,
        "outside": str(outside),
        "private": {name: str(path) for name, path in world.private.items()},
        "secrets": [str(path) for path in world.secrets],
        "target": str(world.target),
        "core_limit": resource.getrlimit(resource.RLIMIT_CORE)[1],
        "token_inode": token.stat().st_ino,
        "victim": spare.pid,
        "token_descriptor": spare.descriptor,
        "address": spare.address,
        "victims": {name: [victim.pid, victim.descriptor, victim.address] for name, victim in victims.items()},
    }
    (world.project / "world.json").write_text(json.dumps(told))
    visible = (Path(sys.prefix), Path(sys.base_prefix))
    program = ConfinedProgram(
        [sys.executable, "-B", "probes.py", "world.json"],
        {"TMPDIR": str(world.scratch)},
        visible,
        ResourceLimits(wall_s=RUN_S),
    )
    run = await ProjectOverlay(world.project, {}, world.scratch, sandbox).run(program)
    output = run.result.output.decode(errors="replace")
    answers = next((line for line in output.splitlines() if line.startswith("ANSWERS ")), "")
    after: dict[str, object] = {name: _try(lambda name=name: world.watch_files(name)) for name in names}
    after |= {f"victim of {name}": _try(victim.watch) for name, victim in {**victims, "all": spare}.items()}
    after["objects"] = objects.watch()
    changed = {name: [repr(before[name]), repr(after[name])] for name in before if before[name] != after[name]}
    texts = {name: victim.end() for name, victim in {**victims, "all": spare}.items()}
    changed |= {f"memory of {name}": [SECRET, text] for name, text in texts.items() if text != SECRET}
    objects.close()
    if not answers:
        raise SystemExit(f"the probes gave no answer ({run.result.end} {run.result.exit_code}): {output[-2000:]}")
    return {"answers": json.loads(answers.removeprefix("ANSWERS ")), "changed": changed}


def _choose(name: str) -> Iterator[type[Sandbox]]:
    return (sandbox for sandbox in SANDBOXES if sandbox.name == name)


def main() -> None:
    """Print what the probes did in one sandbox, or why the sandbox does not work."""
    sandbox = next(_choose(sys.argv[1]))()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    if problem := sandbox.find_problem():
        print(json.dumps({"problem": problem}))
        return
    print(json.dumps(asyncio.run(try_probes(sandbox, Path(sys.argv[2]), Path(sys.argv[3])))))


if __name__ == "__main__":
    main()
