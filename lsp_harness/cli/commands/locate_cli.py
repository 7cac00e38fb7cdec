"""`lsp-harness locate`: the lines of code that a task would change."""

import asyncio
from contextlib import closing
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
from lsp_harness.coding.task_location import Sought
from lsp_harness.harness.harness import Harness
from lsp_harness.harness.index_service import ReadyIndex
from lsp_harness.harness.task_locator import LocationRequest, check_request
from lsp_harness.index.index_query import DirectIndexQuery
from lsp_harness.store.database import Reader
from lsp_harness.workspace.workspace import Workspace


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
    found = asyncio.run(locate_task(task, folder, explain=explain))
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


async def locate_task(task: str, folder: Path, *, explain: bool = False) -> Sought:
    """Return the code that a task is about. If the folder has no index, one is made.

    Args:
        task: The task in words.
        folder: The folder.
        explain: Whether to warn if the search by meaning is not possible.

    Raises:
        UsageError: The folder is not indexed, or there is no task.
        ConfigError: The settings name an unknown ranking.
        NoAnswer: No code fits the task.
    """
    place = placed(folder)
    config = settings(place.root)
    request = LocationRequest(task, alternative="say the place as FILE:LINE")
    check_request(config, request)
    place = await fresh(place)
    similar = await nearest(place, task, explain=explain)

    async def find_similar(uri: str, task: str) -> list[bytes]:
        return similar

    with closing(Reader(place.database)) as reader:
        index = ReadyIndex(DirectIndexQuery(reader), find_similar)
        harness = Harness(config, make_engine, Workspace([place.root]), index=index)
        try:
            return (await harness.tasks.locate(request)).ranking
        finally:
            await harness.aclose()
