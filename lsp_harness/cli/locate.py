"""`lsp-harness locate`: the lines of code that a task would change."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, closing
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from lsp_harness.cli.compose import make_engine
from lsp_harness.cli.indexed import Folder, fresh, placed
from lsp_harness.cli.nearest import nearest
from lsp_harness.cli.place import check_folder
from lsp_harness.cli.say import AsJson, as_json, say
from lsp_harness.cli.settings import settings
from lsp_harness.context.elsewhere import Here
from lsp_harness.errors import NoAnswer
from lsp_harness.harness import locating
from lsp_harness.inference.client import Engine
from lsp_harness.pipeline.seek import Sought
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
        as_json({"chosen": found.chosen, "by": found.by, "candidates": [asdict(one) for one in found.candidates]})
    elif explain:
        for number, one in enumerate(found.candidates):
            mark = "*" if number == found.chosen else " "
            say(f"{mark} {one.place}: {one.symbol or 'text'}  [{', '.join(one.reasons)}]")
        say(f"chosen by the {found.by}")
    else:
        say(f"{found.best.place}: {found.best.symbol or 'text'}")
    return 0


async def sought(task: str, folder: Path, *, explain: bool = False) -> Sought:
    """What is found in a folder, whose index is made if there is none; `explain` says why not by meaning. Raises UsageError,
    ConfigError, NoAnswer."""
    where = placed(folder)
    config = settings(where.root)
    locating.check(config, task, "name the place, FILE:LINE")
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
        texts = locating.texts_of(where.root)
        found = await locating.sought(config, Here(reader), where.root, task, texts, engine, near)
    if found is None:
        raise NoAnswer(f"no code in {where.root} fits this task; name a function in it, or say the place as FILE:LINE")
    return found
