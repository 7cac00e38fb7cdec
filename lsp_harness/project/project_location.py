"""The lines of a folder that a task would change, for a command."""

from collections.abc import Callable

from lsp_harness.coding.task_location import LocationRequest, TaskPlaces
from lsp_harness.config.schema import Config
from lsp_harness.harness.harness import Harness
from lsp_harness.harness.index_service import ReadyIndex
from lsp_harness.harness.task_locator import check_request
from lsp_harness.index.index_query import open_index
from lsp_harness.inference.client import Engine
from lsp_harness.project.command_project import CommandProject
from lsp_harness.project.index_update import update_index
from lsp_harness.project.vector_search import find_similar_texts
from lsp_harness.workspace.workspace import Workspace


async def locate_in_project(
    project: CommandProject, task: str, make_engine: Callable[[Config], Engine], *, explains: bool = False
) -> TaskPlaces:
    """Update the index and return the candidates for a task.

    Args:
        project: The folder.
        task: The task in words.
        make_engine: Creates the engine, if the settings let a model choose among the candidates.
        explains: Whether a warning says why nothing was searched by meaning.

    Raises:
        UsageError: The task is empty, or the settings forbid an index.
        ConfigError: A setting is not valid.
        StoreError: The index cannot be written or read.
        NoAnswer: No code fits the task.
    """
    request = LocationRequest(task, alternative="say the place as FILE:LINE")
    # before the index is updated, which takes long
    check_request(project.config, request)
    project = await update_index(project)

    async def find_similar(uri: str, task: str) -> list[bytes]:
        return await find_similar_texts(project, task, explains=explains, is_task=True)

    with open_index(project.place.database) as index:
        ready_index = ReadyIndex(index, find_similar)
        harness = Harness(project.config, make_engine, Workspace([project.root]), index=ready_index)
        try:
            return (await harness.tasks.locate(request)).ranking
        finally:
            await harness.aclose()
