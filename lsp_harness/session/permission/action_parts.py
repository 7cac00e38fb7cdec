"""The parts of an action that rules and modes judge each: commands, files that are read or changed, and the rest."""

import glob
import itertools
import re
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from lsp_harness.files.secrets import is_secret_path
from lsp_harness.session.permission.action import Action, ActionKind
from lsp_harness.session.permission.protected_paths import ProtectedPaths
from lsp_harness.session.permission.shell.command_parts import (
    CommandPart,
    CommandSplit,
    split_arguments,
    split_command,
)
from lsp_harness.session.permission.shell.command_risk import RISKS, Risk, command_risk
from lsp_harness.syntax.shell.shell_words import UNKNOWN, ShellWord

MAX_GLOB_FILES = 1_000
MAX_SHOWN_CHARS = 200
WRITERS: Mapping[str, str] = {
    **dict.fromkeys(
        ("rm", "rmdir", "unlink", "mkdir", "touch", "tee", "truncate", "chmod", "chown", "chgrp", "mv"), "all"
    ),
    **dict.fromkeys(("shred", "mkfifo", "mknod", "chattr", "setfacl", "patch", "sponge"), "all"),
    **dict.fromkeys(("cp", "ln", "install", "rsync", "link"), "last"),
}
"""Program that changes files → which of its arguments it changes. `last` reads the others."""
FILE_OPTION = re.compile(r"--?[\w-]+=(.*)|-[a-zA-Z](/.*|\./.*|~/.*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class ActionPart:
    """A part of an action.

    Attributes:
        tool: The tool that the rules of this part name.
        kind: What the part does.
        risk: How much harm it can do.
        command: The simple command, if it is one.
        paths: The files that it reads or changes, each as it is written and with its links resolved.
        texts: What patterns are compared with, if it is neither a command nor about files.
        opaque: Why nobody can see what it does; empty if it is clear.
    """

    tool: str
    kind: ActionKind
    risk: Risk = "medium"
    command: CommandPart | None = None
    paths: tuple[tuple[str, ...], ...] = ()
    texts: tuple[str, ...] = ()
    opaque: str = ""

    @property
    def is_wrapper(self) -> bool:
        """Return whether the part only runs another one, so that it needs no permission of its own."""
        return self.command is not None and self.command.is_wrapper

    @property
    def is_outside(self) -> bool:
        """Return whether the part reads files outside of the workspace."""
        return self.kind == "read" and self.risk != "low"

    @property
    def display(self) -> str:
        """Return the part for people."""
        if self.command:
            return self.command.display
        if self.paths:
            return f"{self.tool} {', '.join(forms[0] for forms in self.paths)}"
        return f"{self.tool} {self.opaque}".strip()


@dataclass(frozen=True, slots=True)
class SplitAction:
    """An action in parts.

    Attributes:
        parts: The parts. At least one.
        problem: Why the action is never allowed, because of a protected path; empty if it may be.
        command: The shell command in parts, if there is one.
    """

    parts: tuple[ActionPart, ...]
    problem: str = ""
    command: CommandSplit | None = None

    @property
    def risk(self) -> Risk:
        """Return the highest risk of the parts."""
        return RISKS[max(RISKS.index(part.risk) for part in self.parts)]


def describe_action(action: Action) -> str:
    """Return one line about an action for people."""
    if action.command or action.argv:
        return _shorten(f"{action.tool}: {action.command or ' '.join(action.argv)}")
    if action.paths:
        return _shorten(f"{action.tool}: {', '.join(map(str, action.paths))}")
    return _shorten(" ".join([f"{action.tool}:", *list(input_texts(action.input))[:3]]).removesuffix(":"))


def _shorten(text: str) -> str:
    return textwrap.shorten(text, MAX_SHOWN_CHARS, placeholder=" …")


def input_texts(value: Any, depth: int = 0) -> Iterator[str]:
    """Yield all texts in the input of a tool."""
    if isinstance(value, str):
        yield value
    elif depth > 20:
        return
    elif isinstance(value, Mapping):
        for item in value.values():  # type: ignore[reportUnknownVariableType]
            yield from input_texts(item, depth + 1)
    elif isinstance(value, list | tuple):
        for item in value:  # type: ignore[reportUnknownVariableType]
            yield from input_texts(item, depth + 1)


def split_action(action: Action, protected: ProtectedPaths) -> SplitAction:
    """Return the parts of an action, and whether it touches a protected path."""
    problem = _path_problem(action, protected)
    if action.command or action.argv:
        split = split_command(action.command) if action.command else split_arguments(action.argv)
        folder = _working_folder(action, protected)
        parts = list(_command_parts(action, split, protected, folder))
        problem = problem or _command_problem(split, protected, folder)
        if action.paths:
            parts.append(_file_part(action, protected))
        return SplitAction(tuple(parts) or (ActionPart(action.tool, action.kind, "low"),), problem, split)
    if action.kind == "execute":
        reason = "it names no command"
        return SplitAction((ActionPart(action.tool, "execute", "high", opaque=reason),), problem)
    if action.kind in ("read", "edit"):
        return SplitAction((_file_part(action, protected),), problem)
    return SplitAction((ActionPart(action.tool, action.kind, texts=tuple(input_texts(action.input))),), problem)


def _working_folder(action: Action, protected: ProtectedPaths) -> ProtectedPaths:
    """Return the rules for paths with the folder in which a command runs as the first root."""
    for key in ("cwd", "workdir", "folder"):
        value = action.input.get(key)
        if isinstance(value, str) and value and protected.forms(value):
            return replace(protected, base=protected.forms(value)[-1])
    return protected


def _file_part(action: Action, protected: ProtectedPaths) -> ActionPart:
    paths = tuple(protected.forms(path) for path in action.paths)
    if action.kind == "read":
        is_safe = bool(paths) and all(protected.is_inside(path) for path in action.paths)
        return ActionPart(action.tool, "read", "low" if is_safe else "medium", paths=paths)
    return ActionPart(action.tool, "edit", paths=paths, texts=() if paths else tuple(input_texts(action.input)))


def _path_problem(action: Action, protected: ProtectedPaths) -> str:
    is_read = action.kind == "read"
    for path in action.paths:
        problem = protected.read_problem(path) if is_read else protected.edit_problem(path)
        if action.kind in ("read", "edit") and problem:
            return problem
        if action.kind not in ("read", "edit") and (problem := protected.read_problem(path)):
            return problem
    return ""


def _command_parts(
    action: Action, split: CommandSplit, protected: ProtectedPaths, folder: ProtectedPaths
) -> Iterator[ActionPart]:
    for part in split.parts:
        risk = command_risk(part)
        if risk == "low" and not part.is_wrapper and not _reads_inside(part, split, folder):
            risk = "medium"
        yield ActionPart(action.tool, "execute", risk, part, opaque=part.opaque)
    for item in split.redirections:
        if not item.target.is_known:
            # this is one of the reasons in `split.opaque`
            continue
        forms = folder.forms(item.target.text)
        if item.access == "write":
            yield ActionPart("edit", "edit", paths=(forms,))
        else:
            is_inside = folder.is_inside(item.target.text) and not split.changes_folder
            yield ActionPart("read", "read", "low" if is_inside else "medium", paths=(forms,))
    for reason in split.opaque:
        yield ActionPart(action.tool, "execute", "high", opaque=reason)


def _candidate_paths(word: ShellWord) -> Iterator[str]:
    """Yield the texts in an argument that may be a path."""
    if UNKNOWN in word.text:
        return
    yield word.text
    if match := FILE_OPTION.match(word.text):
        yield match[1] or match[2] or ""
    elif "=" in word.text or ":" in word.text:
        # `of=file`, `HEAD:file` and `host:file`
        yield re.split(r"[=:]", word.text, maxsplit=1)[1]
    if word.text.startswith("@"):
        yield word.text[1:]


def _files(word: ShellWord, folder: ProtectedPaths) -> list[str]:
    """Return the paths that an argument may name. Wildcards are replaced by the files that exist."""
    paths = list[str]()
    for text in _candidate_paths(word):
        paths.append(text)
        if not word.is_known:
            forms = folder.forms(text)
            try:
                found = itertools.islice(glob.iglob(forms[0], include_hidden=False), MAX_GLOB_FILES) if forms else ()
                paths += found
            except (OSError, ValueError, re.error):
                continue
    return [path for path in paths if path and path != "-"]


def _reads_inside(part: CommandPart, split: CommandSplit, folder: ProtectedPaths) -> bool:
    """Return whether all files of a command that only reads are in the workspace."""
    for word in part.words[1:]:
        if UNKNOWN in word.text:
            return False
        for path in _files(word, folder):
            if split.changes_folder and ".." in path:
                return False
            if (path.startswith(("/", "~")) or ".." in path) and not folder.is_inside(path) and not _is_device(path):
                return False
            if not path.startswith("-") and not folder.is_inside(path) and not _is_device(path):
                return False
    return True


def _is_device(path: str) -> bool:
    return path in ("/dev/null", "/dev/stdin", "/dev/stdout", "/dev/stderr", "/")


def _command_problem(split: CommandSplit, protected: ProtectedPaths, folder: ProtectedPaths) -> str:
    """Return why a command is never allowed: it reads a secret file, or changes a protected path."""
    for part in split.parts:
        if problem := _secret_problem(part, split, folder) or _write_problem(part, folder):
            return problem
    for item in split.redirections:
        if not item.target.is_known:
            continue
        text = item.target.text
        if problem := folder.edit_problem(text) if item.access == "write" else folder.read_problem(text):
            return problem
    return ""


def _secret_problem(part: CommandPart, split: CommandSplit, folder: ProtectedPaths) -> str:
    for word in part.words[1:]:
        for path in _files(word, folder):
            problem = folder.read_problem(path) if "\n" not in path and "\0" not in path else ""
            if problem and (_is_named_like_file(path) or split.changes_folder or _exists(path, folder)):
                return problem
    return ""


def _is_named_like_file(text: str) -> bool:
    """Return whether a word that may be a path is hardly anything else, such as `.env` and `keys/server.key`."""
    return " " not in text and not text.startswith("-") and bool(re.search(r"[./]", text)) and is_secret_path(text)


def _exists(path: str, folder: ProtectedPaths) -> bool:
    try:
        return bool(forms := folder.forms(path)) and Path(forms[-1]).exists()
    except OSError:
        return False


def _write_problem(part: CommandPart, folder: ProtectedPaths) -> str:
    name = part.name
    words = [word for word in part.words[1:] if not word.text.startswith("-") and UNKNOWN not in word.text]
    if targets := WRITERS.get(name):
        if name in ("chmod", "chown", "chgrp", "setfacl", "chattr"):
            words = words[1:]
        for word in words if targets == "all" else words[-1:]:
            for path in _files(word, folder):
                if (path == word.text or not word.is_known) and (problem := folder.edit_problem(path)):
                    return problem
        return ""
    if name == "git" or command_risk(part) == "low" or part.is_wrapper:
        return ""
    for word in part.words[1:]:
        for path in _files(word, folder):
            if folder.is_inside(path) and (problem := folder.own_problem(path)):
                return problem
    return ""
