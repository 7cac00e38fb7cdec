"""The records of the worktrees of agents, as files: the work of an agent is found after its server has ended."""

import json
import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from lsp_harness.disk.file_writing import replace_file
from lsp_harness.kernel.checkpoints.undo_plan import UndoPlan
from lsp_harness.process.process_table import is_alive, start_ticks
from lsp_harness.runtime.isolation.git import GitFailed
from lsp_harness.runtime.isolation.worktree import Worktree

ENDING = ".json"


@dataclass(frozen=True, slots=True)
class ServerProcess:
    """A process of lsp-harness.

    Attributes:
        pid: The id of the process.
        started: Its start in ticks since the boot, or 0 if that is not known.
    """

    pid: int
    started: int

    @classmethod
    def of(cls, pid: int) -> "ServerProcess":
        """Return the process with a number."""
        return cls(pid, start_ticks(pid))

    @property
    def is_running(self) -> bool:
        """Return whether this process still runs. Its number may belong to another one by now."""
        if self.pid <= 0:
            # the number of no process; signals to it reach the whole group
            return False
        return is_alive(self.pid) and start_ticks(self.pid) == self.started


@dataclass(frozen=True, slots=True)
class WorktreeRecord:
    """The facts about a worktree that outlive its server.

    Attributes:
        worktree: The git worktree of the agent.
        agent_id: The agent. Empty if it was never started.
        type: The type of the agent.
        name: The name that the user gave it.
        server: The process that is in charge of the worktree.
        created_at: The time of its start, in ISO 8601.
        undo: How the last changes that were applied are undone, or None.
    """

    worktree: Worktree
    agent_id: str = ""
    type: str = ""
    name: str = ""
    server: ServerProcess = field(default_factory=lambda: ServerProcess.of(os.getpid()))
    created_at: str = field(default_factory=lambda: datetime.now(UTC).isoformat())
    undo: UndoPlan | None = None

    @property
    def id(self) -> str:
        """The id in requests: that of the agent, or the name of the worktree."""
        return self.agent_id or self.worktree.folder.name.upper()

    @property
    def is_taken(self) -> bool:
        """Return whether another process that runs is in charge of the worktree."""
        return self.server.pid != os.getpid() and self.server.is_running

    @property
    def user_folder(self) -> Path:
        """The folder of the user that the agent would change without isolation."""
        return self.worktree.repository / self.worktree.workdir.relative_to(self.worktree.folder)

    def claim(self) -> "WorktreeRecord":
        """Return the record with this process in charge."""
        return replace(self, server=ServerProcess.of(os.getpid()))

    def to_text(self) -> str:
        """Return the record as JSON."""
        worktree, undo = self.worktree, self.undo
        return json.dumps(
            {
                "repository": str(worktree.repository),
                "workdir": str(worktree.workdir),
                "branch": worktree.branch,
                "base": worktree.base,
                "agent": {"id": self.agent_id, "type": self.type, "name": self.name},
                "server": {"pid": self.server.pid, "started": self.server.started},
                "createdAt": self.created_at,
                "undo": {"turn": undo.turn, "checkpoints": list(undo.checkpoints)} if undo else None,
            }
        )

    @classmethod
    def from_text(cls, text: str, folder: Path) -> "WorktreeRecord":
        """Return the record of a worktree. Raise ValueError if it is damaged.

        Args:
            text: The JSON of the record.
            folder: The folder of the worktree.
        """
        try:
            facts: Any = json.loads(text)
            agent, server, undo = facts["agent"], facts["server"], facts["undo"]
            repository, workdir = Path(facts["repository"]), Path(facts["workdir"])
            if not workdir.is_relative_to(folder):
                raise ValueError("the working folder of the agent is not in the worktree of the agent")
            return cls(
                Worktree(repository, folder, workdir, str(facts["branch"]), str(facts["base"])),
                str(agent["id"]),
                str(agent["type"]),
                str(agent["name"]),
                ServerProcess(int(server["pid"]), int(server["started"])),
                str(facts["createdAt"]),
                UndoPlan(int(undo["turn"]), tuple(map(str, undo["checkpoints"]))) if undo else None,
            )
        except (KeyError, TypeError) as error:
            raise ValueError(f"the record of the worktree has a missing or wrong part: {error}") from error


class WorktreeRecords:
    """The records in the folder of all worktrees, each beside its worktree.

    Args:
        folder: The folder.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def write(self, record: WorktreeRecord) -> None:
        """Write a record, so that it is whole at any time."""
        replace_file(self._find_file(record.worktree.folder), record.to_text().encode())

    def remove(self, worktree: Worktree) -> None:
        """Remove the record of a worktree."""
        self._find_file(worktree.folder).unlink(missing_ok=True)

    async def read_all(self) -> list[WorktreeRecord]:
        """Return the records of all worktrees that exist, the oldest first. A damaged one is made from git."""
        records = list[WorktreeRecord]()
        for folder in self._list_folders():
            with suppress(GitFailed):
                records.append(await self._read(folder))
        return records

    def _list_folders(self) -> Iterator[Path]:
        with suppress(OSError):
            # the names begin with the time
            yield from sorted(path for path in self._folder.iterdir() if path.is_dir() and not path.is_symlink())

    async def _read(self, folder: Path) -> WorktreeRecord:
        try:
            return WorktreeRecord.from_text(self._find_file(folder).read_text(), folder)
        except (OSError, ValueError):
            # the server was killed before it wrote the record
            worktree = await Worktree.find(folder)
            return WorktreeRecord(worktree, server=ServerProcess(0, 0), created_at="")

    def _find_file(self, folder: Path) -> Path:
        return self._folder / (folder.name + ENDING)


async def describe_worktree(record: WorktreeRecord, running: set[str]) -> dict[str, Any]:
    """Return a worktree as JSON, with the number of its changed files.

    Args:
        record: The record of the worktree.
        running: The ids of the agents that run in this process.
    """
    worktree = record.worktree
    changed, problem = 0, ""
    try:
        changed = await worktree.count_changes()
    except GitFailed as error:
        problem = error.message
    return {
        "agentId": record.id,
        "name": record.name or record.type,
        "type": record.type,
        "branch": worktree.branch,
        "folder": str(worktree.folder),
        "repository": str(worktree.repository),
        "createdAt": record.created_at,
        "isRunning": record.id in running,
        "takenBy": record.server.pid if record.is_taken else None,
        "changedFiles": changed,
        "isApplied": record.undo is not None,
        "problem": problem,
    }
