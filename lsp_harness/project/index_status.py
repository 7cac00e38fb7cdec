"""The contents of an index, the files that were left out, and whether a process updates it."""

from contextlib import closing, suppress
from dataclasses import dataclass

from lsp_harness.errors import StoreError
from lsp_harness.index.index_contents import IndexContents
from lsp_harness.index.index_place import IndexPlace
from lsp_harness.index.index_query import open_index
from lsp_harness.index.vectors import Vectors
from lsp_harness.inference.embedding_recipe import model_name
from lsp_harness.process.leader_lock import is_locked


@dataclass(frozen=True, slots=True)
class VectorStatus:
    """The vectors of an index: the model that made them, the length of each, and their number."""

    model: str
    dimensions: int
    count: int


@dataclass(frozen=True, slots=True)
class IndexStatus:
    """The contents of an index.

    Attributes:
        size_bytes: The size of the database; 0 if there is none.
        is_updated: Whether a process keeps the index up to date at the moment.
        vectors: None if the index has no vectors, or if they are damaged.
    """

    place: IndexPlace
    contents: IndexContents
    size_bytes: int
    is_updated: bool
    vectors: VectorStatus | None


async def read_index_status(place: IndexPlace) -> IndexStatus:
    """Return the status of an index. An index that does not exist has no files.

    Raises:
        StoreError: The index is damaged.
    """
    with open_index(place.database) as index:
        contents = await index.contents(place.root.as_uri())
    size_bytes = place.database.stat().st_size if place.database.exists() else 0
    return IndexStatus(place, contents, size_bytes, is_locked(place.lock), _read_vector_status(place))


def _read_vector_status(place: IndexPlace) -> VectorStatus | None:
    # the next completion replaces damaged vectors
    with closing(Vectors(place.folder)) as vectors, suppress(StoreError):
        if model := vectors.read_model():
            return VectorStatus(model_name(model[0]), model[1], len(vectors.read_digests()))
    return None
