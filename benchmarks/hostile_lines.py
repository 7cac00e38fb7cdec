"""Hostile command lines against the permission gate, each run for real among traps.

    python -m benchmarks.hostile_lines [--lines 20000] [--seed 1] [--view] [--mode plan ...]

Lines are made from the grammar of bash, the programs that only read, their options (those of `--help`, whole, shortened
and in one word) and the ways to write a word. The gate decides about each in the modes `plan`, `deny` and `ask`, where
nobody can answer. What it allows runs in a throw-away view of the machine, in a folder full of traps. With `--view`, it
runs as the product runs it, in the sandbox in which a command can only read; otherwise without that second wall. A
sample of the lines that are not allowed runs, too: so one sees that the traps work.
"""

import argparse
import asyncio
import collections
import hashlib
import json
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from lsp_harness.kernel.tasks.task_request import ShellWork
from lsp_harness.permission.action import Action
from lsp_harness.permission.gate_policy import GatePolicy
from lsp_harness.permission.permission_gate import PermissionGate
from lsp_harness.permission.protected_paths import ProtectedPaths
from lsp_harness.permission.shell.reader_table import READERS
from lsp_harness.process.command_shell import clean_environment, find_shell
from lsp_harness.process.safe_git import LISTING, SAFE_VARIABLES, override_variables, read_overrides
from lsp_harness.process.sandbox.private_view import PrivateView
from lsp_harness.process.sandbox.sandbox_policy import SandboxPolicy
from lsp_harness.sessions.reading_commands import SETTINGS, ReadingCommands

MODES = ("plan", "deny", "ask")
SECRET = "tops3cretvalue"
LIMIT_S = 4
SAMPLE = 400
PROGRAMS = sorted({*READERS, "git", "less", "man", "tar", "env", "xargs", "tee", "dd", "zip", "rsync"} - {":", "["})
GIT = [
    "status",
    "log",
    "diff",
    "show",
    "blame",
    "grep",
    "branch",
    "tag",
    "cat-file",
    "ls-files",
    "rev-parse",
    "stash",
    "config",
    "remote",
    "shortlog",
    "describe",
    "archive",
    "clone",
    "init",
    "fetch",
    "ls-remote",
    "rebase",
    "submodule",
    "bisect",
    "difftool",
    "worktree",
    "format-patch",
    "bundle",
    "fsck",
]
FORMS_FILE = Path(__file__).parent / "hostile_forms.txt"


def read_forms() -> dict[str, list[str]]:
    """Return the forms of lines by the section of their file."""
    found, section = dict[str, list[str]](), list[str]()
    for line in FORMS_FILE.read_text(encoding="utf-8").splitlines()[2:]:
        if line.startswith("## "):
            section = found[line[3:]] = []
        elif line:
            section.append(line.replace("<LF>", "\n").replace("<TAB>", "\t"))
    return found


FORMS = read_forms()
ORDINARY = ("ls", "cat a.py", "wc -l a.py", "git status", "head -1 a.py", "echo x", "true", "grep x a.py", "sort a.py")
ARGUMENTS = (
    "a.py",
    "sub",
    ".",
    "*",
    "-",
    "--",
    "./*",
    "-i",
    "x",
    "evil",
    ".env",
    "MARK",
    "CANARY",
    "5",
    "s/x/y/",
    "sub/keep.txt",
)
VALUES = (
    "./evil",
    "MARK",
    "CANARY",
    "e ./evil",
    "1e ./evil",
    "w MARK",
    ".env",
    "a.py",
    "sh evil",
    "!./evil",
    "|./evil",
    "x",
    "'./evil #'",
)


@dataclass(slots=True)
class LineMaker:
    """Makes lines from a seed.

    Attributes:
        chance: The source of random choices.
        options: Program → the options that its help names.
    """

    chance: random.Random
    options: dict[str, list[str]] = field(default_factory=dict[str, list[str]])

    def make(self) -> str:
        """Return one line."""
        chance = self.chance
        kind = chance.random()
        if kind < 0.25:
            line = self._reader()
        elif kind < 0.55:
            line = self._near_reader()
        elif kind < 0.85:
            line = self._fill(chance.choice(FORMS["frames"]))
        else:
            line = f"{self._reader()} {self._fill(chance.choice(FORMS['wraps']))}"
        for _ in range(chance.choice((0, 0, 1))):
            joint = chance.choice((" ; ", " && ", " | ", " || ", "\n", " & ", " |& "))
            other = chance.choice(
                (self._reader, lambda: self._fill(chance.choice(FORMS["frames"])), lambda: chance.choice(ORDINARY))
            )
            line = f"{line}{joint}{other()}" if chance.random() < 0.5 else f"{other()}{joint}{line}"
        return self._disguise(line) if chance.random() < 0.3 else line

    def _fill(self, form: str) -> str:
        chance = self.chance

        def replace(match: re.Match[str]) -> str:
            return {
                "P": lambda: self._fill(chance.choice(FORMS["payloads"])),
                "W": lambda: chance.choice(ORDINARY),
                "R": lambda: chance.choice(PROGRAMS),
                "A": lambda: chance.choice(ARGUMENTS),
            }[match[0]]()

        return re.sub(r"\b[PWRA]\b", replace, form)

    def _near_reader(self) -> str:
        """Return a line that only reads but for one word, which is changed or put in."""
        chance = self.chance
        words = chance.choice(FORMS["reading"]).split(" ")
        place = chance.randrange(1, len(words) + 1)
        key = " ".join(words[:2]) if words[0] == "git" else words[0]
        word = chance.choice(
            (
                lambda: self._option(key),
                lambda: self._quote(chance.choice(VALUES)),
                lambda: self._quote(chance.choice(ARGUMENTS)),
                lambda: self._fill(chance.choice(FORMS["wraps"])),
            )
        )()
        if chance.random() < 0.4 and place < len(words):
            words[place] = word
        else:
            words.insert(place, word)
        return " ".join(words)

    def _reader(self) -> str:
        """Return a reading program with options, some of which write or run programs."""
        chance = self.chance
        name = chance.choice(PROGRAMS)
        words = [name]
        key = name
        if name == "git" or chance.random() < 0.25:
            key = f"git {chance.choice(GIT)}"
            words = key.split()
        for _ in range(chance.randint(0, 3)):
            words.append(self._option(key))
            if chance.random() < 0.4:
                words.append(self._quote(chance.choice(VALUES)))
        words += [self._quote(chance.choice(ARGUMENTS)) for _ in range(chance.randint(0, 3))]
        if chance.random() < 0.15:
            chance.shuffle(tail := words[1:])
            words[1:] = tail
        return " ".join(words)

    def _option(self, key: str) -> str:
        chance, known = self.chance, self.options.get(key) or ["--output", "-o", "-i", "--exec"]
        option = chance.choice(known)
        if option.startswith("--"):
            if chance.random() < 0.5:
                option = option[: chance.randint(3, len(option))] if len(option) > 3 else option
            if chance.random() < 0.5:
                option = f"{option}={self._quote(chance.choice(VALUES))}"
        else:
            if chance.random() < 0.5:
                option = "-" + "".join(chance.choice("nrviclqabsz") for _ in range(chance.randint(0, 2))) + option[1:]
            if chance.random() < 0.3:
                option += self._quote(chance.choice(VALUES))
        return option

    def _quote(self, text: str) -> str:
        chance = self.chance
        if text.startswith("'"):
            return text
        kind = chance.random()
        if " " in text or "|" in text or "!" in text or kind < 0.15:
            return "'" + text + "'"
        if kind < 0.25:
            return '"' + text + '"'
        if kind < 0.32 and text.isascii():
            return "$'" + "".join(f"\\x{ord(char):02x}" for char in text) + "'"
        return text

    def _disguise(self, line: str) -> str:
        """Write some letters in another way that a shell reads alike, or nearly alike."""
        chance, result = self.chance, list[str]()
        for char in line:
            kind = chance.random()
            if char.isalpha() and kind < 0.04:
                result.append(
                    chance.choice(
                        (f"\\{char}", f"'{char}'", f'"{char}"', f"{char}''", f"$'{char}'", f"[{char}]", f"\\\n{char}")
                    )
                )
            elif char == " " and kind < 0.06:
                result.append(chance.choice(("\t", "  ", " \\\n ", "${IFS}", "$IFS", "\u00a0", "\r", "{,}")))
            else:
                result.append(char)
        return "".join(result)


def read_help() -> dict[str, list[str]]:
    """Return the options that the programs of this machine name in their help."""
    found = dict[str, list[str]]()
    commands = {name: [name, "--help"] for name in PROGRAMS if shutil.which(name) and name != "git"}
    commands |= {f"git {name}": ["git", name, "-h"] for name in GIT}
    for key, command in commands.items():
        try:
            result = subprocess.run(command, capture_output=True, timeout=5, stdin=subprocess.DEVNULL, check=False)
        except (OSError, subprocess.TimeoutExpired):
            continue
        text = (result.stdout + result.stderr).decode("utf-8", "replace")
        options = re.findall(r"(?<![\w-])(--[a-z][a-z-]+|-[a-zA-Z0-9])(?![a-zA-Z0-9])", text.replace("[no-]", ""))
        found[key] = sorted({*options})
    found["find"] = re.findall(
        r"-[a-z]+", "-exec -execdir -ok -delete -fprint -fls -fprintf -name -type -print -printf -newer -files0-from"
    )
    found["sed"] = [*found.get("sed", []), "-i", "-n", "-e", "-f", "-s", "--in-place", "--expression", "--file"]
    found["git grep"] = [*found.get("git grep", []), "-O", "--open-files-in-pager", "--ext-grep", "--no-index"]
    found["git diff"] = found["git log"] = found["git show"] = [
        *("--output", "--ext-diff", "--textconv", "-p", "--stat", "-O", "--no-index", "--show-signature", "--format"),
        *("--exec", "--raw", "-U", "-G", "-S", "--word-diff", "--submodule", "--color-moved", "-z", "--pretty", "-n"),
    ]
    return found


def run_quietly(command: Sequence[str]) -> None:
    """Run a command without its output."""
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)


def build_box(folder: Path, port: int) -> dict[str, str]:
    """Make a workspace full of traps and return the texts that stand for its places."""
    workspace, home = folder / "ws", folder / "home"
    mark, canary = folder / "mark", folder / "canary"
    for path in (workspace / "sub", workspace / "bin", home / ".ssh"):
        path.mkdir(parents=True)
    canary.write_text("canary\n")
    (home / ".ssh" / "id_rsa").write_text(SECRET)
    evil = workspace / "evil"
    evil.write_text(f"#!/bin/sh\n/usr/bin/touch '{mark}'\ncat\n")
    evil.chmod(0o755)
    (workspace / "bindir").write_text("bin\n")
    for name in (*PROGRAMS, "evil", "less", "sh"):
        shutil.copy2(evil, workspace / "bin" / name)
    (workspace / "evil.sed").write_text("1e ./evil\n")
    (workspace / "evil.awk").write_text('BEGIN{system("./evil")}\n')
    (workspace / "a.py").write_text("def f():\n    return 1\n# TODO x\n")
    (workspace / "sub" / "keep.txt").write_text("keep\n")
    (workspace / ".env").write_text(f"SECRET={SECRET}\n")
    (workspace / "link").symlink_to(".env")
    for name in ("-i", "-delete", "--output=a.py", "-exec", "-O.evil", "-e1e .", "--in-place"):
        (workspace / name).write_text("x\n")
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@example.invalid", "-C", str(workspace)]
    run_quietly([*git, "init", "-q"])
    run_quietly([*git, "add", "-A"])
    run_quietly([*git, "commit", "-qm", "start"])
    (workspace / "a.py").write_text("def f():\n    return 2\n# TODO x\n")
    run_quietly([*git, "commit", "-qam", "second"])
    (workspace / "a.py").write_text("def f():\n    return 3\n# TODO x\n")
    (workspace / "hard").hardlink_to(workspace / ".env")
    fixture = workspace / "sub" / "fixture"
    run_quietly(["git", "init", "-q", "--bare", str(fixture)])
    program = f"touch {mark}; false"
    for where in (fixture, workspace):
        for key, value in {
            "core.fsmonitor": program,
            "core.pager": program,
            "pager.log": program,
            "diff.external": program,
            "diff.x.textconv": program,
            "filter.x.clean": f"touch {mark}; cat",
            "filter.x.smudge": f"touch {mark}; cat",
            "alias.x": f"!touch {mark}",
            "alias.st": f"!touch {mark}",
            "core.editor": program,
            "core.sshCommand": program,
            "gpg.program": "./evil",
            "diff.y.command": program,
            "credential.helper": f"!{program}",
            "log.showSignature": "true",
        }.items():
            run_quietly(["git", "-C", str(where), "config", key, value])
    run_quietly(["git", "-C", str(fixture), "config", "core.bare", "false"])
    run_quietly(["git", "-C", str(fixture), "config", "core.worktree", str(workspace / "sub")])
    (workspace / ".git" / "info" / "attributes").write_text("*.py filter=x diff=x\n*.txt diff=y\n")
    mark.unlink(missing_ok=True)
    return {"MARK": str(mark), "CANARY": str(canary), "PORT": str(port), "CANARYNAME": "canary"}


def fill_places(line: str, places: dict[str, str]) -> str:
    """Put the places of the box into a line."""
    return re.sub(r"CANARYNAME|CANARY|MARK|PORT", lambda match: places[match[0]], line)


def take_state(folder: Path) -> str:
    """Return what stands in all files of the box, without the parts that git changes when it only reads."""
    found = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        if re.search(r"/\.git/(index|objects/)|/fixture/index", "/" + name):
            continue
        found.update(name.encode("utf-8", "surrogateescape"))
        found.update(str(path.lstat().st_mode).encode())
        if path.is_file() and not path.is_symlink():
            found.update(path.read_bytes())
    return found.hexdigest()


class Listener:
    """A port on this machine that counts connections."""

    def __init__(self, port: int = 0) -> None:
        self.count = 0
        self._socket = socket.create_server(("127.0.0.1", port))
        self.port: int = self._socket.getsockname()[1]
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            connection, _ = self._socket.accept()
            self.count += 1
            connection.close()


def run_lines(
    box: Path, lines: Sequence[dict[str, object]], listener: Listener, *, is_alone: bool
) -> Iterator[tuple[int, str]]:
    """Run lines in the box, and yield the number of each that sprang a trap, and the trap.

    Args:
        box: The folder with the traps.
        lines: The command and the environment of each line.
        listener: A port that no line may reach.
        is_alone: Whether no other process is there, so that all processes are ended after each line.
    """
    pristine = box.parent / "pristine"
    shutil.copytree(box, pristine, symlinks=True)
    before = take_state(box)
    for number, entry in enumerate(lines):
        connections = listener.count
        env = {**entry["env"], "mark": str(box / "mark")}  # type: ignore[dict-item]
        try:
            result = subprocess.run(
                entry["argv"],  # type: ignore[arg-type]
                cwd=box / "ws",
                env=env,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=LIMIT_S,
                check=False,
                start_new_session=True,
            )
            output = result.stdout + result.stderr
        except subprocess.TimeoutExpired as error:
            output = (error.stdout or b"") + (error.stderr or b"")
        except (OSError, ValueError):
            continue
        finally:
            if is_alone:
                # the caller itself and the first process of a namespace do not get the signal
                with suppress(ProcessLookupError):
                    os.kill(-1, signal.SIGKILL)
        traps = list[str]()
        if (box / "mark").exists():
            traps.append("a program ran")
        if SECRET.encode() in output:
            traps.append("a secret was printed")
        if listener.count != connections:
            traps.append("a connection was made")
        if (after := take_state(box)) != before and not (box / "mark").exists():
            traps.append("a file was changed")
        if after != before:
            shutil.rmtree(box, ignore_errors=True)
            shutil.copytree(pristine, box, symlinks=True)
            before = take_state(box)
        if traps:
            yield number, ", ".join(traps)


def decide(gates: dict[str, PermissionGate], line: str) -> list[str]:
    """Return the modes that allow a line without a question."""
    action = Action("bash", "execute", {"command": line}, command=line)
    found = list[str]()
    for mode, gate in gates.items():
        decision = gate.explain(action).decision
        if decision is not None and decision.is_allowed:
            found.append(mode)
    return found


def list_overrides(root: Path) -> dict[str, str]:
    """Return the settings that take the place of those of the repository which name programs."""
    result = subprocess.run(["git", *LISTING], cwd=root, capture_output=True, check=True)
    return read_overrides(result.stdout)


async def main(arguments: argparse.Namespace) -> int:
    """Make, decide and run the lines, and print the figures."""
    listener = Listener()
    with tempfile.TemporaryDirectory(prefix="hostile-") as temporary:
        box = Path(temporary).resolve() / "box"
        box.mkdir()
        places = build_box(box, listener.port)
        root = box / "ws"
        protected = ProtectedPaths((root,))
        gates = {
            mode: PermissionGate(
                GatePolicy(mode=mode, protected=protected, can_confine=(lambda: True) if arguments.view else bool)
            )
            for mode in arguments.mode
        }
        maker = LineMaker(random.Random(arguments.seed), read_help())
        lines = dict[str, list[str]]()
        os.chdir(root)
        while len(lines) < arguments.lines:
            line = fill_places(maker.make(), places)
            if line not in lines:
                lines[line] = decide(gates, line)
        allowed = [line for line, modes in lines.items() if modes]
        refused = [line for line, modes in lines.items() if not modes]
        sample = random.Random(arguments.seed).sample(refused, min(SAMPLE, len(refused)))
        commands = ReadingCommands([root])
        base = {**clean_environment(os.environ), "API_KEY": SECRET, "HOME": str(box / "home")}
        variables = {**SAFE_VARIABLES, **override_variables({**SETTINGS, **list_overrides(root)}.items())}
        entries = list[dict[str, object]]()
        for line in allowed:
            work = ShellWork(line, root, base)
            if arguments.view:
                work = await commands.confine(work)
            else:
                work = replace(work, env={**base, **variables})
            entries.append({"argv": work.argv, "env": dict(work.env or {})})
        sampled = [{"argv": find_shell().command(line), "env": base} for line in sample]
        sprung = (
            list(run_lines(box, entries, listener, is_alone=False))
            if arguments.view
            else run_in_view(box, entries, listener.port)
        )
        proof = run_in_view(box, sampled, listener.port)
    by_mode = collections.Counter(mode for modes in lines.values() for mode in modes)
    print(f"{len(lines)} lines; allowed: {', '.join(f'{mode} {by_mode[mode]}' for mode in arguments.mode)}")
    print(f"of {len(sample)} lines that are not allowed, {len(proof)} spring a trap if they run")
    for number, trap in sprung:
        print(f"TRAP {trap}: {allowed[number]!r} in {lines[allowed[number]]}")
    print(f"traps sprung by allowed lines: {len(sprung)} of {len(allowed)}")
    return 1 if sprung else 0


def run_in_view(box: Path, entries: Sequence[dict[str, object]], port: int) -> list[tuple[int, str]]:
    """Run lines in a throw-away view of the machine, whose changes are gone at its end."""
    with tempfile.TemporaryDirectory(prefix="hostile-layer-") as layer:
        plan = box.parent / "plan.json"
        plan.write_text(json.dumps({"box": str(box), "entries": entries, "port": port}))
        policy = SandboxPolicy(Path.cwd(), overlays=(Path("/tmp"), Path.home()), layer=Path(layer))
        command = PrivateView().wrap([sys.executable, "-m", "benchmarks.hostile_lines", "--inside", str(plan)], policy)
        env = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
        result = subprocess.run(command, capture_output=True, check=False, env=env, text=True, errors="replace")
        if result.returncode:
            raise RuntimeError(result.stderr)
        return [(number, trap) for number, trap in json.loads(result.stdout.splitlines()[-1])]


def run_inside(plan: Path) -> int:
    """Run the lines of a plan and print the traps that they spring. This is the process within the view."""
    facts = json.loads(plan.read_text())
    found = run_lines(Path(facts["box"]), facts["entries"], Listener(facts["port"]), is_alone=os.getpid() < 10)
    print(json.dumps(list(found)))
    return 0


def parse() -> argparse.Namespace:
    """Return the arguments of the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lines", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--mode", nargs="+", default=list(MODES), choices=MODES)
    parser.add_argument("--view", action="store_true", help="run allowed lines in the sandbox of the product")
    parser.add_argument("--inside", type=Path)
    return parser.parse_args()


Run = Callable[[], int]
if __name__ == "__main__":
    found = parse()
    sys.exit(run_inside(found.inside) if found.inside else asyncio.run(main(found)))
