"""Checks of `doctor`: the size and the languages of an index, and the vectors for search by meaning."""

import asyncio
from collections.abc import Iterator, Mapping
from pathlib import Path

from lsp_harness.cli.doctor.doctor_row import DoctorRow
from lsp_harness.config.schema import Config
from lsp_harness.errors import HarnessError, ModelError
from lsp_harness.extras import install_command
from lsp_harness.project.command_project import find_index_place
from lsp_harness.project.index_status import (
    EmbeddingStatus,
    IndexStatus,
    read_embedding_status,
    read_index_status,
    read_language_coverage,
)
from lsp_harness.project.vectors import EMBED_COMMAND
from lsp_harness.text.wording import format_count

WORDS_ONLY = "search uses names and words only (BM25)"
PULL_COMMAND = "lsp-harness model pull all-minilm-l6-v2"


def check_index(folder: Path, config: Config) -> Iterator[DoctorRow]:
    """Check the index of a folder.

    Raises:
        ConfigError: The settings name no usable directory.
        StoreError: The index is damaged.
    """
    if not config.index.enabled:
        yield DoctorRow("ok", "index", "off: the setting index.enabled is false")
        return
    place = find_index_place(folder)
    status = asyncio.run(read_index_status(place))
    if not status.contents.files:
        yield DoctorRow("ok", "index", "this folder has no index yet; it is made when an editor opens the folder")
    else:
        files = format_count(status.contents.files, "file")
        symbols = format_count(status.contents.symbols, "symbol")
        yield DoctorRow("ok", "index", f"{files} of this folder, {symbols}")
        yield from _check_languages(status)
    try:
        yield _embedding_row(asyncio.run(read_embedding_status(place, config)))
    except ModelError as error:
        repair = "" if "model pull" in error.message else f" ({PULL_COMMAND})"
        yield DoctorRow("note", "embeddings", f"{WORDS_ONLY}: {error.message}{repair}")
    except HarnessError as error:
        yield DoctorRow("note", "embeddings", f"{WORDS_ONLY}: {error.message}")


def _check_languages(status: IndexStatus) -> Iterator[DoctorRow]:
    coverage = asyncio.run(read_language_coverage(status))
    if coverage.with_imports:
        yield DoctorRow(
            "ok", "languages", f"declarations and imports are known in {_list_counts(coverage.with_imports)}"
        )
    if coverage.with_declarations:
        counts = _list_counts(coverage.with_declarations)
        yield DoctorRow("ok", "languages", f"declarations but no imports are known in {counts}")
    if coverage.lines_only:
        says = f"no declarations are known, only lines, in {_list_counts(coverage.lines_only)}"
        if coverage.unfit_grammars:
            says += f"; the installed grammar for {', '.join(coverage.unfit_grammars)} does not fit its tags"
        if coverage.installable:
            says += f"; for {', '.join(coverage.installable)}: {install_command('languages')}"
        # there is nothing to do about a text file or a list of ignored files
        has_repair = coverage.unfit_grammars or coverage.installable
        yield DoctorRow("note" if has_repair else "ok", "languages", says)


def _list_counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count:,} {name}" for name, count in counts.items())


def _embedding_row(status: EmbeddingStatus) -> DoctorRow:
    makes = EMBED_COMMAND if status.editor_problem else f"{EMBED_COMMAND}, or an editor while its engine is in use,"
    if status.is_damaged:
        says = f"{WORDS_ONLY}: the vectors are damaged; {EMBED_COMMAND} makes new ones"
        return DoctorRow("note", "embeddings", says)
    if status.other_model:
        says = (
            f"the vectors were made by {status.other_model} with other settings; "
            f"{makes} makes new ones with {status.model}"
        )
        return DoctorRow("note", "embeddings", f"{WORDS_ONLY}: {says}")
    if not status.embedded_texts:
        texts = format_count(status.texts, "text")
        says = f"{status.model} works, but none of {texts} has a vector yet; {makes} makes them"
        return DoctorRow("note" if status.texts else "ok", "embeddings", f"{WORDS_ONLY} so far: {says}")
    counts = f"{status.embedded_texts:,} of {status.texts:,} texts have a vector"
    says = f"{status.model}, {status.dimensions} dimensions: {counts}"
    if status.embedded_texts < status.texts:
        says += f" ({makes} makes the missing ones)"
    if status.editor_problem:
        says += f"; the command line uses them, but editors do not: {status.editor_problem}"
        return DoctorRow("note", "embeddings", says)
    return DoctorRow("ok", "embeddings", f"{says}; search and edits by instruction use them")
