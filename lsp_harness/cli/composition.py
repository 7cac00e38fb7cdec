"""The composition of a harness: the settings choose the engine, and a file on disk becomes a snapshot."""

import codecs
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from lsp_harness.cli.folder_settings import read_settings
from lsp_harness.config.schema import Config
from lsp_harness.disk.file_reading import read_file
from lsp_harness.errors import BinaryDocument, FileError, FileMissing, HarnessError, UsageError
from lsp_harness.files.folders import is_project
from lsp_harness.harness.events import HarnessEvent, TroubleReported
from lsp_harness.harness.harness import Harness
from lsp_harness.inference.client import Engine
from lsp_harness.inference.engine_choice import make_engine
from lsp_harness.text.document import Document
from lsp_harness.workspace.snapshot import Snapshot
from lsp_harness.workspace.workspace import Workspace

MAX_FILE_BYTES = 64_000_000
"""Size above which a file is not read."""


def make_harness(config: Config, workspace: Workspace) -> Harness:
    """Create the harness of a language server."""
    return Harness(config, make_engine, workspace, works_ahead=True)


def find_project_root(file: Path) -> Path:
    """Return the nearest folder above a file that looks like a project, or else the folder of the file."""
    return next((folder for folder in file.parents if is_project(folder)), file.parent)


@asynccontextmanager
async def open_headless(
    file: Path, *, creates_index: bool = False, create_engine: Callable[[Config], Engine] = make_engine
) -> AsyncGenerator[tuple[Harness, Snapshot]]:
    """Open a harness with one file, for commands that have no editor.

    Args:
        file: The file.
        creates_index: Whether to create an index of the project if there is none.
        create_engine: Creates the engine of the settings.
    """
    # a server is composed in this module too, and must start at once without the index
    from lsp_harness.cli.console import TerminalNotices, warn
    from lsp_harness.cli.sessions.terminal_person import TerminalPerson
    from lsp_harness.project.project_index import open_ready_index

    file = file.absolute()
    data = read_user_file(file)
    root = find_project_root(file)
    config = read_settings(root)
    document = Document.from_text(file.as_uri(), data, version=1)
    if document.is_binary:
        if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            raise BinaryDocument(f"{file.name} is UTF-16 text, and only UTF-8 can be read; save it as UTF-8")
        raise BinaryDocument(f"{file.name} is a binary file, not a text file; name a file with code")
    troubles: list[str] = []

    def collect(event: HarnessEvent) -> None:
        if isinstance(event, TroubleReported):
            troubles.append(event.message)

    async with open_ready_index(root, config, TerminalNotices(), creates_index=creates_index) as index:
        harness = Harness(config, create_engine, Workspace([root]), index=index)
        harness.events.subscribe(collect)
        harness.services.person = TerminalPerson()
        harness.open(document)
        try:
            yield harness, harness.snapshot(document.uri)
        except BaseException:
            # the error of the command matters more than an error while the engine is closed
            with suppress(HarnessError):
                await harness.aclose()
            raise
        await harness.aclose()
    # a command that fails because of a trouble reports it itself
    for trouble in troubles:
        warn(trouble)


def read_user_file(file: Path) -> bytes:
    """Return the bytes of a file that the user named. Raise UsageError if it cannot be read."""
    try:
        return read_file(file, MAX_FILE_BYTES)
    except FileMissing:
        raise UsageError(f"{file} cannot be read: No such file or directory") from None
    except FileError as error:
        raise UsageError(error.message) from error
