"""The folders of the edits and their indexes. Repositories of the development set are written to disk."""

import json
import lzma
import os
import shutil
import tempfile
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from benchmarks.engine.real_edits import DEFAULT_DATA, RealEdit
from lsp_harness.index.builder.indexer import open_indexer
from lsp_harness.index.index_query import IndexQuery, open_index

REPOSITORY_FILES = "repos_fim.jsonl.xz"
"""File of the development set with the files of its repositories."""

Reporter = Callable[[str], None]


class Workspaces:
    """The indexes by name of the repository. An edit of a repository whose files are missing has no index."""

    def __init__(self, indexes: dict[str, IndexQuery]) -> None:
        self._indexes = indexes

    def index_of(self, edit: RealEdit) -> IndexQuery | None:
        """Return the index of the folder of an edit."""
        return self._indexes.get(edit.repo)

    @property
    def count(self) -> int:
        """Return the number of repositories with an index."""
        return len(self._indexes)


@contextmanager
def open_workspaces(edits: Sequence[RealEdit], repo: Path | None, say: Reporter) -> Generator[Workspaces]:
    """Index the folders of these edits. Delete the written files afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="lh-"))
    indexes: dict[str, IndexQuery] = {}
    with ExitStack() as stack:
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        for name, root in _find_roots(edits, repo, folder):
            say(f"indexing {name or root.name}")
            database = folder / f"{len(indexes)}.db"
            with open_indexer(root, database) as indexer:
                indexer.scan()
            indexes[name] = stack.enter_context(open_index(database))
        yield Workspaces(indexes)


def _find_roots(edits: Sequence[RealEdit], repo: Path | None, folder: Path) -> Iterable[tuple[str, Path]]:
    if repo:
        return [("", repo.resolve())]
    repositories = {edit.repo for edit in edits}
    file = Path(os.environ.get("LSP_HARNESS_EVAL_DATA", DEFAULT_DATA)) / REPOSITORY_FILES
    if not file.exists():
        return []
    with lzma.open(file, "rt", encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            if row["repo"] in repositories:
                path = folder / row["repo"] / row["path"]
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(row["text"], encoding="utf-8")
    return [(name, folder / name) for name in sorted(repositories) if (folder / name).is_dir()]
