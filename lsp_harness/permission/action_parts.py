"""The parts of an action that rules and modes judge each: commands, files that are read or changed, and the rest."""

import re
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from lsp_harness.files.walk import TooManyFilesError
from lsp_harness.permission.action import Action, ActionKind
from lsp_harness.permission.command_objections import CommandObjections
from lsp_harness.permission.protected_paths import ProtectedPaths
from lsp_harness.permission.shell.command_parts import (
    CommandPart,
    CommandSplit,
    split_arguments,
    split_command,
)
from lsp_harness.permission.shell.command_risk import RISKS, Risk, command_risk
from lsp_harness.permission.touched_files import CommandFiles
from lsp_harness.process.sandbox.sandbox import Confinement

MAX_SHOWN_CHARS = 200
LOOP = re.compile(r"\b(?:for|while|until|select)\b")
"""Matches the words with which a shell does commands again."""


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
        danger: Why the change of a file is dangerous; empty if it is not.
        is_confined: Whether it runs in a sandbox that contains whatever it does.
        unseen: Why nobody can see which files it reads or changes, if rules are about files; otherwise empty.
        only_restricts: Whether the part is a file of a command, which needs no permission of its own: only rules that
            ask or deny are about it.
        is_possible: Whether nobody knows what the command does with these files, so that a rule without a pattern asks.
        is_searched: Whether the command may find these files in a folder, so that a rule about them asks.
    """

    tool: str
    kind: ActionKind
    risk: Risk = "medium"
    command: CommandPart | None = None
    paths: tuple[tuple[str, ...], ...] = ()
    texts: tuple[str, ...] = ()
    opaque: str = ""
    danger: str = ""
    is_confined: bool = False
    unseen: str = ""
    only_restricts: bool = False
    is_possible: bool = False
    is_searched: bool = False

    @property
    def is_wrapper(self) -> bool:
        """Return whether the part needs no permission of its own: it runs another part, or is a file of one."""
        return self.only_restricts or (self.command is not None and self.command.is_wrapper)

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


@dataclass(frozen=True, slots=True)
class FileRules:
    """The questions about files that a gate has.

    Attributes:
        tells_apart: Whether rules that ask or deny are about some files, so that the files of commands matter.
        hides_secrets: Returns whether commands that only read run where files with secrets are not there.
    """

    tells_apart: bool = False
    hides_secrets: Callable[[], bool] = bool


def split_action(action: Action, protected: ProtectedPaths, rules: FileRules = FileRules()) -> SplitAction:
    """Return the parts of an action, and whether it touches a protected path.

    Args:
        action: The action.
        protected: The folders that may be changed, and the paths that may not.
        rules: What the gate wants to know about the files of commands.
    """
    problem = _path_problem(action, protected)
    if action.command or action.argv:
        split = split_command(action.command) if action.command else split_arguments(action.argv)
        files = CommandFiles.of(split, _working_folder(action, protected))
        parts = list(_command_parts(action, split, files, rules))
        problem = problem or files.problem()
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
    texts = () if paths else tuple(input_texts(action.input))
    return ActionPart(action.tool, "edit", paths=paths, texts=texts, danger=_find_danger(action.paths, protected))


def _find_danger(paths: Iterable[Path | str], protected: ProtectedPaths) -> str:
    """Return why a change of some files is dangerous; empty if it is not."""
    return next((reason for path in paths if (reason := protected.starting_problem(path))), "")


def _path_problem(action: Action, protected: ProtectedPaths) -> str:
    is_read = action.kind == "read"
    for path in action.paths:
        problem = protected.read_problem(path) if is_read else protected.edit_problem(path)
        if action.kind in ("read", "edit") and problem:
            return problem
        if action.kind not in ("read", "edit") and (problem := protected.read_problem(path)):
            return problem
    return ""


def _command_parts(action: Action, split: CommandSplit, files: CommandFiles, rules: FileRules) -> Iterator[ActionPart]:
    is_confined, objections = isinstance(action.confinement, Confinement), CommandObjections(files)
    for part in split.parts:
        risk, opaque = command_risk(part), part.opaque
        if risk == "low" and not part.is_wrapper:
            if not files.reads_inside(part) or objections.submodule_objection(part, is_confined=rules.hides_secrets):
                risk = "medium"
            if reason := objections.reading_objection(part, hides_secrets=rules.hides_secrets):
                risk, opaque = "high", reason
        opaque = opaque or objections.copy_objection(part) or objections.change_objection(part)
        unseen = ""
        if rules.tells_apart and not files.sees_files(part):
            unseen = f"nobody sees which files {part.name or 'it'} uses, and rules are about files"
        danger = ""
        if risk != "low" and not part.is_wrapper:
            danger = _find_danger(files.named_files(part)[1], files.folders[0])
        yield ActionPart(
            action.tool,
            "execute",
            "high" if danger else risk,
            part,
            opaque=opaque,
            danger=danger,
            is_confined=is_confined,
            unseen=unseen,
        )
        if rules.tells_apart and not is_confined:
            yield from _file_parts(part, files)
        for path in files.written_by_options(part):
            yield ActionPart("edit", "edit", paths=files.forms(path), danger=_find_danger([path], files.folders[0]))
    for item in split.redirections:
        if not item.target.is_known:
            # this is one of the reasons in `split.opaque`
            continue
        paths = files.forms(item.target.text)
        if item.access == "write":
            danger = _find_danger([item.target.text], files.folders[0])
            yield ActionPart("edit", "edit", paths=paths, danger=danger)
        else:
            risk = "low" if files.is_inside(item.target.text) else "medium"
            yield ActionPart("read", "read", risk, paths=paths)
    for reason in split.opaque:
        yield ActionPart(action.tool, "execute", "high", opaque=reason)
    if reason := objections.link_objection(is_loop=LOOP.search(action.command) is not None):
        yield ActionPart(action.tool, "execute", "high", opaque=reason)
    if files.has_too_many_folders:
        yield ActionPart(action.tool, "execute", "high", opaque="it changes its folder too often")


def _file_parts(part: CommandPart, files: CommandFiles) -> Iterator[ActionPart]:
    """Yield the files of a command for the rules that ask or deny."""
    read, changed = files.named_files(part)
    for path in dict.fromkeys(read):
        yield ActionPart("read", "read", paths=files.forms(path), only_restricts=True)
    is_possible = not files.is_certain(part)
    for path in dict.fromkeys(changed):
        forms = files.forms(path)
        yield ActionPart("edit", "edit", paths=forms, only_restricts=True, is_possible=is_possible)
    try:
        copied, moved = CommandObjections(files).moved_files(part)
        if copied:
            yield ActionPart("read", "read", paths=tuple((path,) for path in copied), only_restricts=True)
        if moved:
            yield ActionPart("edit", "edit", paths=tuple((path,) for path in moved), only_restricts=True)
        searched, is_certain = CommandObjections(files).searched_files(part)
    except TooManyFilesError:
        reason = "it searches more files than can be compared with the rules"
        yield ActionPart("read", "read", "high", opaque=reason, only_restricts=True)
        return
    if searched:
        paths = tuple((path,) for path in searched)
        yield ActionPart("read", "read", paths=paths, only_restricts=True, is_searched=not is_certain)
