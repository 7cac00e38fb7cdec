"""Paths that no rule, hook, callback, mode or person can open: the records of git and of this program, secret files,
and, for edits, everything outside of the workspace.

A path is judged as it is written and after all links are resolved, because both must be harmless.
"""

import os
import re
import stat
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from time import monotonic

from lsp_harness.config.load import PROJECT_FILES, find_user_config_file
from lsp_harness.config.paths import state_folder
from lsp_harness.errors import HarnessError
from lsp_harness.files.secrets import find_secrets, is_secret_path
from lsp_harness.files.walk import EntryBudget, TooManyFilesError, walk_entries

PROTECTED_FOLDERS = frozenset({".git", ".lsp-harness", "git~1"})
MAX_LINK_ENTRIES = 200_000
"""Most files and folders that are looked at for other names of a file. It takes about two seconds."""
STARTING_FOLDERS = frozenset(
    {".vscode", ".idea", ".zed", ".devcontainer", ".husky", ".githooks", ".vim", ".claude", ".codex", ".gemini"}
    | {".cursor", ".opencode", ".direnv"}
)
"""Folders of editors, agents and hooks whose files name commands that those programs run by themselves."""
STARTING_FILES = frozenset(
    {".mcp.json", ".envrc", ".gitmodules", ".gitattributes", ".gitconfig", ".pre-commit-config.yaml", "lefthook.yml"}
    | {
        ".bashrc",
        ".bash_profile",
        ".bash_login",
        ".bash_logout",
        ".profile",
        ".zshrc",
        ".zshenv",
        ".zprofile",
        ".zlogin",
    }
    | {".vimrc", ".exrc", ".nvimrc", ".nvim.lua", ".gdbinit", ".lldbinit", ".pdbrc", ".dir-locals.el", ".tmux.conf"}
    | {".npmrc", ".yarnrc", ".yarnrc.yml", "sitecustomize.py", "usercustomize.py", "opencode.json"}
)
"""Files that name commands which other programs run by themselves, when a folder is opened or entered."""
LINK_MEMORY_S = 5
"""How long the list of protected files with several names is kept. It takes a walk through the workspace."""
MAX_SETTINGS_BYTES = 1 << 20
LOGIN_KEY = re.compile(
    rb"^\s*(?:\[[^\]]*\]\s*)?(?:extraheader|password|\w*token|cookiefile)\s*=", re.IGNORECASE | re.MULTILINE
)
"""Matches a setting of git whose value is a login."""
IGNORABLE_CATEGORIES = frozenset({"Cf", "Mn", "Cc"})


def own_folders() -> tuple[Path, ...]:
    """Return the folders of the records and the settings of this program."""
    folders = [find_user_config_file().parent]
    try:
        folders.append(state_folder())
    except HarnessError:
        # there is no such folder, so nothing is in it
        return tuple(folders)
    return tuple(folders)


def plain_name(name: str) -> str:
    """Return a name as the most lenient file system reads it: without case, invisible characters and final dots."""
    text = unicodedata.normalize("NFKC", name)
    visible = "".join(character for character in text if unicodedata.category(character) not in IGNORABLE_CATEGORIES)
    return visible.casefold().split(":")[0].rstrip(". ")


def is_secret_name(path: str) -> bool:
    """Return whether a file is secret by its name, also as a lenient file system reads it."""
    if is_secret_path(path):
        return True
    # names of ordinary characters are the same for all file systems, but for the case, final dots and colons
    is_plain = path.isascii() and not re.search(r"[:~. ](?:/|$)|:|[\x00-\x1f\x7f]", path)
    return not is_plain and is_secret_path("/".join(plain_name(name) for name in path.split("/")))


def holds_login(form: str) -> bool:
    """Return whether a file has settings of git with a login, as some services write them into `.git/config`."""
    if ".git" not in (folders := form.split("/")) or not folders[-1].startswith("config"):
        return False
    try:
        with open(form, "rb") as file:
            text = file.read(MAX_SETTINGS_BYTES)
    except OSError:
        return False
    return LOGIN_KEY.search(text) is not None or bool(find_secrets(text))


@dataclass(frozen=True, slots=True)
class ProtectedPaths:
    """The folders that a session may change, and the paths in them that it may not.

    Attributes:
        roots: The workspace folders, and further folders that may be changed.
        protected: Folders that may not be changed even inside a root.
        base: The folder that relative paths belong to. Empty is the first root.
    """

    roots: tuple[Path, ...] = ()
    protected: tuple[Path, ...] = ()
    base: str = ""

    @property
    def folder(self) -> str:
        """Return the folder that relative paths belong to."""
        return self.base or (str(self.roots[0]) if self.roots else os.getcwd())

    def forms(self, path: Path | str) -> tuple[str, ...]:
        """Return the absolute path as it is written, and with all links resolved. Empty if it cannot be a path."""
        try:
            text = os.path.expanduser(str(path))
            written = os.path.normpath(os.path.join(self.folder, text))
            # `a/../b` is another file than `b` if `a` is a link
            return tuple(dict.fromkeys((written, os.path.realpath(os.path.join(self.folder, text)))))
        except (ValueError, OSError):
            return ()

    def is_inside(self, path: Path | str) -> bool:
        """Return whether a path is in a root, also after links are resolved."""
        forms = self.forms(path)
        return bool(forms) and _is_below(forms[-1], self.roots)

    def relative(self, form: str) -> str:
        """Return an absolute path relative to the root that contains it; otherwise the path itself."""
        for root in self.roots:
            for base in (str(root), os.path.realpath(root)):
                if form == base or form.startswith(base.rstrip("/") + "/"):
                    return os.path.relpath(form, base)
        return form

    def edit_problem(self, path: Path | str) -> str:
        """Return why a file may never be changed; empty if it may be."""
        if problem := self.own_problem(path):
            return problem
        if not _is_below(self.forms(path)[-1], self.roots):
            return f"{path} is outside of the workspace folders"
        return self.read_problem(path)

    def own_problem(self, path: Path | str) -> str:
        """Return why a file belongs to git or to this program; empty if it does not."""
        forms = self.forms(path)
        if not forms:
            return f"{str(path)!r} is not a path"
        for form in forms:
            names = [plain_name(name) for name in self.relative(form).split("/")]
            if folder := next((name for name in names if name in PROTECTED_FOLDERS), ""):
                return f"{path} is in {folder}, which only git or lsp-harness change"
            if names[-1] in PROJECT_FILES:
                return f"{path} has settings of lsp-harness, which only the user changes"
            if _is_below(form, self.protected):
                return f"{path} is in a folder of lsp-harness, which only lsp-harness changes"
        if (linked := self._linked_file(forms[-1])) and not is_secret_path(linked):
            return f"{path} is another name of {linked}, which only git, lsp-harness or the user change"
        return ""

    def starting_problem(self, path: Path | str) -> str:
        """Return why a change of a file may make other programs run commands; empty if it may not."""
        for form in self.forms(path):
            *folders, name = (plain_name(name) for name in self.relative(form).split("/"))
            if name in STARTING_FILES or not STARTING_FOLDERS.isdisjoint(folders):
                return f"other programs run commands that {path} names"
        return ""

    def read_problem(self, path: Path | str) -> str:
        """Return why a file may never be read; empty if it may be."""
        forms = self.forms(path)
        if not forms:
            return f"{str(path)!r} is not a path"
        for form in forms:
            if is_secret_name(self.relative(form)):
                return f"{path} may contain secrets"
        if (linked := self._linked_file(forms[-1])) and is_secret_path(linked):
            return f"{path} is another name of {linked}, which may contain secrets"
        if any(map(holds_login, forms[-1:])):
            return f"{path} has a login of git"
        return ""

    def _linked_file(self, form: str) -> str:
        """Return the protected file of the workspace of which a path is another name by a hard link, or nothing."""
        try:
            names = self.other_names(form)
        except TooManyFilesError:
            return ".git of a workspace with too many files"
        for name in names:
            relative = self.relative(name)
            if is_secret_name(relative) or not PROTECTED_FOLDERS.isdisjoint(relative.split("/")):
                return relative
            if relative.rpartition("/")[2] in PROJECT_FILES:
                return relative
        return ""

    def other_names(self, form: str) -> Sequence[str]:
        """Return the other paths in the workspace of a file that has several names by hard links.

        Raises:
            TooManyFilesError: The workspace has too many files to look for them.
        """
        try:
            state = os.stat(form)
        except (OSError, ValueError):
            return ()
        if state.st_nlink < 2 or not stat.S_ISREG(state.st_mode):
            return ()
        files = _linked_files(self.roots, int(monotonic() // LINK_MEMORY_S))
        return [name for name in files.get((state.st_dev, state.st_ino), ()) if name != form]


@lru_cache(maxsize=4)
def _linked_files(roots: tuple[Path, ...], moment: int) -> Mapping[tuple[int, int], Sequence[str]]:
    """Return the files in workspace folders that have several names: device and inode → paths.

    Args:
        roots: The folders.
        moment: A number that changes every few seconds, so that the list does not grow old.
    """
    found, budget = dict[tuple[int, int], list[str]](), EntryBudget(MAX_LINK_ENTRIES, "look for other names of files")
    for root in roots:
        for entry in walk_entries(str(root), budget, _may_have_names):
            with suppress(OSError):
                state = entry.stat(follow_symlinks=False)
                if state.st_nlink > 1 and stat.S_ISREG(state.st_mode):
                    found.setdefault((state.st_dev, state.st_ino), []).append(entry.path)
    return found


def _may_have_names(folder: os.DirEntry[str]) -> bool:
    """Return whether files in a folder may have other names that matter. The objects of git do not."""
    return not (folder.name == "objects" and os.path.dirname(folder.path).endswith(".git"))


def _is_below(form: str, folders: Iterable[Path]) -> bool:
    return any(
        form == base or form.startswith(base.rstrip("/") + "/")
        for folder in folders
        for base in {os.path.normpath(folder), os.path.realpath(folder)}
    )
