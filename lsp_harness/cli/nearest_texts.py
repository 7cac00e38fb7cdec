"""The texts of a folder that are nearest to a query in meaning, for commands that have no server that knows.

The query is embedded in this process: the small model is there in a quarter of a second, where an engine would load the one
that answers as well.
"""

from contextlib import closing

from lsp_harness.cli.console import warn
from lsp_harness.config.load import load
from lsp_harness.engine.embed.in_process import InProcessEmbedder
from lsp_harness.errors import HarnessError
from lsp_harness.harness.indexes.embedding_index import near, without_vector
from lsp_harness.index.index_place import IndexPlace
from lsp_harness.index.index_query import open_index
from lsp_harness.index.vectors import Vectors
from lsp_harness.inference.embedding_recipe import EmbeddingRecipe, make_recipe, model_name
from lsp_harness.text.wording import format_count

SEARCH_SECONDS = 2.0
"""How long a search may take."""
LOADING_SECONDS = 5.0
"""How long it waits for its query to be embedded, where the model has to be read from a disk that is busy."""
EMBED = "lsp-harness index embed"


async def nearest(where: IndexPlace, query: str, *, explain: bool = False) -> list[bytes]:
    """Their digests. Why there are none is said where there are vectors that cannot be used, and to whoever wants it explained."""
    settings = load(where.root)[0].index
    with closing(Vectors(where.folder)) as vectors:
        try:
            made = vectors.read_model()
            how = make_recipe(settings)
            if why := unfit(made, how):
                _told(why, say=explain)
                return []
            with closing(InProcessEmbedder(settings)) as model:
                found = await near(vectors, model, how, query, LOADING_SECONDS)
            if explain and (left := await without(where)):
                warn(
                    f"{format_count(left, 'text')} without a vector can only be found by words; {EMBED} makes the missing vectors"
                )
            return found
        except HarnessError as error:
            _told(error.message, say=explain or _any(vectors))
        except TimeoutError:
            _told(f"the embedding model did not answer within {LOADING_SECONDS:.0f} s; try again", say=True)
    return []


def unfit(made: tuple[str, int] | None, how: EmbeddingRecipe) -> str:
    """Why a query cannot be compared with the vectors there are; empty where it can."""
    if made is None:
        return f"this folder has no vectors yet; {EMBED} makes them"
    if made[0] != how.name:
        return f"the vectors were made by {model_name(made[0])} with other settings; {EMBED} makes new ones with {how.model}"
    return ""


async def without(where: IndexPlace) -> int:
    """How many texts of a folder have no vector yet. Raises HarnessError where none can be made."""
    how = make_recipe(load(where.root)[0].index)
    with closing(Vectors(where.folder)) as vectors, open_index(where.database) as index:
        return len(without_vector(await index.text_digests(where.root.as_uri()), vectors, how))


def _any(vectors: Vectors) -> bool:
    try:
        return vectors.read_model() is not None
    except HarnessError:
        return True


def _told(why: str, *, say: bool) -> None:
    if say:
        warn(f"searched by names and words only: {why}")
