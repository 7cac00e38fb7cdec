"""The files that a shell command reads and changes, as far as its words name them.

A command may change its folder. So each relative path is judged in every folder that the command may be in.
"""

import itertools
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from lsp_harness.files.secrets import is_secret_path
from lsp_harness.files.walk import TooManyFilesError
from lsp_harness.permission.file_search import expand_wildcard
from lsp_harness.permission.protected_paths import ProtectedPaths
from lsp_harness.permission.shell.command_parts import STREAM_DEVICES, CommandPart, CommandSplit
from lsp_harness.permission.shell.command_risk import command_risk, judge_reading
from lsp_harness.permission.shell.file_words import (
    LINKERS,
    FileWords,
    find_changed,
    find_output,
)
from lsp_harness.permission.shell.option_reading import may_become_option
from lsp_harness.syntax.shell.shell_words import UNKNOWN, ShellWord, literal

MAX_GLOB_FILES = 1_000
MAX_FOLDERS = 20
TEXT_PROGRAMS = frozenset({"echo", "printf", "seq", "basename", "dirname", "expr", "true", "false", ":", "sleep", "tr"})
"""Programs whose arguments are texts and never files that they read."""
PATTERN_PROGRAMS = frozenset({"grep", "egrep", "fgrep", "rg", "sed", "gsed", "awk", "gawk", "mawk", "jq"})
"""Programs whose first argument is a text, unless an option gives it."""
PATTERN_OPTIONS = re.compile(r"-[a-zA-Z]*[ef]|--reg|--exp|--file|--from-file")
FILE_OPTION = re.compile(r"--?[\w-]+=(.*)|-[a-zA-Z](/.*|\./.*|~/.*)", re.DOTALL)
OWN_FOLDER = re.compile(r"^/proc/(?:self|thread-self)/cwd/")
"""Matches other ways to write the current folder."""
STREAMS = STREAM_DEVICES | {"/dev/null"}


@dataclass(frozen=True, slots=True)
class CommandFiles:
    """The files of a shell command.

    Attributes:
        split: The simple commands of the command.
        folders: The rules for paths in each folder in which a part may run.
    """

    split: CommandSplit
    folders: tuple[ProtectedPaths, ...]

    @classmethod
    def of(cls, split: CommandSplit, protected: ProtectedPaths) -> "CommandFiles":
        """Return the files of a command that begins in the folder of `protected`."""
        folders = [protected]
        for target in split.folders[:MAX_FOLDERS]:
            # the command may fail to change its folder, or change it in a subshell only
            for folder in tuple(folders):
                # a shell keeps the name of a link as its folder, and `..` is the folder above this name
                for form in folder.forms(target):
                    if len(folders) < MAX_FOLDERS:
                        folders.append(replace(folder, base=form))
        return cls(split, tuple({folder.folder: folder for folder in folders}.values()))

    @property
    def has_too_many_folders(self) -> bool:
        """Return whether the command changes its folder so often that not every folder is known."""
        return len(self.folders) >= MAX_FOLDERS

    def forms(self, text: str) -> tuple[tuple[str, ...], ...]:
        """Return the absolute paths that a path may mean, each as it is written and with links resolved."""
        return tuple(dict.fromkeys(folder.forms(text) for folder in self.folders))

    def is_inside(self, text: str) -> bool:
        """Return whether a path is in the workspace, whichever folder it belongs to."""
        found = [(folder, folder.forms(text)) for folder in self.folders]
        return all(forms and all(map(folder.is_inside, forms)) for folder, forms in found)

    def reads_inside(self, part: CommandPart) -> bool:
        """Return whether all files of a part that only reads are in the workspace."""
        # without a file it may read the folder in which it runs
        if not self.is_inside("."):
            return False
        reading = judge_reading(part)
        return not reading.problem and all(
            path in STREAMS or self.is_inside(path) for path in self.paths(reading.files)
        )

    def named_files(self, part: CommandPart) -> tuple[list[str], list[str]]:
        """Return the files that a part may read and those that it may change, as its words name them.

        What an unknown program does with a file is not known: so the file is in both lists.
        """
        if part.name in TEXT_PROGRAMS or part.is_wrapper:
            return [], []
        read, changed = list[str](), list[str]()
        for words in part.variants or (part.words,):
            variant = replace(part, words=words, variants=())
            reading = judge_reading(variant)
            if reading.problem and (output := self.written_by_options(variant)):
                changed += output
                variant = _without_output(variant)
                reading = judge_reading(variant)
            if not reading.problem:
                read += self.paths(reading.files)
            elif (files := find_changed(part.name, words[1:])) is not None:
                read += self.paths(files.read)
                changed += [*self.paths(files.changed), *self._list_placed(files)]
            else:
                paths = [path for path in self.read_paths(variant) if not path.startswith("-")]
                read += paths
                changed += paths
        return read, changed

    def placements(self, files: FileWords) -> Iterator[tuple[str, str]]:
        """Yield each path that is copied or moved, with each place that it may get."""
        for target, source in itertools.product(self.paths(files.folders), self.paths(files.moved)):
            is_folder = target.endswith("/") or any(
                os.path.isdir(form) for forms in self.forms(target) for form in forms
            )
            name = source.rstrip("/").rpartition("/")[2]
            if files.keeps_paths:
                yield source, f"{target}/{source.lstrip('/')}"
            if files.is_whole or not is_folder or name in (".", "..", ""):
                yield source, target
                continue
            yield source, f"{target.rstrip('/')}/{name}"
            if source.endswith("/"):
                # rsync puts the files of such a folder into the target
                yield source, target

    def _list_placed(self, files: FileWords) -> list[str]:
        """Return the places that files get in folders."""
        return [place for _, place in self.placements(files)]

    def sees_files(self, part: CommandPart) -> bool:
        """Return whether the words of a part name all files that it reads or changes."""
        return (
            part.is_wrapper
            or part.name in TEXT_PROGRAMS
            or self._sees_changes(part)
            or not judge_reading(_without_output(part)).problem
            or not judge_reading(part).problem
        )

    def _sees_changes(self, part: CommandPart) -> bool:
        """Return whether the words of a program that changes files name all of them."""
        files, words = find_changed(part.name, part.words[1:]), part.words[1:]
        if files is None or not files.is_certain or any(UNKNOWN in word.text for word in words):
            return False
        options = (word for word in words if not word.is_known and may_become_option(word))
        return not any(os.path.basename(path).startswith("-") for path in self.paths(tuple(options)))

    def written_by_options(self, part: CommandPart) -> list[str]:
        """Return the files that options of a part name for its output, if it otherwise only reads."""
        if not judge_reading(part).problem:
            return []
        found = (find_output(part.name, words[1:])[0] for words in part.variants or (part.words,))
        return list(dict.fromkeys(itertools.chain(*found)))

    def paths(self, words: Sequence[ShellWord]) -> Iterator[str]:
        """Yield the paths that words name. Wildcards are replaced by the files that exist."""
        for word in words:
            for folder in self.folders:
                yield from paths_in(word, folder)

    def is_certain(self, part: CommandPart) -> bool:
        """Return whether it is known what a program does with the files that it gets."""
        files = find_changed(part.name, part.words[1:])
        return (files is not None and files.is_certain) or self.sees_files(part)

    def problem(self) -> str:
        """Return why a command is never allowed: it reads a secret file, or changes a protected path."""
        for part in self.split.parts:
            if problem := self._secret_problem(part) or self._write_problem(part):
                return problem
        for item in self.split.redirections:
            check = ProtectedPaths.edit_problem if item.access == "write" else ProtectedPaths.read_problem
            # of a wildcard, the files that it matches now are judged
            paths = [item.target.text] if item.target.is_known else list(self.paths([item.target]))
            for path, folder in itertools.product(paths, self.folders):
                if problem := check(folder, path):
                    return problem
        return ""

    def read_paths(self, part: CommandPart) -> Iterator[str]:
        """Yield the paths that a part may read."""
        if part.name in TEXT_PROGRAMS:
            return
        reading = judge_reading(part)
        if not reading.problem:
            yield from self.paths(reading.files)
            return
        words = tuple(itertools.chain.from_iterable(words[1:] for words in part.variants or (part.words,)))
        if part.name in PATTERN_PROGRAMS and not any(PATTERN_OPTIONS.match(word.text) for word in words):
            first = next((word for word in words if not word.text.startswith("-")), None)
            words = tuple(word for word in words if word is not first)
        yield from self.paths(words)

    def _secret_problem(self, part: CommandPart) -> str:
        if part.name not in TEXT_PROGRAMS:
            for word in itertools.chain.from_iterable(part.variants or (part.words,)):
                if UNKNOWN in word.text and _ends_secretly(word.text):
                    return f"{word.display} may contain secrets"
        for path in self.read_paths(part):
            if "\0" in path:
                continue
            for folder in self.folders:
                problem = folder.read_problem(path)
                if problem and (_is_named_like_file(path) or exists(path, folder)):
                    return problem
        return ""

    def _write_problem(self, part: CommandPart) -> str:
        files = find_changed(part.name, part.words[1:])
        if files is None:
            return self._own_problem(part)
        options = [word for word in part.words[1:] if word.text.startswith("--") and "=" in word.text]
        if part.name in LINKERS:
            # a link to a protected file is that file
            for path, folder in itertools.product(self.paths(files.read), self.folders):
                if problem := folder.own_problem(path) or folder.read_problem(path):
                    return problem
        placed = [literal(path) for path in self._list_placed(files)]
        return self._first_edit_problem([*files.changed, *placed, *options])

    def _first_edit_problem(self, words: Sequence[ShellWord]) -> str:
        for word, folder in itertools.product(words, self.folders):
            for path in paths_in(word, folder):
                # a piece of a word, such as that after a colon, is only judged if it is an option's value
                is_whole = path == word.text or not word.is_known or word.text.startswith("--")
                if is_whole and not path.startswith("-") and (problem := folder.edit_problem(path)):
                    return problem
        return ""

    def _own_problem(self, part: CommandPart) -> str:
        """Return why a program that may change files is not given a path of git or of lsp-harness."""
        for path in self.written_by_options(part):
            for folder in self.folders:
                if problem := folder.edit_problem(path):
                    return problem
        if part.name == "git" or command_risk(part) == "low" or part.is_wrapper:
            return ""
        for word, folder in itertools.product(part.words[1:], self.folders):
            for path in paths_in(word, folder):
                if folder.is_inside(path) and (problem := folder.own_problem(path)):
                    return problem
        return ""


def _candidate_paths(word: ShellWord) -> Iterator[str]:
    """Yield the texts in an argument that may be a path."""
    if UNKNOWN in word.text:
        return
    yield OWN_FOLDER.sub("./", word.text)
    if word.text.startswith("~"):
        # in quotes it is a name like others
        yield f"./{word.text}"
    if match := FILE_OPTION.match(word.text):
        value = match[1] or match[2] or ""
        yield value
        if value.startswith("~"):
            yield f"./{value}"
    elif "=" in word.text or ":" in word.text:
        # `of=file`, `HEAD:file` and `host:file`
        yield re.split(r"[=:]", word.text, maxsplit=1)[1]
    if "@" in word.text:
        # `curl -d @file` and `curl -F name=@file`
        yield word.text.rpartition("@")[2]


def paths_in(word: ShellWord, folder: ProtectedPaths) -> list[str]:
    """Return the paths that an argument may name. Wildcards are replaced by the files that exist."""
    paths = list[str]()
    for text in _candidate_paths(word):
        paths.append(text)
        if not word.is_known:
            forms = folder.forms(text)
            try:
                found = list(itertools.islice(expand_wildcard(forms[0]), MAX_GLOB_FILES + 1)) if forms else []
            except (OSError, ValueError, re.error, TooManyFilesError):
                found = [""] * (MAX_GLOB_FILES + 1)
            # of more files than can be looked at, one may be anywhere
            paths += found if len(found) <= MAX_GLOB_FILES else ["/"]
    return [path for path in paths if path and path != "-"]


def _ends_secretly(text: str) -> bool:
    """Return whether a path of which a part is not known is that of a file with secrets by the rest of its name."""
    head, tail = text.partition(UNKNOWN)[0], text.rpartition(UNKNOWN)[2]
    is_end = "/" in tail and is_secret_path(tail.lstrip("/"))
    return is_end or (bool(re.search(r"(^|/)\.[a-z]", head)) and is_secret_path(head))


def _is_named_like_file(text: str) -> bool:
    """Return whether a word that may be a path is hardly anything else, such as `.env` and `keys/server.key`."""
    return " " not in text and not text.startswith("-") and bool(re.search(r"[./]", text)) and is_secret_path(text)


def _without_output(part: CommandPart) -> CommandPart:
    """Return a part without the options that name a file for its output."""
    return replace(part, words=(part.words[0], *find_output(part.name, part.words[1:])[1]), variants=())


def exists(path: str, folder: ProtectedPaths) -> bool:
    """Return whether there is a file at a path of a command."""
    try:
        return bool(forms := folder.forms(path)) and Path(forms[-1]).exists()
    except OSError:
        return False
