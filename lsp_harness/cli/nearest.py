"""The texts of a folder that are nearest to a query in meaning, for commands that have no server that knows."""

from contextlib import closing

from lsp_harness.cli.compose import make_engine
from lsp_harness.cli.engine import running
from lsp_harness.config.load import load
from lsp_harness.errors import HarnessError
from lsp_harness.harness.engines import Engines
from lsp_harness.harness.meaning import near
from lsp_harness.index.place import Place
from lsp_harness.index.vectors import Vectors
from lsp_harness.inference.embed.recipe import recipe

SEARCH_SECONDS = 2.0
"""How long a search waits for its query to be embedded."""


async def nearest(where: Place, query: str) -> list[bytes]:
    """The texts whose vectors are most like a query's, where an engine runs that knows: none is started for it."""
    config, _ = load(where.root)
    if not running() or not Engines.own(config):
        return []
    try:
        how = recipe(config.index)
    except HarnessError:
        # `doctor` says why
        return []
    engine = make_engine(config)
    try:
        with closing(Vectors(where.folder)) as vectors:
            return await near(vectors, engine, how, query, SEARCH_SECONDS)
    finally:
        await engine.aclose()
