"""The text of a question about a permission, which is the same in every surface.

A person who says yes must have seen all that will happen. So the text has the whole command or the whole change, with
everything visible that is usually hidden (see `text/visible_text.py`), and nothing of it is cut. What comes from a
model or from another program is indented, so that it cannot look like a line of the question itself.
"""

import json
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lsp_harness.config.load import trust_remedy
from lsp_harness.permission.action import Action
from lsp_harness.permission.rules import parse_rule
from lsp_harness.text.visible_text import reveal, reveal_line

INDENT = "  "
EFFECTS = {
    "read": "read",
    "edit": "change files",
    "execute": "run a program",
    "network": "call another machine",
    "agent": "start an agent",
}
"""Kind of an action → what it does, in words."""
PATH_KEYS = frozenset({"path", "file_path", "file"})
DIFF, OLD_TEXT, NEW_TEXTS = "diff", "old", frozenset({"new", "text"})
"""Keys of the changes in the input of our tools that edit."""


@dataclass(frozen=True, slots=True)
class RememberedRules:
    """The rules that the answer "always" would add.

    Attributes:
        texts: The rules, as the settings have them.
        file: The file that gets them. None is no file: they end with the session.
    """

    texts: tuple[str, ...] = ()
    file: Path | None = None


def describe_question(action: Action, folder: str, reason: str = "", remembered: RememberedRules | None = None) -> str:
    """Return the text of a question about an action.

    Args:
        action: The action.
        folder: The folder in which a command runs.
        reason: Why it is asked.
        remembered: The rules that the answer "always" would add. None if no answer counts for other actions.
    """
    lines = [f"{reveal_line(action.tool)}: {EFFECTS[action.kind]}", *_describe_input(action, folder)]
    if action.findings:
        lines += _block("the checks have new findings about this edit; yes accepts them:", "\n".join(action.findings))
    if reason:
        lines.append(f"asked because: {reveal_line(reason)}")
    if action.untrusted:
        # no rule of an answer would be about this folder only
        lines.append(reveal_line(trust_remedy()))
    if remembered is not None and remembered.texts:
        lines += _describe_rules(remembered, is_command=bool(action.command or action.argv))
    return "\n".join(lines)


def describe_call(question: str, tool: str, input: Mapping[str, Any]) -> str:
    """Return the text of a question of another program about one of its tools. Nothing in it is trusted.

    Args:
        question: The question in the words of the program.
        tool: The tool, as the program names it; empty if the question is about none.
        input: The input of the tool.
    """
    lines = list(_block("", question)) if question else []
    if tool:
        lines.append(f"{reveal_line(tool)}:")
    lines += _describe_members(input)
    return "\n".join(lines)


def _describe_input(action: Action, folder: str) -> Iterator[str]:
    members = dict(action.input)
    if action.command:
        yield from _block("", action.command)
        if members.get("command") == action.command:
            del members["command"]
    elif action.argv:
        yield from _block("", shlex.join(action.argv))
    if action.kind == "execute" and (action.command or action.argv):
        place = next((members.pop(key) for key in ("folder", "cwd", "workdir") if members.get(key)), folder)
        yield f"folder: {_show_value(place)}"
    for path in action.paths:
        yield f"file: {reveal_line(str(path))}"
    if action.kind in ("edit", "read"):
        for key in PATH_KEYS & members.keys():
            if _is_named(members[key], action.paths):
                del members[key]
    yield from _describe_members(members, is_edit=action.kind == "edit")


def _is_named(value: object, paths: Sequence[Path]) -> bool:
    """Return whether the paths of an action say what a path in its input says."""
    return isinstance(value, str) and any(str(path) == value or str(path).endswith(f"/{value}") for path in paths)


def _describe_members(members: Mapping[str, Any], *, is_edit: bool = False) -> Iterator[str]:
    """Yield the lines of the members of an input: short ones behind their names, and others as blocks."""
    for key, value in members.items():
        if is_edit and isinstance(value, str) and key == DIFF:
            yield from _block("", value.removesuffix("\n"))
        elif is_edit and isinstance(value, str) and key == OLD_TEXT:
            yield from _block("", value, "- ")
        elif is_edit and isinstance(value, str) and key in NEW_TEXTS:
            yield from _block("", value, "+ ")
        elif isinstance(value, str) and "\n" in value:
            yield from _block(f"{reveal_line(key)}:", value)
        else:
            yield f"{reveal_line(key)}: {_show_value(value)}"


def _show_value(value: object) -> str:
    return reveal_line(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str))


def _block(title: str, text: str, mark: str = "") -> Iterator[str]:
    """Yield a title and the lines of a text, indented."""
    if title:
        yield title
    for line in reveal(text).split("\n"):
        yield f"{INDENT}{mark}{line}"


def _describe_rules(remembered: RememberedRules, *, is_command: bool) -> Iterator[str]:
    if remembered.file is None:
        yield "for this session it would allow, and always is no longer, because there is no settings file:"
    else:
        file = reveal_line(str(remembered.file))
        yield f"for this session, or always (saved in {file}, for all folders), it would allow:"
    for text in remembered.texts:
        yield f"{INDENT}{reveal_line(text)} = {reveal_line(_describe_scope(text, is_command=is_command))}"


def _describe_scope(text: str, *, is_command: bool) -> str:
    """Return in words what a rule allows."""
    rule = parse_rule(text, "allow")
    if rule.pattern is None:
        return f"every use of {rule.tool}"
    if is_command and rule.tool.casefold() not in ("edit", "read"):
        start = rule.pattern.removesuffix(" *")
        return f"{start}, alone and with any arguments" if start != rule.pattern else "exactly this command"
    return f"{rule.tool} of all files that match {rule.pattern}"
