"""Selects the problems of one file from a digest."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from lsp_harness.verify.digest.digest_result import Digest
from lsp_harness.verify.digest.problem import Problem


def select_file_problems(digest: Digest, file: Path, folders: Sequence[Path]) -> Digest:
    """Return the digest with only the problems in a file and the failing tests of any file.

    A test file that cannot be imported counts as a failing test, unless it lacks a module.

    Args:
        digest: The digest of a tool's output.
        file: The file.
        folders: The folders that the paths in the digest may be relative to.

    Returns:
        The digest. The problems in the file have its absolute path.
    """
    file = file.resolve()
    problems = list[Problem]()
    for problem in digest.problems:
        if problem.path and any((folder / problem.path).resolve() == file for folder in folders):
            problems.append(replace(problem, path=str(file)))
        elif problem.failed_id and not problem.lacks_module:
            problems.append(problem)
    return replace(digest, problems=tuple(problems))
