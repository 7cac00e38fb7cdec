"""Search by meaning in the index of a folder: the embedding model, the vectors that it makes, and the nearest ones.

The small model is loaded in a quarter of a second in the process of the command. An engine would load the language
model as well. This is the only module outside of the engine's own commands that imports the engine.
"""

from collections.abc import Generator
from contextlib import closing, contextmanager
from dataclasses import dataclass

from lsp_harness.config.schema import Config
from lsp_harness.errors import HarnessError, ModelError
from lsp_harness.extras import need_extra, require_extra
from lsp_harness.harness.indexes.embedding_index import (
    BATCH_SIZE,
    TextEmbedder,
    embed_texts,
    find_digests_without_vector,
    find_nearest_texts,
    is_nearly_complete,
)
from lsp_harness.index.index_query import open_index
from lsp_harness.index.vectors import Vectors
from lsp_harness.inference.embedding_recipe import EmbeddingRecipe, make_recipe, model_name
from lsp_harness.project.command_project import CommandProject, require_index
from lsp_harness.project.index_update import update_index
from lsp_harness.text.wording import format_count

TEST_QUERY = "parse config"
"""A text that is embedded to find out whether the model works."""


@contextmanager
def load_embedding_model(config: Config) -> Generator[TextEmbedder]:
    """Load the embedding model of the settings with the first text, and free it at the end.

    Raises:
        ExtraMissing: The packages of the engine are not installed.
    """
    with need_extra("engine"):
        from lsp_harness.engine.embed.embedder import InProcessEmbedder

    with closing(InProcessEmbedder(config.index, config.engine.library)) as model:
        yield model


async def embed_test_query(config: Config, recipe: EmbeddingRecipe) -> list[float]:
    """Return the vector of a short query. A model file that exists may still be unusable.

    Raises:
        ModelError: The model cannot be used.
    """
    with load_embedding_model(config) as model:
        [vector] = await model.embed(
            [recipe.query_prefix + TEST_QUERY], max_tokens=recipe.tokens, priority="interactive"
        )
    return vector


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
            with load_embedding_model(project.config) as model:
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
        return len(find_digests_without_vector(await index.text_digests(project.root.as_uri()), vectors, recipe))


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


@dataclass(frozen=True, slots=True)
class VectorBuild:
    """The model, the number of vectors that it made, and the number of texts, which all have a vector now."""

    model: str
    made: int
    texts: int


async def build_vectors(project: CommandProject) -> VectorBuild:
    """Update the index, and make the vectors that are missing. Vectors are saved after each batch.

    Raises:
        UsageError: The settings forbid an index of the folder, or the packages of the engine are not installed.
        ConfigError: A setting of the embedding is not valid.
        ModelError: The model cannot be used, or the settings changed meanwhile.
        StoreError: The index or the vectors cannot be written.
    """
    require_index(project)
    # before the model is looked for, because its download needs these packages, too
    require_extra("engine")
    settings = project.config.index
    # before the index is updated, because this error costs no time
    recipe, made = make_recipe(settings), 0
    project = await update_index(project)
    with (
        project.output.progress("embedding") as report,
        open_index(project.place.database) as index,
        closing(Vectors(project.place.folder)) as vectors,
        load_embedding_model(project.config) as model,
    ):
        if not vectors.is_sound():
            vectors.remove()
        uri = project.root.as_uri()
        digests = find_digests_without_vector(await index.text_digests(uri), vectors, recipe)
        for start in range(0, len(digests), BATCH_SIZE):
            # a server may have changed the index meanwhile
            if texts := await index.embedding_texts(uri, digests[start : start + BATCH_SIZE]):
                batch = await embed_texts(model, recipe, texts)
                if make_recipe(settings) != recipe:
                    raise ModelError("the embedding model changed during this run; run the command again")
                vectors.add(recipe.name, batch, await index.count_texts(uri))
                made += len(batch)
            report(start + BATCH_SIZE, len(digests))
        return VectorBuild(recipe.model, made, await index.count_texts(uri))
