"""Where the parts are joined: settings to engine to harness, and files on disk to snapshots."""

import codecs
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from lsp_harness.cli.folder_settings import settings
from lsp_harness.config.schema import Config
from lsp_harness.disk.file_reading import read_file
from lsp_harness.disk.file_warnings import warn_once
from lsp_harness.errors import BinaryDocument, ConfigError, FileError, FileMissing, HarnessError, StoreError, UsageError
from lsp_harness.harness.events import HarnessEvent, TroubleReported
from lsp_harness.harness.harness import Harness
from lsp_harness.harness.index_service import ReadyIndex
from lsp_harness.inference.client import Engine
from lsp_harness.text.document import Document
from lsp_harness.workspace.snapshot import Snapshot
from lsp_harness.workspace.workspace import Workspace

if TYPE_CHECKING:
    from lsp_harness.context.context_inputs import VectorSearch
    from lsp_harness.index.index_query import IndexQuery

LARGEST = 64_000_000
"""Bytes of a file that is worked on."""


def make_engine(config: Config) -> Engine:
    """The engine the settings ask for: a script of replies, or a model."""
    if config.engine.script:
        from lsp_harness.inference.scripted_engine import ScriptedEngine

        return ScriptedEngine(Path(config.engine.script))
    from lsp_harness.inference.client import EngineClient

    return EngineClient(config)


def make_harness(config: Config, workspace: Workspace) -> Harness:
    """Create the harness of a language server."""
    return Harness(config, make_engine, workspace, works_ahead=True)


def project_of(file: Path) -> Path:
    """The nearest directory above that looks like a project's; else the file's own."""
    marks = (".git", "lsp-harness.toml", "localcode.toml", "pyproject.toml", "package.json", "Cargo.toml", "go.mod")
    for folder in file.parents:
        if any((folder / mark).exists() for mark in marks):
            return folder
    return file.parent


@asynccontextmanager
async def headless(
    file: Path, create_engine: Callable[[Config], Engine] = make_engine
) -> AsyncGenerator[tuple[Harness, Snapshot]]:
    """Yield a harness with one file open, for commands that have no editor, and a snapshot of the file."""
    file = file.absolute()
    data = read_named(file)
    root = project_of(file)
    config = settings(root)
    document = Document.from_text(file.as_uri(), data, version=1)
    if document.is_binary:
        if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            raise BinaryDocument(f"{file.name} is UTF-16 text, and only UTF-8 can be read; save it as UTF-8")
        raise BinaryDocument(f"{file.name} is a binary file, not a text file; name a file with code")
    troubles: list[str] = []

    def hear(event: HarnessEvent) -> None:
        if isinstance(event, TroubleReported):
            troubles.append(event.message)

    async with _known(config, root) as known:
        index = ReadyIndex(known, _near(root) if config.index.enabled else None)
        harness = Harness(config, create_engine, Workspace([root]), index=index)
        harness.events.subscribe(hear)
        harness.open(document)
        try:
            yield harness, harness.snapshot(document.uri)
        except BaseException:
            # why the command failed is worth more than how the engine was left
            with suppress(HarnessError):
                await harness.aclose()
            raise
        await harness.aclose()
    # a command that failed by it says so itself
    if troubles:
        # a server is composed in this module too, and does not need what reads a command line
        from lsp_harness.cli.console import warn

        for trouble in troubles:
            warn(trouble)


@asynccontextmanager
async def _known(config: Config, root: Path) -> AsyncGenerator["IndexQuery | None"]:
    """The index of a project that has one, as things are now: to make one is no business of a command about one file."""
    # a server is composed here too, and must be there at once
    from lsp_harness.cli.fresh_index import fresh
    from lsp_harness.index.index_place import prepare_place as index_of
    from lsp_harness.index.index_query import DirectIndexQuery
    from lsp_harness.store.database import Reader

    if not config.index.enabled:
        yield None
        return
    try:
        where = index_of(root)
        where = await fresh(where) if where.database.exists() else None
    except (ConfigError, StoreError) as error:
        # what a command is about is in its file: it does without the others
        warn_once(error.message)
        where = None
    if where is None:
        yield None
        return
    with closing(Reader(where.database)) as reader:
        yield DirectIndexQuery(reader)


def _near(root: Path) -> "VectorSearch":
    """What the index of a project knows to be like a task, by the embedding model in this process."""

    async def near(uri: str, task: str) -> list[bytes]:
        from lsp_harness.cli.nearest_texts import nearest
        from lsp_harness.index.index_place import prepare_place as index_of

        return await nearest(index_of(root), task)

    return near


def read_named(file: Path) -> bytes:
    """The bytes of a file that somebody named. Raises UsageError."""
    try:
        return read_file(file, LARGEST)
    except FileMissing:
        raise UsageError(f"{file} cannot be read: No such file or directory") from None
    except FileError as error:
        raise UsageError(error.message) from error
