"""The folders that a command searches, copies or moves, and why they keep it from being one that only reads.

These questions walk through folders, so they are asked only about commands for which it matters.
"""

import itertools
import os
import re
import shutil
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from lsp_harness.files.walk import EntryBudget, TooManyFilesError
from lsp_harness.permission.file_search import list_tree
from lsp_harness.permission.git_files import find_odd_settings, find_repository, history_objection, read_index
from lsp_harness.permission.protected_paths import ProtectedPaths, holds_login, is_secret_name
from lsp_harness.permission.shell.command_parts import SYSTEM_FOLDERS, CommandPart
from lsp_harness.permission.shell.command_risk import judge_reading
from lsp_harness.permission.shell.file_words import ARCHIVERS, LINKERS, FileWords, find_changed
from lsp_harness.permission.shell.option_reading import matches_option
from lsp_harness.permission.shell.readers import Reading
from lsp_harness.permission.touched_files import CommandFiles, exists, paths_in
from lsp_harness.syntax.shell.shell_words import UNKNOWN, ShellWord

SHELL_BUILTINS = frozenset(
    {"cd", "echo", "printf", "test", "[", "true", "false", ":", "pwd", "type", "command", "dirs"}
)
SPLITTING = re.compile(r"[\s'\"\\*?\[]")
"""Matches the characters of a name of which a shell or `xargs` makes other words."""


@dataclass(frozen=True, slots=True)
class CommandObjections:
    """The searches for what a command may do beside what its words say.

    Attributes:
        files: The files of the command.
    """

    files: CommandFiles

    def reading_objection(self, part: CommandPart, *, hides_secrets: Callable[[], bool]) -> str:
        """Return why a part of an action whose words only read may do more in this folder. Empty if it only reads.

        Args:
            part: The part of the action.
            hides_secrets: Returns whether it runs where files with secrets are not there. It may try a sandbox.
        """
        reading = judge_reading(part)
        for word in (*reading.files, *reading.trees):
            if reason := self._wildcard_objection(word):
                return reason
        if part.name not in SHELL_BUILTINS and self._is_own_program(part):
            return f"{part.name} is a program of the workspace"
        if part.name == "git" and (reason := self._foreign_repository()):
            return reason
        try:
            return self._tree_objection(reading, hides_secrets=bool(reading.trees) and hides_secrets())
        except TooManyFilesError:
            return "it searches more files than can be looked at for secrets"

    def _wildcard_objection(self, word: ShellWord) -> str:
        """Return why the files that a wildcard matches may be other words; empty if they are not."""
        if word.is_known or word.is_tree:
            return ""
        if re.search(r"[*?\[(].*/\.\.(?:/|$)", word.text):
            return f"the path {word.display} goes back from a wildcard"
        for path in self.files.paths([word]):
            if path != word.text and word.text[:1] in "*?[" and os.path.basename(path).startswith("-"):
                return f"the file {os.path.basename(path)} becomes an option"
            if path != word.text and word.is_split and SPLITTING.search(path):
                return f"the name of {path} may become several words"
        return ""

    def _tree_objection(self, reading: Reading, *, hides_secrets: bool) -> str:
        budget = EntryBudget()
        trees = reading.trees
        if reading.reads_objects and not find_repository(self.files.folders[0].folder):
            # without a repository, git compares folders as they are
            trees = reading.files
        for word, folder in itertools.product(trees, self.files.folders):
            if word.is_split and (strange := read_index(folder.folder).strange):
                return f"the name of {strange[0]} may become several words"
            for form in [forms[-1] for path in paths_in(word, folder) if (forms := folder.forms(path))]:
                base = folder.relative(form)
                for path in list_tree(form, budget):
                    name = base + path[len(form) :]
                    if not hides_secrets and (is_secret_name(name) or (_has_names(path) and folder.read_problem(path))):
                        return f"it may read {name.removeprefix('./')}, which may contain secrets"
                    if holds_login(path):
                        return f"it may read {name.removeprefix('./')}, which has a login of git"
                    if word.is_tree and word.loose.startswith(UNKNOWN) and os.path.basename(path).startswith("-"):
                        return f"the file {name} becomes an option"
                    if word.is_split and SPLITTING.search(path[len(form) :]):
                        return f"the name of {folder.relative(path)} may become several words"
                    if reading.follows_links and os.path.islink(path):
                        if not folder.is_inside(path):
                            return f"the link {folder.relative(path)} leads out of the workspace"
                        if folder.read_problem(path):
                            return f"the link {folder.relative(path)} leads to a file that may contain secrets"
        if reading.reads_objects:
            for folder in self.files.folders:
                if reason := find_odd_settings(folder.folder):
                    return reason
                if not (index := read_index(folder.folder)).is_readable:
                    return "the index of git cannot be read"
                if index.secrets:
                    return f"git keeps {index.secrets[0]}, which may contain secrets"
                if reading.reads_history and (reason := history_objection(folder.folder)):
                    return reason
        return ""

    def submodule_objection(self, part: CommandPart, *, is_confined: Callable[[], bool]) -> str:
        """Return why git may run programs that the settings of a submodule name; empty if it does not.

        Args:
            part: The part of the action.
            is_confined: Returns whether it runs where programs can do nothing but read. It may try a sandbox.
        """
        if not judge_reading(part).reads_submodules:
            return ""
        indexes = [read_index(folder.folder) for folder in self.files.folders]
        names = [name for index in indexes for name in index.submodules or ([] if index.is_readable else ["of git"])]
        if not names or is_confined():
            return ""
        return f"the settings of the submodule {names[0]} may name programs"

    def _is_own_program(self, part: CommandPart) -> bool:
        """Return whether the name of a program leads into the workspace, because `PATH` does."""
        relative = [place for place in os.environ.get("PATH", "").split(os.pathsep) if not os.path.isabs(place)]
        for place, folder in itertools.product(relative, self.files.folders):
            if os.access(os.path.join(folder.folder, place, part.words[0].text), os.X_OK):
                return True
        found = shutil.which(part.words[0].text)
        return (
            found is not None
            and any(folder.is_inside(found) for folder in self.files.folders)
            and not any(os.path.realpath(found).startswith(place) for place in SYSTEM_FOLDERS)
        )

    def _foreign_repository(self) -> str:
        """Return why git would read a repository that the user did not choose; empty if it would not."""
        first = self.files.folders[0]
        own = find_repository(first.folder)
        for folder in self.files.folders:
            if (repository := find_repository(folder.folder)) != own:
                return f"the repository {repository or folder.folder} may name programs"
        return ""

    def moved_files(self, part: CommandPart) -> tuple[list[str], list[str]]:
        """Return all files in the folders that a part copies or moves, and in those that it changes.

        Raises:
            TooManyFilesError: There are too many.
        """
        budget, read, changed = EntryBudget(), list[str](), list[str]()
        for words in part.variants or (part.words,):
            files = find_changed(part.name, words[1:])
            if files is None:
                continue
            targets = {*self.files.paths(files.folders)}
            for paths, found in ((self.files.paths(files.read), read), (self.files.paths(files.changed), changed)):
                for form, _ in self._find_folders(path for path in paths if path not in targets):
                    found += list_tree(form, budget)
            changed += self._placed_files(files, budget)
        return read, changed

    def _placed_files(self, files: FileWords, budget: EntryBudget) -> Iterator[str]:
        """Yield the paths that the files of folders get which are copied or moved."""
        for source, place in self.files.placements(files):
            for form, folder in self._find_folders([source]):
                for target, path in itertools.product(folder.forms(place), list_tree(form, budget)):
                    yield os.path.normpath(target + path[len(form) :])

    def searched_files(self, part: CommandPart) -> tuple[list[str], bool]:
        """Return all files in the folders that a part may search, and whether it certainly reads them.

        Raises:
            TooManyFilesError: There are too many.
        """
        reading = judge_reading(part)
        if find_changed(part.name, part.words[1:]) is not None:
            return [], True
        if reading.problem:
            trees = [path for path in self.files.read_paths(part) if not path.startswith("-")]
        elif reading.reads_objects:
            # git prints the files of folders, or of the whole repository
            trees = [path for path in self.files.paths(reading.files) if exists(path, self.files.folders[0])] or ["."]
        else:
            trees = list(self.files.paths(reading.trees))
        budget, found = EntryBudget(), list[str]()
        for form, folder in self._find_folders(trees):
            if not reading.problem or folder.is_inside(form):
                found += list_tree(form, budget)
        return found, not reading.problem and not reading.reads_objects

    def copy_objection(self, part: CommandPart) -> str:
        """Return why a program that copies whole folders may copy files with secrets; empty if it does not."""
        if part.name not in ARCHIVERS:
            return ""
        budget = EntryBudget()
        found = [find_changed(part.name, words[1:]) for words in part.variants or (part.words,)]
        changes = [files for files in found if files is not None]
        read = self.files.read_paths(part) if len(changes) < len(found) else ()
        read = itertools.chain(read, *(self.files.paths(files.read) for files in changes))
        try:
            for form, folder in self._find_folders(read):
                for entry in list_tree(form, budget) if folder.is_inside(form) else ():
                    if is_secret_name(name := os.path.relpath(entry, form)):
                        return f"it may copy {name}, which may contain secrets"
            for place in itertools.chain(*(self._placed_files(files, budget) for files in changes)):
                if problem := self.files.folders[0].own_problem(place):
                    return f"it may change a protected file: {problem}"
        except TooManyFilesError:
            return "it copies more files than can be looked at for secrets"
        return ""

    def _find_folders(self, paths: Iterable[str]) -> Iterator[tuple[str, ProtectedPaths]]:
        """Yield the folders among the paths of a command, without links, each with the rules of the place."""
        for path, folder in itertools.product(paths, self.files.folders):
            for form in folder.forms(path)[-1:]:
                if os.path.isdir(form):
                    yield form, folder

    def link_objection(self, *, is_loop: bool) -> str:
        """Return why paths of a command may lead elsewhere, because it makes or moves a link; empty if they do not.

        Args:
            is_loop: Whether its parts may run again, so that the last one is before the others.
        """
        parts = [part for part in self.files.split.parts if not part.is_wrapper]
        for place, part in enumerate(parts):
            if place == len(parts) - 1 and not self.files.split.redirections and not (is_loop and place):
                # nothing uses the link
                return ""
            if self._makes_link(part):
                return "it makes a link, and nobody sees where the paths after it lead"
        return ""

    def _makes_link(self, part: CommandPart) -> bool:
        """Return whether a part makes a link, or puts an existing one in another place."""
        if part.name in LINKERS:
            return True
        if part.name not in ("cp", "mv", "rsync"):
            return False
        if any(matches_option(r"-[a-zA-Z]*[sl]|--symbolic-link|--link", word.text) for word in part.words[1:]):
            return True
        budget = EntryBudget()
        for words in part.variants or (part.words,):
            files = find_changed(part.name, words[1:])
            for path in self.files.paths(files.read) if files else ():
                for forms in filter(None, self.files.forms(path)):
                    try:
                        if any(map(os.path.islink, (forms[0].rstrip("/"), *list_tree(forms[0], budget)))):
                            return True
                    except TooManyFilesError:
                        return True
        return False

    def change_objection(self, part: CommandPart) -> str:
        """Return why nobody sees which files a program changes; empty if its words say it."""
        for words in part.variants or (part.words,):
            files = find_changed(part.name, words[1:])
            if files is not None and any(UNKNOWN in word.text for word in words[1:] if not word.is_stream):
                return f"{part.name} changes a file that is not known"
        return ""


def _has_names(path: str) -> bool:
    """Return whether a file has several names."""
    try:
        return os.lstat(path).st_nlink > 1
    except OSError:
        return False
