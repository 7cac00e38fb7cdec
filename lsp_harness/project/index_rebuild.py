"""A new index for a folder, in place of the present one."""

import asyncio
from contextlib import closing, suppress
from dataclasses import dataclass

from lsp_harness.errors import HarnessError
from lsp_harness.index.index_place import remove_index
from lsp_harness.index.vectors import Vectors
from lsp_harness.process.leader_lock import is_locked
from lsp_harness.project.command_project import CommandProject, require_index
from lsp_harness.project.index_update import scan_folder
from lsp_harness.project.vector_search import count_texts_without_vector


@dataclass(frozen=True, slots=True)
class Rebuild:
    """A new index: its files, those of them that were parsed, and the texts that have no vector.

    `texts_without_vector` is 0 if no model can make vectors.
    """

    files: int
    parsed: int
    texts_without_vector: int


def rebuild_index(project: CommandProject) -> Rebuild | None:
    """Delete the index of a folder and make a new one. Vectors are kept unless they are damaged.

    Returns:
        None if a language server has the folder open. That server makes the new index.

    Raises:
        UsageError: The settings forbid an index of the folder.
        StoreError: The index cannot be written.
    """
    require_index(project)
    remove_index(project.place)
    with closing(Vectors(project.place.folder)) as vectors:
        if not vectors.is_sound():
            vectors.remove()
    if is_locked(project.place.lock):
        return None
    result = asyncio.run(scan_folder(project))
    if result is None:
        return None
    texts_without_vector = 0
    # without a model there are no vectors to make; `doctor` reports it
    with suppress(HarnessError):
        texts_without_vector = asyncio.run(count_texts_without_vector(project))
    return Rebuild(result.files, result.parsed, texts_without_vector)
