"""The folders of the edits and their indexes. Repositories of the development set are written to disk."""

import json
import lzma
import os
import shutil
import tempfile
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

from lsp_harness.bench.real_edits import DEFAULT_DATA, RealEdit
from lsp_harness.index.builder.indexer import Indexer
from lsp_harness.index.index_query import DirectIndexQuery, IndexQuery
from lsp_harness.index.index_tables import SCHEMA, schema_version
from lsp_harness.store.database import Reader, Writer

REPOSITORY_FILES = "repos_fim.jsonl.xz"
"""File of the development set with the files of its repositories."""

Reporter = Callable[[str], None]


class Workspaces:
    """The indexes by name of the repository. An edit of a repository whose files are missing has no index."""

    def __init__(self, readers: dict[str, Reader]) -> None:
        self._readers = readers

    def index_of(self, edit: RealEdit) -> IndexQuery | None:
        """Return the index of the folder of an edit."""
        reader = self._readers.get(edit.repo)
        return DirectIndexQuery(reader) if reader else None

    @property
    def count(self) -> int:
        """Return the number of repositories with an index."""
        return len(self._readers)


@contextmanager
def open_workspaces(edits: Sequence[RealEdit], repo: Path | None, say: Reporter) -> Generator[Workspaces]:
    """Index the folders of these edits. Delete the written files afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="lh-"))
    readers: dict[str, Reader] = {}
    try:
        for name, root in _roots(edits, repo, folder):
            say(f"indexing {name or root.name}")
            database = folder / f"{len(readers)}.db"
            with (
                closing(Writer(database, SCHEMA, schema_version())) as writer,
                closing(Indexer(root, writer)) as indexer,
            ):
                indexer.scan()
            readers[name] = Reader(database)
        yield Workspaces(readers)
    finally:
        for reader in readers.values():
            reader.close()
        shutil.rmtree(folder, ignore_errors=True)


def _roots(edits: Sequence[RealEdit], repo: Path | None, folder: Path) -> Iterable[tuple[str, Path]]:
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
