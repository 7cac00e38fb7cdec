"""Skills: instructions for a kind of task, which the model loads when it needs them.

A skill is a file `SKILL.md` in a folder of its own, with its name and a description at the top between lines of `---`.
Only the names and descriptions are in the prompt. They are instructions of whoever wrote the folder, so that a
workspace without trust has none.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lsp_harness.chat.tool import CallContext, ToolResult
from lsp_harness.chat.tool_prompt import MAX_DESCRIPTION_CHARS
from lsp_harness.disk.file_reading import read_start
from lsp_harness.disk.file_warnings import warn_once
from lsp_harness.errors import FileError, UsageError
from lsp_harness.events.tool_events import SkillLoaded
from lsp_harness.files.folders import find_path_inside, resolve_links
from lsp_harness.files.secrets import redact
from lsp_harness.permission.action import Action

SKILL_FOLDERS = (".lsp-harness/skills", ".agents/skills", ".claude/skills")
"""Folders in a workspace folder with a folder for each skill. The first skill of a name counts."""
SKILL_FILE = "SKILL.md"
MAX_SKILLS = 200
MAX_BODY_BYTES = 32 * 1024
MAX_HEAD_BYTES = 8 * 1024
DESCRIPTION_CHARS = (240, 120, 60, 0)
"""Lengths to which descriptions are cut, one after the other, until the catalogue fits."""
CATALOGUE_HEAD = "Load the instructions of a skill before you do such a task:"
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
FRONT_MATTER = re.compile(r"\A(?:\ufeff)?---[ \t]*\n(.*?)^---[ \t]*$\n?", re.DOTALL | re.MULTILINE)
MEMBER = re.compile(r"([A-Za-z][\w-]*):[ \t]*(.*)")
BLOCK_MARKS = ("|", ">", "|-", ">-", "|+", ">+", "")


@dataclass(frozen=True, slots=True)
class Skill:
    """A skill of a workspace folder.

    Attributes:
        name: The name by which it is loaded.
        description: When to use it.
        file: The file with the instructions.
        path: The path of the file relative to the workspace folder.
    """

    name: str
    description: str
    file: Path
    path: str


def find_skills(root: Path, *, is_trusted: bool) -> list[Skill]:
    """Return the skills of a workspace folder, in the order of their names. A folder without trust has none."""
    found: dict[str, Skill] = {}
    if is_trusted:
        for file in _list_files(root):
            try:
                skill = _read_skill(root, file)
            except FileError as error:
                warn_once(f"{error.message}; the skill is left out")
                continue
            if skill and len(found) < MAX_SKILLS:
                found.setdefault(skill.name, skill)
    return [found[name] for name in sorted(found)]


def render_catalogue(skills: Sequence[Skill], max_chars: int = MAX_DESCRIPTION_CHARS) -> str:
    """Return the names and descriptions of skills for the model, in at most `max_chars` characters.

    Descriptions are shortened until all fit. If not even the names fit, the last ones are counted only.
    """
    if not skills:
        return ""
    for limit in DESCRIPTION_CHARS:
        lines = [_catalogue_line(skill, limit) for skill in skills]
        text = "\n".join([CATALOGUE_HEAD, *lines])
        if len(text) <= max_chars:
            return text
    shown, lines = CATALOGUE_HEAD, [_catalogue_line(skill, 0) for skill in skills]
    for number, line in enumerate(lines):
        rest = f"\n… and {len(lines) - number} more"
        # the remark must still fit after the next line
        if len(shown) + len(line) + 1 + len(rest) > max_chars:
            return f"{shown}{rest}"[: max(0, max_chars)]
        shown += f"\n{line}"
    return shown


class SkillTool:
    """Gives the instructions of a skill to the model.

    Args:
        skills: The skills.
        on_load: Called with the event for the log when a skill was loaded.
    """

    name = "skill"

    def __init__(self, skills: Sequence[Skill], on_load: Callable[[SkillLoaded], object]) -> None:
        self._skills = {skill.name: skill for skill in skills}
        self.description = render_catalogue(skills)
        self._on_load = on_load
        self.schema: Mapping[str, Any] = {
            "type": "object",
            "properties": {"name": {"enum": list(self._skills), "description": "Name of the skill"}},
            "required": ["name"],
        }

    def action(self, input: Mapping[str, Any]) -> Action:
        name = input.get("name")
        skill = self._skills.get(name) if isinstance(name, str) else None
        return Action(self.name, "read", input, (skill.file,) if skill else ())

    async def run(self, input: Mapping[str, Any], context: CallContext) -> ToolResult:
        name = input.get("name")
        skill = self._skills.get(name) if isinstance(name, str) else None
        if skill is None:
            raise UsageError(f"there is no skill {name!r}; the skills are {', '.join(self._skills) or 'none'}")
        body = _read_body(skill)
        self._on_load(SkillLoaded(skill.name, skill.path, len(body)))
        folder = Path(skill.path).parent.as_posix()
        return ToolResult(f"Instructions of the skill {skill.name} (its files are in {folder}):\n\n{body}")


def _list_files(root: Path) -> Iterator[Path]:
    for folder in SKILL_FOLDERS:
        try:
            entries = sorted((root / folder).iterdir())
        except OSError:
            continue
        yield from (entry / SKILL_FILE for entry in entries if (entry / SKILL_FILE).is_file())


def _read_skill(root: Path, file: Path) -> Skill | None:
    """Return the skill in a file, or None if it has no name or no description. Raises FileError."""
    path = file.relative_to(root).as_posix()
    if find_path_inside(resolve_links(file), resolve_links(root)) is None:
        warn_once(f"{path} is a link to a file outside of the workspace, so the skill is left out")
        return None
    text = redact(read_start(file, MAX_HEAD_BYTES).decode("utf-8", "replace").replace("\r\n", "\n"))
    match = FRONT_MATTER.match(text)
    members = _parse_members(match[1]) if match else {}
    name, description = members.get("name") or file.parent.name, members.get("description", "")
    if not NAME.fullmatch(name) or not description:
        wrong = "name of letters, digits, - and _" if description else "description"
        warn_once(f"{path} has no {wrong} at its top, between two lines with ---, so the skill is left out")
        return None
    return Skill(name, description, resolve_links(file), path)


def _parse_members(text: str) -> dict[str, str]:
    """Return the texts of the outer members of a front matter in YAML. Lists and tables in it are not needed."""
    members: dict[str, list[str]] = {}
    current: list[str] = []
    for line in text.split("\n"):
        match = MEMBER.match(line)
        if match:
            value = match[2].strip()
            current = members[match[1]] = [] if value in BLOCK_MARKS else [_unquote(value)]
        elif line.strip() and line[:1] in " \t":
            current.append(line.strip())
    return {name: " ".join(lines) for name, lines in members.items()}


def _unquote(value: str) -> str:
    if len(value) >= 2 and value[0] == value[-1] and value[0] in "'\"":
        return value[1:-1].replace('\\"', '"').replace("''", "'") if value[0] == '"' else value[1:-1].replace("''", "'")
    # a comment in YAML begins after a blank
    return value.split(" #")[0].rstrip()


def _read_body(skill: Skill) -> str:
    """Return the instructions of a skill. Raises FileError."""
    data = read_start(skill.file, MAX_BODY_BYTES + MAX_HEAD_BYTES + 1)
    text = FRONT_MATTER.sub("", data.decode("utf-8", "replace").replace("\r\n", "\n"), count=1).strip()
    body = text.encode()[:MAX_BODY_BYTES].decode("utf-8", "ignore")
    cut = f"\n… (cut off after {MAX_BODY_BYTES // 1024} KiB; read {skill.path} for the rest)" if body != text else ""
    return redact(body) + cut


def _catalogue_line(skill: Skill, max_chars: int) -> str:
    description = " ".join(skill.description.split())
    if len(description) > max_chars:
        description = f"{description[: max_chars - 1].rstrip()}…" if max_chars else ""
    return f"- {skill.name}: {description}" if description else f"- {skill.name}"
