"""`lsp-harness locate`: the lines of code that a task would change."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, closing
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from lsp_harness.cli.composition import make_engine
from lsp_harness.cli.console import AsJson, as_json, say
from lsp_harness.cli.file_place import check_folder
from lsp_harness.cli.folder_settings import settings
from lsp_harness.cli.fresh_index import Folder, fresh, placed
from lsp_harness.cli.nearest_texts import nearest
from lsp_harness.coding.task_location import TaskPlaces
from lsp_harness.errors import NoAnswer
from lsp_harness.harness import location
from lsp_harness.index.index_query import DirectIndexQuery
from lsp_harness.inference.client import Engine
from lsp_harness.store.database import Reader


def locate(
    task: str,
    folder: Folder = Path(),
    *,
    explain: Annotated[
        bool, Parameter(negative="", help="Show the other candidates as well, and how each was found.")
    ] = False,
    json: AsJson = False,
) -> int:
    """Find the lines of code that a task would change.

    Parameters
    ----------
    task
        The task in words: "add input validation to parse_config".
    """
    check_folder(folder, "locate", task)
    found = asyncio.run(sought(task, folder, explain=explain))
    if json:
        as_json({"chosen": found.choice, "by": found.chooser, "candidates": [asdict(one) for one in found.candidates]})
    elif explain:
        for number, one in enumerate(found.candidates):
            mark = "*" if number == found.choice else " "
            say(f"{mark} {one.place}: {one.symbol or 'text'}  [{', '.join(one.reasons)}]")
        say(f"chosen by the {found.chooser}")
    else:
        say(f"{found.best.place}: {found.best.symbol or 'text'}")
    return 0


async def sought(task: str, folder: Path, *, explain: bool = False) -> TaskPlaces:
    """What is found in a folder, whose index is made if there is none; `explain` says why not by meaning. Raises UsageError,
    ConfigError, NoAnswer."""
    where = placed(folder)
    config = settings(where.root)
    location.check(config, task, "name the place, FILE:LINE")
    where = await fresh(where)

    @asynccontextmanager
    async def engine() -> AsyncGenerator[Engine]:
        made = make_engine(config)
        try:
            yield made
        finally:
            await made.aclose()

    with closing(Reader(where.database)) as reader:
        near = await nearest(where, task, explain=explain)
        texts = location.texts_of(where.root)
        found = await location.sought(config, DirectIndexQuery(reader), where.root, task, texts, engine, near)
    if found is None:
        raise NoAnswer(f"no code in {where.root} fits this task; name a function in it, or say the place as FILE:LINE")
    return found
