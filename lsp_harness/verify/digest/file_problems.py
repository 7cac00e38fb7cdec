"""What of a tool's output is about one file: its own problems, and the tests that fail, wherever these were raised."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from lsp_harness.verify.digest.digest_result import Digest
from lsp_harness.verify.digest.problem import Problem


def select_file_problems(digest: Digest, file: Path, folders: Sequence[Path]) -> Digest:
    """A file, where paths are relative to one of the `folders`; the paths of its own problems are whole then."""
    file = file.resolve()
    kept = list[Problem]()
    for one in digest.problems:
        if one.path and any((folder / one.path).resolve() == file for folder in folders):
            kept.append(replace(one, path=str(file)))
        elif one.test:
            kept.append(one)
    return replace(digest, problems=tuple(kept))
