"""Real edits to replay: from the development set, or from the history of a git repository.

The development set is found by `LSP_HARNESS_EVAL_DATA`; its `fim_repo` cases are lines that somebody committed, each with
the text around it. A repository gives the same: lines a commit added, in the file as that commit left it.
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
from lsp_harness.files.secrets import secret_lines
from lsp_harness.syntax.languages import language_for
from lsp_harness.text.document import Document
from lsp_harness.text.position import decode

SET = "fim_repo.jsonl.gz"
DEFAULT_DATA = "../shared/data/dev"
COMMITS = 300
"""How far back the history of a repository is read."""
SHORTEST, LONGEST = 16, 2000
"""Characters of an edit: less is no typing, more was not typed."""
LARGEST = 200_000
"""Bytes of a file that is edited."""
HUNK = re.compile(rb"^@@ -\d+,0 \+(\d+)(?:,(\d+))? @@")


@dataclass(frozen=True, slots=True)
class RealEdit:
    """`text` was written between `before` and `after`. `repo` is the name of a repository of the development set."""

    path: str
    language: str
    before: str
    after: str
    text: str
    repo: str = ""


def real_edits(repo: Path | None) -> list[RealEdit]:
    """Edits of `repo`, or of the development set without one; languages take turns. Raises UsageError without any."""
    found = [edit for edit in (from_repository(repo) if repo else from_development_set()) if not secret(edit)]
    if not found:
        raise UsageError(f"no usable edit in {repo or 'the development set'}; name another repository with --repo")
    by_language: dict[str, list[RealEdit]] = {}
    for edit in found:
        by_language.setdefault(edit.language, []).append(edit)
    return [edit for turn in zip_longest(*by_language.values()) for edit in turn if edit]


def secret(edit: RealEdit) -> bool:
    """Whether the file has lines that are never given to a model."""
    return bool(secret_lines(Document.from_text(edit.path, edit.before + edit.text + edit.after)))


def distinct(edits: Sequence[RealEdit], count: int) -> list[RealEdit]:
    """Edits of different files, as many as there are up to `count`; files repeat where there are fewer."""
    by_path = list({edit.path: edit for edit in edits}.values())
    return [by_path[number % len(by_path)] for number in range(count)]


def from_development_set() -> Iterator[RealEdit]:
    """The edits of `fim_repo`."""
    file = Path(os.environ.get("LSP_HARNESS_EVAL_DATA", DEFAULT_DATA)) / SET
    try:
        with gzip.open(file, "rt", encoding="utf-8") as lines:
            rows = [cast("dict[str, Any]", json.loads(line)) for line in lines]
    except (OSError, ValueError) as error:
        raise UsageError(
            f"{file} cannot be read ({error}): set LSP_HARNESS_EVAL_DATA to the development set, or name a git "
            "repository with --repo"
        ) from error
    for row in rows:
        given = row["input"]
        edit = RealEdit(
            given["path"], row["lang"], given["prefix"], given["suffix"], row["gold"], given.get("repo", "")
        )
        if SHORTEST <= len(edit.text) <= LONGEST:
            yield edit


def from_repository(repo: Path) -> Iterator[RealEdit]:
    """Runs of lines that recent commits of `repo` added, newest first, in languages we can parse."""
    for commit in _git(repo, "log", "--no-merges", f"-n{COMMITS}", "--format=%H").decode().split():
        for path, hunks in _added(_git(repo, "show", "--unified=0", "--format=", "--no-renames", commit)):
            language = language_for("", Path(path).as_posix())
            if language is None or language.block not in ("indent", "braces", "end"):
                continue
            data = _git(repo, "show", f"{commit}:{path}")
            if len(data) <= LARGEST:
                yield from _holes(path, language.id, decode(data), hunks)


def _holes(path: str, language: str, text: str, hunks: Iterable[tuple[int, int]]) -> Iterator[RealEdit]:
    lines = text.split("\n")
    for first, count in hunks:
        added = "\n".join(lines[first - 1 : first - 1 + count])
        typed = added.lstrip()
        if SHORTEST <= len(typed) <= LONGEST:
            indent = added[: len(added) - len(typed)]
            before = "".join(line + "\n" for line in lines[: first - 1]) + indent
            yield RealEdit(path, language, before, "\n" + "\n".join(lines[first - 1 + count :]), typed)


def _added(patch: bytes) -> Iterator[tuple[str, list[tuple[int, int]]]]:
    """Per file of a patch without context: (first line, count) of the runs that were only added."""
    path, hunks = "", list[tuple[int, int]]()
    for line in patch.split(b"\n"):
        if line.startswith(b"+++ "):
            if path and hunks:
                yield path, hunks
            name = decode(line[4:])
            path, hunks = name[2:] if name.startswith("b/") else "", []
        elif found := HUNK.match(line):
            hunks.append((int(found[1]), int(found[2] or 1)))
    if path and hunks:
        yield path, hunks


def _git(repo: Path, *arguments: str) -> bytes:
    argv: Sequence[str] = ("git", "-C", str(repo), "-c", "core.quotePath=false", *arguments)
    try:
        return subprocess.run(argv, capture_output=True, check=True).stdout
    except FileNotFoundError as error:
        raise UsageError("git is not installed, and --repo needs it") from error
    except subprocess.CalledProcessError as error:
        said = decode(error.stderr).strip().split("\n")[0]
        raise UsageError(f"{repo} cannot be read as a git repository: {said}") from error
