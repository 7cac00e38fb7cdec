"""Random ignore files and random names, held against `git check-ignore`."""

import os
import random
import subprocess
from pathlib import Path

import pytest

from lsp_harness.files.ignore_files import IgnoreFiles
from lsp_harness.files.ignore_patterns import compile_pattern, convert_path_to_byte_text

pytestmark = pytest.mark.process

PATTERNS = [
    *(
        b"a",
        b"b",
        b"*",
        b"?",
        b"**",
        b"***",
        b"/",
        b"/",
        b"/",
        b" ",
        b"\t",
        b"!",
        b"#",
        b"{",
        b"(",
        b"$",
        b"^",
        b".",
        b"--",
    ),
    *(b"[ab]", b"[!a]", b"[^b-]", b"[b-a]", b"[]a]", b"[a/b]", b"[--a]", b"[", b"]", b"[\\]]", b"\\", b"\\*", b"\\ "),
    *(b"[[:alpha:]]", b"[[:x:]]", b"[[...slug]]", b"[a&&b]", b"[~~a||]", b"\xc3\xa9", b"\xe9", b"[\xa0-\xff]"),
]
NAMES = [
    *(
        b"a",
        b"b",
        b"a",
        b"b",
        b"ab",
        b"*",
        b"s",
        b"]",
        b"[",
        b"\xc3\xa9",
        b"\xe9",
        b" ",
        b"!",
        b"#",
        b"-",
        b"&",
        b"\t",
        b"\n",
    ),
    *(b"{", b".x", b"l", b"|", b"(", b"$", b"^"),
]
ROUNDS = 60


def list_ignored_by_git(root: Path, names: set[bytes]) -> set[bytes]:
    command = ["git", "-C", str(root), "check-ignore", "--no-index", "-z", "--stdin"]
    environment = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull}
    said = subprocess.run(command, input=b"\0".join(names) + b"\0", capture_output=True, check=False, env=environment)
    return set(said.stdout.split(b"\0")) - {b""}


def test_random_patterns_ignore_the_same_paths_as_in_git(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    rng, ignored = random.Random(27), 0
    for _ in range(ROUNDS):
        lines = [b"".join(rng.choices(PATTERNS, k=rng.randint(1, 6))) for _ in range(rng.randint(1, 3))]
        (tmp_path / ".gitignore").write_bytes(b"\n".join(lines))
        names = {
            b"/".join(b"".join(rng.choices(NAMES, k=rng.randint(1, 3))) for _ in range(rng.randint(1, 4)))
            for _ in range(20)
        }
        wanted, ours = list_ignored_by_git(tmp_path, names), IgnoreFiles([tmp_path])
        assert {name for name in names if ours.ignoring_file(tmp_path / os.fsdecode(name))} == wanted, lines
        ignored += len(wanted)
    assert ignored > ROUNDS


def test_lines_end_at_the_same_places_as_in_git() -> None:
    for line, name, ignored in (
        (b"a\r", "a", True),
        (b"a\x85b", "a\udc85b", True),
        (b"a\x0cb", "b", False),
        ("a\u2028b".encode(), "b", False),
        (b"a\0b", "a", True),
        (b"a  ", "a", True),
        (b"a\\  ", "a ", True),
        (b"a\t", "a\t", True),
        ("\u00e0".encode(), "\u00e0", True),
    ):
        pattern = compile_pattern(line)
        assert pattern
        assert bool(pattern[0].search(convert_path_to_byte_text(name))) is ignored, line
