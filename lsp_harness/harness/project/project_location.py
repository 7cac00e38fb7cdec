"""The lines of a folder that a task would change, for a command."""

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager

from lsp_harness.coding.task_location import TaskPlaces
from lsp_harness.config.schema import Config
from lsp_harness.errors import NoAnswer
from lsp_harness.harness import location
from lsp_harness.harness.project.command_project import CommandProject
from lsp_harness.harness.project.index_update import update_index
from lsp_harness.harness.project.vector_search import find_similar_texts
from lsp_harness.index.index_query import open_index
from lsp_harness.inference.client import Engine


async def locate_in_project(
    project: CommandProject, task: str, make_engine: Callable[[Config], Engine], *, explains: bool = False
) -> TaskPlaces:
    """Update the index and return the candidates for a task.

    Args:
        project: The folder.
        task: What to do, in words.
        make_engine: Creates the engine, if the settings let a model choose among the candidates.
        explains: Whether a warning says why nothing was searched by meaning.

    Raises:
        UsageError: The task is empty, or the settings forbid an index.
        ConfigError: A setting is not valid.
        StoreError: The index cannot be written or read.
        NoAnswer: No code fits the task.
    """
    location.check(project.config, task, "name the place, FILE:LINE")
    project = await update_index(project)

    @asynccontextmanager
    async def open_engine() -> AsyncGenerator[Engine]:
        engine = make_engine(project.config)
        try:
            yield engine
        finally:
            await engine.aclose()

    with open_index(project.place.database) as index:
        digests = await find_similar_texts(project, task, explains=explains)
        texts = location.texts_of(project.root)
        candidates = await location.sought(project.config, index, project.root, task, texts, open_engine, digests)
    if candidates is None:
        raise NoAnswer(
            f"no code in {project.root} fits this task; name a function in it, or say the place as FILE:LINE"
        )
    return candidates
