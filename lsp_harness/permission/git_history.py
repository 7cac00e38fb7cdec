"""The search for files with secrets that only the history of a repository has.

git itself lists the names of all files that a commit added. It runs with a limit of time, starts no program of the
repository, and its answer is kept until a reference changes.
"""

import os
import subprocess
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from lsp_harness.files.secrets import is_secret_path
from lsp_harness.permission.git_files import common_folder, find_git_folder
from lsp_harness.process.safe_git import SAFE_OPTIONS, safe_environment

LIMIT_S = 1.5
"""Longest time of the search. It is over long before in most repositories."""
MAX_REFERENCES = 5_000
State = tuple[tuple[str, int, int], ...]


def history_objection(folder: str) -> str:
    """Return why the history of the repository of a folder may show secrets; empty if it does not."""
    place = find_git_folder(folder)
    if not place or not (common_folder(Path(place)) / "objects").is_dir():
        return ""
    state = tuple(_states(Path(place)))
    if len(state) > MAX_REFERENCES:
        return "the repository has too many references to look for secrets in all of them"
    return _search(folder, state)


@lru_cache(maxsize=8)
def _search(folder: str, state: State) -> str:
    """Return the objection for a state of the references, which is a part of the question."""
    # without patterns for names, git takes a tenth of the time; each file was added by some commit
    command = ["git", *SAFE_OPTIONS, "-c", "log.showRoot=true", "log", "--all", "--reflog", "-c", "--diff-filter=A"]
    command += ["--no-renames", "--format=", "--name-only", "-z"]
    try:
        result = subprocess.run(
            command,
            cwd=folder,
            env=safe_environment(os.environ),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=LIMIT_S,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        output, problem = error.stdout or b"", "the history of git is too long to look for secrets in all of it"
    except OSError:
        return ""
    else:
        output, problem = result.stdout, "the history of git cannot be read" if result.returncode else ""
    for name in output.decode("utf-8", "replace").replace("\n", "\0").split("\0"):
        if is_secret_path(name):
            return f"the history of git keeps {name}, which may contain secrets"
    return problem


def _states(place: Path) -> Iterator[tuple[str, int, int]]:
    """Yield the names, times and sizes of the files that change with the references of a repository."""
    common = common_folder(place)
    for path in (place / "HEAD", place / "logs" / "HEAD", common / "packed-refs", common / "reftable" / "tables.list"):
        yield _state(path)
    count = 0
    for base in (common / "refs", common / "logs" / "refs"):
        for folder, _, names in os.walk(base):
            for name in (".", *names):
                count += 1
                if count > MAX_REFERENCES:
                    return
                yield _state(Path(folder, name))


def _state(path: Path) -> tuple[str, int, int]:
    try:
        status = path.stat()
    except OSError:
        return str(path), 0, 0
    return str(path), status.st_mtime_ns, status.st_size
