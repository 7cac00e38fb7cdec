"""The folders in which git keeps the data of a work tree, read without a run of git."""

from pathlib import Path

POINTER = "gitdir:"
COMMON_FILE = "commondir"


def find_git_folders(workdir: Path) -> list[Path]:
    """Return the folders of git outside of the work tree that a program in it needs. It is nearly always empty.

    A worktree has a file `.git`, which names a folder in the repository, and that names the folder with the objects.

    Args:
        workdir: A folder in the work tree.
    """
    for folder in (workdir, *workdir.parents):
        pointer = folder / ".git"
        if pointer.is_dir():
            return [] if folder == workdir else [pointer]
        if pointer.is_file():
            return [pointer, *_follow(pointer)]
    return []


def _follow(pointer: Path) -> list[Path]:
    try:
        text = pointer.read_text("utf-8", "surrogateescape").strip()
        if not text.startswith(POINTER):
            return []
        own = (pointer.parent / text.removeprefix(POINTER).strip()).resolve()
        common = (own / (own / COMMON_FILE).read_text("utf-8", "surrogateescape").strip()).resolve()
    except OSError:
        return []
    return [common] if own.is_relative_to(common) else [own, common]
