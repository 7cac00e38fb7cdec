"""A git worktree and a branch of one agent, outside of the folder of the user."""

import shutil
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from lsp_harness.runtime.agent_errors import InvalidSpec
from lsp_harness.runtime.isolation.git import GitFailed, TreeChange, read_changes, run_git, write_tree
from lsp_harness.text.ulid import make_ulid

BRANCH_FOLDER = "lsp-harness"
BASE_MESSAGE = "Files of the user when the agent started"
MAX_CHANGED_FILES = 200
"""The largest number of files of one proposal. A formatter over the whole project is no edit that a person can read."""


@dataclass(frozen=True, slots=True)
class Worktree:
    """A git worktree of an agent. It begins with the files of the user as they are, also those that are not committed.

    Attributes:
        repository: The folder of the user's work tree.
        folder: The folder of the worktree.
        workdir: The folder in which the agent works: that of the user, in the worktree.
        branch: The branch of the worktree.
        base: The commit with which it began.
    """

    repository: Path
    folder: Path
    workdir: Path
    branch: str
    base: str

    @classmethod
    async def create(cls, workdir: Path, parent: Path) -> "Worktree":
        """Make a worktree and a branch.

        Args:
            workdir: The folder in which the agent would work without isolation.
            parent: The private folder for all worktrees.

        Raises:
            InvalidSpec: The folder is in no git repository with a commit.
        """
        name = make_ulid().lower()
        try:
            repository = Path((await run_git(workdir, "rev-parse", "--show-toplevel")).decode().rstrip("\n"))
            head = (await run_git(workdir, "rev-parse", "--verify", "HEAD^{commit}")).decode().strip()
            tree = await write_tree(repository)
            base = (await run_git(repository, "commit-tree", tree, "-p", head, "-m", BASE_MESSAGE)).decode().strip()
            branch, folder = f"{BRANCH_FOLDER}/{name}", parent / name
            parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            await run_git(repository, "worktree", "add", "--quiet", "-b", branch, str(folder), base)
        except GitFailed as error:
            raise InvalidSpec(
                f"the agent gets no worktree: {error.message}", "use a git repository with a commit, or no isolation"
            ) from error
        inner = folder / workdir.relative_to(repository)
        inner.mkdir(parents=True, exist_ok=True)
        return cls(repository, folder, inner, branch, base)

    @classmethod
    async def find(cls, folder: Path) -> "Worktree":
        """Return the worktree in a folder, as git knows it.

        Raises:
            GitFailed: The folder is no worktree of an agent.
        """
        common = (await run_git(folder, "rev-parse", "--path-format=absolute", "--git-common-dir")).decode().strip()
        found = await run_git(folder, "log", "-1", "--format=%H", "--fixed-strings", f"--grep={BASE_MESSAGE}")
        top = (await run_git(folder, "rev-parse", "--show-toplevel")).decode().rstrip("\n")
        if not found.strip() or Path(top) != folder.resolve():
            raise GitFailed(f"{folder} is no worktree of an agent")
        return cls(Path(common).parent, folder, folder, f"{BRANCH_FOLDER}/{folder.name}", found.decode().strip())

    async def count_changes(self) -> int:
        """Return how many files differ from the beginning, whether it is committed or not.

        Raises:
            GitFailed: The worktree is gone or damaged.
        """
        tree = await write_tree(self.folder)
        names = await run_git(self.folder, "diff-tree", "-r", "-z", "--name-only", "--no-renames", self.base, tree)
        return names.count(b"\0")

    async def read_changes(self) -> tuple[list[TreeChange], int]:
        """Return what differs from the beginning, whether it is committed or not, and how many more files there are.

        The contents are those of one moment: what the agent writes later does not change them.

        Raises:
            GitFailed: The worktree is gone or damaged.
        """
        tree = await write_tree(self.folder)
        return await read_changes(self.folder, self.base, tree, MAX_CHANGED_FILES)

    async def discard(self) -> None:
        """Remove the worktree and the branch. What is gone already is no error."""
        with suppress(GitFailed):
            await run_git(self.repository, "worktree", "remove", "--force", "--force", str(self.folder))
        shutil.rmtree(self.folder, ignore_errors=True)
        with suppress(GitFailed):
            await run_git(self.repository, "worktree", "prune")
        with suppress(GitFailed):
            await run_git(self.repository, "branch", "-D", "--quiet", self.branch)
