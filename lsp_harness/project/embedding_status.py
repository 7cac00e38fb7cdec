"""The state of search by meaning in a folder: the embedding model, and the vectors that it made."""

from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass

from lsp_harness.config.load import user_config_file
from lsp_harness.config.schema import Config
from lsp_harness.errors import HarnessError
from lsp_harness.index.index_place import IndexPlace
from lsp_harness.index.index_query import open_index
from lsp_harness.index.vectors import Vectors
from lsp_harness.inference.embedding_recipe import EmbeddingRecipe, make_recipe, model_name
from lsp_harness.inference.models.model_files import resolve_model
from lsp_harness.inference.target import is_own_engine
from lsp_harness.project.embedding_model import embed_test_query


@dataclass(frozen=True, slots=True)
class EmbeddingStatus:
    """An embedding model that works, and the vectors of a folder.

    Attributes:
        model: The model of the settings.
        other_model: The model that made the present vectors with other settings; empty if these settings made them.
        dimensions: The length of the vectors; 0 if there are none.
        texts: The number of texts in the index.
        embedded_texts: The number of these texts that have a vector.
        is_damaged: Whether the vectors cannot be read.
        editor_problem: Why editors neither make nor use vectors; empty if they do.
    """

    model: str
    other_model: str
    dimensions: int
    texts: int
    embedded_texts: int
    is_damaged: bool
    editor_problem: str


async def read_embedding_status(place: IndexPlace, config: Config) -> EmbeddingStatus:
    """Embed a short query with the model of the settings, and count the vectors of a folder.

    Raises:
        ConfigError: A setting of the embedding is not valid.
        ModelError: The model cannot be used.
        StoreError: The index is damaged.
    """
    recipe = make_recipe(config.index)
    query_vector = await embed_test_query(config.index, recipe)
    return await _read_vectors(place, recipe, query_vector, _editor_problem(config))


async def _read_vectors(
    place: IndexPlace, recipe: EmbeddingRecipe, query_vector: Sequence[float], editor_problem: str
) -> EmbeddingStatus:
    with closing(Vectors(place.folder)) as vectors, open_index(place.database) as index:
        texts = set(await index.text_digests(place.root.as_uri()))
        stored_model = vectors.read_model()
        embedded = texts.intersection(vectors.read_digests().values())
        # a file of the right size may still have rows that cannot be searched
        is_damaged = bool(embedded) and not (vectors.is_sound() and vectors.find_nearest(query_vector, 1))
    return EmbeddingStatus(
        model=recipe.model,
        other_model=model_name(stored_model[0]) if stored_model and stored_model[0] != recipe.name else "",
        dimensions=stored_model[1] if stored_model else 0,
        texts=len(texts),
        embedded_texts=len(embedded),
        is_damaged=is_damaged,
        editor_problem=editor_problem,
    )


def _editor_problem(config: Config) -> str:
    """Return why editors neither make nor use vectors; empty if they do."""
    if not is_own_engine(config):
        settings = " and ".join(f"engine.{key}" for key in ("url", "model", "script") if getattr(config.engine, key))
        return (
            f"{settings} is set, and editors make vectors with the local engine only; "
            f"remove it from {user_config_file()}"
        )
    try:
        resolve_model(config.model.path, "completion")
    except HarnessError as error:
        return error.message
    return ""
