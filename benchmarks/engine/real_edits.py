"""Real edits to replay, from the development set or from the history of a git repository.

`LSP_HARNESS_EVAL_DATA` names the folder of the development set. Its `fim_repo` cases are lines of real commits, each
with the text around them. From a repository, the lines that a commit has added are read, with the file after that
commit.
"""

import gzip
import json
import os
import re
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any, cast

from lsp_harness.errors import UsageError
from lsp_harness.files.secrets import find_secret_lines
from lsp_harness.syntax.grammars import language_for
from lsp_harness.text.document import Document
from lsp_harness.text.position import decode

EDIT_SET_FILE = "fim_repo.jsonl.gz"
DEFAULT_DATA = "../shared/data/dev"
MAX_COMMITS = 300
"""Number of commits that are read from a repository."""
MIN_EDIT_CHARS, MAX_EDIT_CHARS = 16, 2000
"""Length of an edit. A shorter one is not worth typing, a longer one was probably not typed."""
FILE_LIMIT_BYTES = 200_000
"""Size limit of a file that is edited."""
HUNK_PATTERN = re.compile(rb"^@@ -\d+,0 \+(\d+)(?:,(\d+))? @@")


@dataclass(frozen=True, slots=True)
class RealEdit:
    """The text that was written between `before` and `after`. `repo` names a repository of the development set."""

    path: str
    language: str
    before: str
    after: str
    text: str
    repo: str = ""


def load_real_edits(repo: Path | None) -> list[RealEdit]:
    """Return the edits of `repo`, or of the development set, languages in turn. Raise UsageError if there are none."""
    edits = [edit for edit in (read_repository(repo) if repo else read_development_set()) if not has_secret(edit)]
    if not edits:
        raise UsageError(f"no usable edit in {repo or 'the development set'}; name another repository with --repo")
    by_language: dict[str, list[RealEdit]] = {}
    for edit in edits:
        by_language.setdefault(edit.language, []).append(edit)
    return [edit for turn in zip_longest(*by_language.values()) for edit in turn if edit]


def has_secret(edit: RealEdit) -> bool:
    """Return whether the file contains a secret, which is never sent to a model."""
    return bool(find_secret_lines(Document.from_text(edit.path, edit.before + edit.text + edit.after)))


def choose_edits_of_different_files(edits: Sequence[RealEdit], count: int) -> list[RealEdit]:
    """Return `count` edits of different files. Files repeat if there are too few."""
    by_path = list({edit.path: edit for edit in edits}.values())
    return [by_path[number % len(by_path)] for number in range(count)]


def read_development_set() -> Iterator[RealEdit]:
    """Yield the edits of `fim_repo`. Raise UsageError if the file cannot be read."""
    file = Path(os.environ.get("LSP_HARNESS_EVAL_DATA", DEFAULT_DATA)) / EDIT_SET_FILE
    try:
        with gzip.open(file, "rt", encoding="utf-8") as lines:
            rows = [cast("dict[str, Any]", json.loads(line)) for line in lines]
    except (OSError, ValueError) as error:
        raise UsageError(
            f"{file} cannot be read ({error}): set LSP_HARNESS_EVAL_DATA to the development set, or name a git "
            "repository with --repo"
        ) from error
    for row in rows:
        case = row["input"]
        edit = RealEdit(case["path"], row["lang"], case["prefix"], case["suffix"], row["gold"], case.get("repo", ""))
        if MIN_EDIT_CHARS <= len(edit.text) <= MAX_EDIT_CHARS:
            yield edit


def read_repository(repo: Path) -> Iterator[RealEdit]:
    """Yield runs of lines that recent commits of `repo` have added, newest first, in languages with a parser."""
    for commit in _run_git(repo, "log", "--no-merges", f"-n{MAX_COMMITS}", "--format=%H").decode().split():
        for path, hunks in _find_added_runs(_run_git(repo, "show", "--unified=0", "--format=", "--no-renames", commit)):
            language = language_for("", Path(path).as_posix())
            if language is None or language.block not in ("indent", "braces", "end"):
                continue
            data = _run_git(repo, "show", f"{commit}:{path}")
            if len(data) <= FILE_LIMIT_BYTES:
                yield from _find_edits_of_file(path, language.id, decode(data), hunks)


def _find_edits_of_file(path: str, language: str, text: str, hunks: Iterable[tuple[int, int]]) -> Iterator[RealEdit]:
    lines = text.split("\n")
    for first, count in hunks:
        added = "\n".join(lines[first - 1 : first - 1 + count])
        typed_text = added.lstrip()
        if MIN_EDIT_CHARS <= len(typed_text) <= MAX_EDIT_CHARS:
            indent = added[: len(added) - len(typed_text)]
            before = "".join(line + "\n" for line in lines[: first - 1]) + indent
            yield RealEdit(path, language, before, "\n" + "\n".join(lines[first - 1 + count :]), typed_text)


def _find_added_runs(patch: bytes) -> Iterator[tuple[str, list[tuple[int, int]]]]:
    """Yield for each file of a patch without context the (first line, count) of runs that were only added."""
    path, hunks = "", list[tuple[int, int]]()
    for line in patch.split(b"\n"):
        if line.startswith(b"+++ "):
            if path and hunks:
                yield path, hunks
            name = decode(line[4:])
            path, hunks = name[2:] if name.startswith("b/") else "", []
        elif match := HUNK_PATTERN.match(line):
            hunks.append((int(match[1]), int(match[2] or 1)))
    if path and hunks:
        yield path, hunks


def _run_git(repo: Path, *arguments: str) -> bytes:
    argv: Sequence[str] = ("git", "-C", str(repo), "-c", "core.quotePath=false", *arguments)
    try:
        return subprocess.run(argv, capture_output=True, check=True).stdout
    except FileNotFoundError as error:
        raise UsageError("git is not installed, and --repo needs it") from error
    except subprocess.CalledProcessError as error:
        message = decode(error.stderr).strip().split("\n")[0]
        raise UsageError(f"{repo} cannot be read as a git repository: {message}") from error
