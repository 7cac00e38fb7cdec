"""Vectors for all texts of an index that have none, made by a command."""

from contextlib import closing
from dataclasses import dataclass

from lsp_harness.errors import ModelError
from lsp_harness.harness.indexes.embedding_index import BATCH_SIZE, digests_without_vector, embed_texts
from lsp_harness.index.index_query import open_index
from lsp_harness.index.vectors import Vectors
from lsp_harness.inference.embedding_recipe import make_recipe
from lsp_harness.project.command_project import CommandProject, require_index
from lsp_harness.project.embedding_model import load_embedding_model
from lsp_harness.project.index_update import update_index


@dataclass(frozen=True, slots=True)
class VectorBuild:
    """The model, the number of vectors that it made, and the number of texts, which all have a vector now."""

    model: str
    made: int
    texts: int


async def build_vectors(project: CommandProject) -> VectorBuild:
    """Update the index, and make the vectors that are missing. Vectors are saved after each batch.

    Raises:
        UsageError: The settings forbid an index of the folder.
        ConfigError: A setting of the embedding is not valid.
        ModelError: The model cannot be used, or the settings changed meanwhile.
        StoreError: The index or the vectors cannot be written.
    """
    require_index(project)
    settings = project.config.index
    # before the index is updated, because this error costs no time
    recipe, made = make_recipe(settings), 0
    project = await update_index(project)
    with (
        project.output.progress("embedding") as report,
        open_index(project.place.database) as index,
        closing(Vectors(project.place.folder)) as vectors,
        load_embedding_model(settings) as model,
    ):
        if not vectors.is_sound():
            vectors.remove()
        uri = project.root.as_uri()
        digests = digests_without_vector(await index.text_digests(uri), vectors, recipe)
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
