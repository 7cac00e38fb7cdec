"""The patterns of a folder: kinds of code that it has many of."""

from contextlib import closing
from dataclasses import dataclass

from lsp_harness.harness.project.command_project import CommandProject, require_index
from lsp_harness.harness.project.index_update import update_index
from lsp_harness.index.query.code_patterns import find_patterns
from lsp_harness.store.database import Reader


@dataclass(frozen=True, slots=True)
class PatternReport:
    """A pattern with its number of members, and one member as an example: its path, line (from 0) and symbol."""

    name: str
    language: str
    count: int
    path: str
    line: int
    symbol: str


async def report_patterns(project: CommandProject, limit: int) -> list[PatternReport]:
    """Update the index and return at most `limit` patterns, the most frequent first.

    Raises:
        UsageError: The settings forbid an index of the folder.
        StoreError: The index cannot be written or read.
    """
    require_index(project)
    project = await update_index(project)
    with closing(Reader(project.place.database)) as reader:
        return [
            PatternReport(
                pattern.name,
                pattern.language,
                len(pattern.members),
                pattern.representative.path,
                pattern.representative.line,
                pattern.representative.qualified,
            )
            for pattern in find_patterns(reader, limit)
        ]
