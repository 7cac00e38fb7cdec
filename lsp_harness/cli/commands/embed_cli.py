"""`lsp-harness index embed`: make the missing vectors of an index now."""

import asyncio
from contextlib import closing
from pathlib import Path

from lsp_harness.cli.console import AsJson, as_json, say
from lsp_harness.cli.fresh_index import Folder, bar, fresh, wanted
from lsp_harness.config.load import load
from lsp_harness.config.schema import Index
from lsp_harness.engine.embed.in_process import InProcessEmbedder
from lsp_harness.errors import ModelError
from lsp_harness.harness.indexes.embedding_index import BATCH, made_of, without_vector
from lsp_harness.index.index_place import IndexPlace
from lsp_harness.index.index_query import open_index
from lsp_harness.index.vectors import Vectors
from lsp_harness.inference.embedding_recipe import make_recipe
from lsp_harness.store.database import remove_database
from lsp_harness.text.wording import format_count


def embed(folder: Folder = Path(), *, json: AsJson = False) -> int:
    """Let search use meaning as well: make a vector of each text in the index that has none.

    This needs no engine. If it is interrupted, the vectors made so far are kept.
    """
    where = wanted(folder)
    settings = load(where.root)[0].index
    # first, as it says what is missing
    model = make_recipe(settings).model
    where = asyncio.run(fresh(where))
    made, texts = asyncio.run(_made(where, settings))
    if json:
        as_json({"model": model, "made": made, "texts": texts})
    else:
        say(f"{format_count(made, 'vector')} made with {model}; all {format_count(texts, 'text')} have one")
    return 0


async def _made(where: IndexPlace, settings: Index) -> tuple[int, int]:
    """How many vectors were made, and how many texts there are."""
    how, count = make_recipe(settings), 0
    with (
        bar("embedding") as tell,
        open_index(where.database) as index,
        closing(Vectors(where.folder)) as vectors,
        closing(InProcessEmbedder(settings)) as model,
    ):
        if not vectors.is_sound():
            remove_database(vectors.database_path)
        uri = where.root.as_uri()
        new = without_vector(await index.text_digests(uri), vectors, how)
        for at in range(0, len(new), BATCH):
            # a server may have changed the index meanwhile
            if texts := await index.embedding_texts(uri, new[at : at + BATCH]):
                made = await made_of(model, how, texts)
                if make_recipe(settings) != how:
                    raise ModelError("the embedding model changed during this run; run the command again")
                vectors.add(how.name, made, await index.count_texts(uri))
                count += len(made)
            tell(at + BATCH, len(new))
        return count, await index.count_texts(uri)
