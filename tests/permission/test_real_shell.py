"""A real bash runs no program that the parser has not seen, unless the parser says that it cannot see all.

The programs are stubs that only write their name to a file.
"""

import os
import random
import shutil
import subprocess
from pathlib import Path

import pytest

from lsp_harness.permission.shell.command_parts import split_command

pytestmark = pytest.mark.process

STUBS = ("rm", "ls", "cat", "git", "foo")
WRAPPERS = ("env", "timeout", "nice", "xargs", "nohup", "sh")
PIECES = [
    *("rm", "ls", "cat", "git", "foo", "rm x", "ls -l", "'rm'", '"ls"', "r\\m", "$(rm)", "`rm`", '"$(rm)"', '"`rm`"'),
    *(";", "&&", "||", "|", "&", "|&", "\n", "(", ")", "{ ", " ;}", "'", '"', "\\", "#", " # ", "$x", "x=1", "x=rm"),
    *("<<E", "\nE\n", "<<'E'", "<<-E", "\n\tE\n", ">", "> f", "2>&1", "<", "<<<", ">&", "&>", "$((", "))", "[[ ", "]]"),
    *("if ", "then ", "fi", "for i in a;do ", "done", "while ", "!", "time ", "env ", "timeout 1 ", "sh -c ", "'rm x'"),
    *("eval ", "$'\\x72m'", "{rm,x}", "*", "\\\n", " ", "\t", "${x:-$(rm)}", "<(rm)", "f() {", "}", "case x in x) "),
    *(";;", "esac", "a[", "]", "=", "xargs ", "nice ", "=~", "exec ", "3>", "{fd}>", "export ", "$[", "<<\\E"),
]
FOUND_BY_CHANCE = [
    *("! ! rm", "f=`rm``rm`", "ls `rm``rm`", "time x=1 rm", "env = rm", "sh -c -c 'rm x'", ">&'`rm`' ls", "E\n\\rm"),
    *("git =~\n rm", '"ls"\\ #  rm 2>&1 "`rm`"', "\nE\n\\\n'rm' x", "ls =~\n{rm,x}", "\\ # $(rm)"),
]
"""Scripts that an earlier parser misread, found by a long run of this test."""
SEEDS = range(120)


class Sandbox:
    """A folder in which a bash can only run stubs."""

    def __init__(self, folder: Path) -> None:
        self._programs, self._log, self._folder = folder / "programs", folder / "log", folder / "work"
        for path in (self._programs, self._folder):
            path.mkdir()
        for name in STUBS:
            stub = self._programs / name
            stub.write_text('#!/bin/sh\nprintf "%s\\n" "${0##*/}" >> "$STUB_LOG"\necho rm x\n')
            stub.chmod(0o755)
        for name in WRAPPERS:
            if path := shutil.which(name):
                os.symlink(path, self._programs / name)

    def run(self, script: str) -> set[str]:
        """Return the names of the stubs that a script runs."""
        self._log.write_text("")
        environment = {"PATH": str(self._programs), "STUB_LOG": str(self._log), "HOME": str(self._folder)}
        subprocess.run(
            ["/bin/bash", "--norc", "--noprofile", "-c", f"{script}\nwait"],
            env=environment,
            cwd=self._folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=20,
            check=False,
        )
        return set(self._log.read_text().split())


@pytest.fixture
def sandbox(tmp_path: Path) -> Sandbox:
    return Sandbox(tmp_path)


def check(sandbox: Sandbox, script: str) -> None:
    split = split_command(script)
    if not split.opaque_reasons:
        assert sandbox.run(script) <= {part.name for part in split.parts}, script


needs_bash = pytest.mark.skipif(not Path("/bin/bash").exists(), reason="there is no bash to compare with")


@needs_bash
def test_the_stubs_run(sandbox: Sandbox) -> None:
    assert sandbox.run("ls; env rm; sh -c 'git x' | cat") == {"ls", "rm", "git", "cat"}


@needs_bash
@pytest.mark.parametrize("script", FOUND_BY_CHANCE)
def test_a_script_that_was_misread(sandbox: Sandbox, script: str) -> None:
    check(sandbox, script)


@needs_bash
def test_random_scripts_run_no_program_that_the_parser_has_not_seen(sandbox: Sandbox) -> None:
    for seed in SEEDS:
        chance = random.Random(seed)
        pieces = [chance.choice(PIECES) + chance.choice(["", " "]) for _ in range(chance.randint(1, 8))]
        script = "".join(pieces)
        if "while" not in script:
            check(sandbox, script)
