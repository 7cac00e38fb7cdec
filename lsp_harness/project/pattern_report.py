"""The patterns of a folder: kinds of code that it has many of."""

from dataclasses import dataclass

from lsp_harness.project.command_project import CommandProject
from lsp_harness.project.index_update import open_updated_index


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
    async with open_updated_index(project) as (updated_project, index):
        return [
            PatternReport(
                pattern.name,
                pattern.language,
                len(pattern.members),
                pattern.representative.path,
                pattern.representative.line,
                pattern.representative.qualified,
            )
            for pattern in await index.patterns(updated_project.root.as_uri(), limit)
        ]
