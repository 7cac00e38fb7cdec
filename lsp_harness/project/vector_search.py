"""Search by meaning in the index of a folder: the texts whose vectors are nearest to that of a query."""

from contextlib import closing

from lsp_harness.errors import HarnessError
from lsp_harness.harness.indexes.embedding_index import (
    digests_without_vector,
    find_nearest_texts,
    is_nearly_complete,
)
from lsp_harness.index.index_query import open_index
from lsp_harness.index.vectors import Vectors
from lsp_harness.inference.embedding_recipe import EmbeddingRecipe, make_recipe, model_name
from lsp_harness.project.command_project import CommandProject
from lsp_harness.project.embedding_model import load_embedding_model
from lsp_harness.text.wording import format_count

EMBEDDING_TIMEOUT_S = 5.0
"""How long a command waits for the vector of its query. The model may have to be read from a busy disk."""
EMBED_COMMAND = "lsp-harness index embed"


async def find_similar_texts(
    project: CommandProject, query: str, *, explains: bool = False, is_task: bool = False
) -> list[bytes]:
    """Return the digests of the texts that are nearest to a query in meaning, the nearest first.

    The result is empty if there are no vectors or if the model does not work. A warning says why if there are vectors
    that cannot be used, or if the command `explains` its results. For a task, nearly all texts must have a vector (see
    `is_nearly_complete`).
    """
    settings = project.config.index
    with closing(Vectors(project.place.folder)) as vectors:
        try:
            model_of_vectors = vectors.read_model()
            recipe = make_recipe(settings)
            problem = _vector_problem(model_of_vectors, recipe)
            if not problem and is_task and not await _is_nearly_complete(project, vectors, recipe):
                problem = f"too many texts of this folder have no vector yet; {EMBED_COMMAND} makes them"
            if problem:
                if explains:
                    _warn_words_only(project, problem)
                return []
            with load_embedding_model(settings) as model:
                digests = await find_nearest_texts(vectors, model, recipe, query, EMBEDDING_TIMEOUT_S)
            if explains and (count := await count_texts_without_vector(project)):
                project.output.warn(
                    f"{format_count(count, 'text')} without a vector can only be found by words; "
                    f"{EMBED_COMMAND} makes the missing vectors"
                )
            return digests
        except HarnessError as error:
            if explains or _has_vectors(vectors):
                _warn_words_only(project, error.message)
        except TimeoutError:
            _warn_words_only(
                project, f"the embedding model did not answer within {EMBEDDING_TIMEOUT_S:.0f} s; try again"
            )
    return []


async def _is_nearly_complete(project: CommandProject, vectors: Vectors, recipe: EmbeddingRecipe) -> bool:
    with open_index(project.place.database) as index:
        return is_nearly_complete(await index.text_digests(project.root.as_uri()), vectors, recipe)


async def count_texts_without_vector(project: CommandProject) -> int:
    """Return the number of texts in the index that have no vector of the present settings.

    Raises:
        HarnessError: The settings or the model file are unusable.
    """
    recipe = make_recipe(project.config.index)
    with closing(Vectors(project.place.folder)) as vectors, open_index(project.place.database) as index:
        return len(digests_without_vector(await index.text_digests(project.root.as_uri()), vectors, recipe))


def _vector_problem(model: tuple[str, int] | None, recipe: EmbeddingRecipe) -> str:
    """Return why a query cannot be compared with the vectors of `model`; empty if it can."""
    if model is None:
        return f"this folder has no vectors yet; {EMBED_COMMAND} makes them"
    if model[0] != recipe.name:
        return (
            f"the vectors were made by {model_name(model[0])} with other settings; "
            f"{EMBED_COMMAND} makes new ones with {recipe.model}"
        )
    return ""


def _has_vectors(vectors: Vectors) -> bool:
    try:
        return vectors.read_model() is not None
    except HarnessError:
        # damaged vectors are vectors, too
        return True


def _warn_words_only(project: CommandProject, reason: str) -> None:
    project.output.warn(f"searched by names and words only: {reason}")
