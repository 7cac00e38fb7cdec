"""The embedding model in the process of a command.

The small model is loaded in a quarter of a second. An engine would load the language model as well. This is the only
module outside of the engine's own commands that imports the engine.
"""

from collections.abc import Generator
from contextlib import closing, contextmanager

from lsp_harness.config.schema import Index
from lsp_harness.engine.embed.in_process import InProcessEmbedder
from lsp_harness.harness.indexes.embedding_index import Embedder
from lsp_harness.inference.embedding_recipe import EmbeddingRecipe

TEST_QUERY = "parse config"
"""A text that is embedded to find out whether the model works."""


@contextmanager
def load_embedding_model(settings: Index) -> Generator[Embedder]:
    """Load the embedding model of the settings with the first text, and free it at the end."""
    with closing(InProcessEmbedder(settings)) as model:
        yield model


async def embed_test_query(settings: Index, recipe: EmbeddingRecipe) -> list[float]:
    """Return the vector of a short query. A model file that exists may still be unusable.

    Raises:
        ModelError: The model cannot be used.
    """
    with load_embedding_model(settings) as model:
        [vector] = await model.embed(
            [recipe.query_prefix + TEST_QUERY], max_tokens=recipe.tokens, priority="interactive"
        )
    return vector
