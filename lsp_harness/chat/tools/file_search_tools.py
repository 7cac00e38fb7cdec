"""The tools that find files by patterns of their paths, and lines by a regular expression.

A pattern without a slash matches names in any folder. `**` matches any number of folders. Each part of a path is
matched alone, so that no pattern takes exponential time.
"""

import asyncio
import json
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import translate
from pathlib import Path
from typing import Any

from lsp_harness.chat.tool import CallContext, ToolResult
from lsp_harness.chat.tools import line_search
from lsp_harness.chat.tools.tool_environment import ToolEnvironment
from lsp_harness.chat.tools.tool_input import (
    Input,
    Schema,
    fit_lines,
    make_text_schema,
    object_schema,
    read_text,
    shorten_line,
)
from lsp_harness.chat.tools.workspace_paths import NamedFile, WorkspacePaths
from lsp_harness.errors import UsageError
from lsp_harness.files.secrets import redact
from lsp_harness.permission.action import Action
from lsp_harness.process.tool_run import run_tool
from lsp_harness.text.document import Document
from lsp_harness.text.position import decode

MAX_ALTERNATIVES = 64
"""Most patterns that the braces of one pattern stand for."""
NOTHING = re.compile(r"(?!)")
BRACES = re.compile(r"\{([^{}]*,[^{}]*)\}")


class PathPattern:
    """A pattern for paths relative to a workspace folder."""

    def __init__(self, pattern: str) -> None:
        normal = pattern.strip().removeprefix("./").lstrip("/")
        if normal.endswith("/"):
            normal += "**"
        self._alternatives = [
            [None if part == "**" else re.compile(translate(part)) for part in _split_pattern(alternative)]
            for alternative in _expand_braces(normal)
        ]

    def matches(self, path: str) -> bool:
        """Return whether a path with `/` matches."""
        names = path.split("/")
        return any(_matches(parts, names) for parts in self._alternatives)


def _split_pattern(pattern: str) -> list[str]:
    parts = [part for part in pattern.split("/") if part not in ("", ".")]
    return parts if "/" in pattern else ["**", *parts]


def _expand_braces(pattern: str) -> list[str]:
    """Return the patterns that a pattern with braces stands for."""
    patterns = [pattern]
    while len(patterns) <= MAX_ALTERNATIVES and (expanded := list(_expand_once(patterns))) != patterns:
        patterns = expanded
    return patterns[:MAX_ALTERNATIVES]


def _expand_once(patterns: Sequence[str]) -> Iterator[str]:
    for pattern in patterns:
        match = BRACES.search(pattern)
        words = match[1].split(",") if match else [""]
        head, tail = (pattern[: match.start()], pattern[match.end() :]) if match else (pattern, "")
        yield from (f"{head}{word}{tail}" for word in words)


def _matches(parts: Sequence[re.Pattern[str] | None], names: Sequence[str]) -> bool:
    """Return whether the names match the parts. None stands for any number of folders."""
    reached = {0}
    """The numbers of parts that match the names until now."""
    for name in names:
        following: set[int] = set()
        for index in _skip_any(parts, reached):
            part = parts[index] if index < len(parts) else NOTHING
            if part is None:
                following.add(index)
            elif part.match(name):
                following.add(index + 1)
        reached = following
    # a `**` at the end has matched at least the name of the file
    return any(index == len(parts) or (index == len(parts) - 1 and parts[index] is None) for index in reached)


def _skip_any(parts: Sequence[re.Pattern[str] | None], reached: set[int]) -> set[int]:
    """Return the numbers that are also reached because `**` may match nothing."""
    all_reached = set(reached)
    for index in sorted(reached):
        while index < len(parts) and parts[index] is None:
            index += 1
            all_reached.add(index)
    return all_reached


MAX_MATCH_CHARS = 200
MAX_MATCHES = 200
SEARCH_S = 8.0
"""Time after which a search stops between two files. It is killed `KILL_S` later."""
KILL_S = 1.0


class GlobTool:
    """Lists the files whose path fits a pattern, without those that no model may see or a rule forbids."""

    name = "glob"
    description = "List files by a pattern such as *.py or src/**/*.ts."
    schema: Schema = object_schema({"pattern": make_text_schema("Pattern of paths")})

    def __init__(self, environment: ToolEnvironment) -> None:
        self._paths = WorkspacePaths(environment, self.name)

    def action(self, input: Input) -> Action:
        return Action(self.name, "read", input, tuple(self._paths.roots))

    async def run(self, input: Input, context: CallContext) -> ToolResult:
        pattern = read_text(input, "pattern")
        files, left_out = await asyncio.to_thread(find_files, self._paths, pattern)
        names = sorted(file.name for file in files)
        shown = fit_lines(names)
        remarks = [] if names else [f"no file matches {pattern}"]
        remarks += [f"… and {rest} more; use a narrower pattern"] if (rest := len(names) - len(shown)) else []
        return ToolResult("\n".join([*shown, *remarks, *describe_left_out(left_out)]))


class GrepTool:
    """Finds the lines that match a regular expression.

    The search runs in a process of its own: an expression that takes exponential time can only be stopped there.

    Args:
        environment: What the tool needs from the session: its folders, gate, texts and tasks.
        seconds: The time for the search.
    """

    name = "grep"
    description = "Find lines by a regular expression. Returns path:line: text."
    schema: Schema = object_schema(
        {"pattern": make_text_schema("Python regular expression", 500)},
        {"glob": make_text_schema("Only files that match this, such as *.py")},
    )

    def __init__(self, environment: ToolEnvironment, seconds: float = SEARCH_S) -> None:
        self._paths = WorkspacePaths(environment, self.name)
        self._seconds = seconds

    def action(self, input: Input) -> Action:
        return Action(self.name, "read", input, tuple(self._paths.roots))

    async def run(self, input: Input, context: CallContext) -> ToolResult:
        pattern, glob = read_text(input, "pattern"), read_text(input, "glob", "")
        if not pattern:
            raise UsageError('"pattern" is empty; give a regular expression')
        files, left_out = await asyncio.to_thread(find_files, self._paths, glob or "**")
        answer = await search_lines(pattern, files, self._paths.unsaved, self._seconds)
        matches = format_matches(answer, files)
        remarks = [*answer.remarks, *describe_left_out(left_out)]
        if not matches:
            return ToolResult("\n".join([f"no line matches {pattern}", *remarks]))
        shown = fit_lines(matches)
        if len(shown) < len(matches) or answer.is_cut:
            remarks.append("there are more matches; use a narrower pattern or glob")
        return ToolResult("\n".join([*shown, *(f"({remark})" for remark in remarks)]))


@dataclass(frozen=True, slots=True)
class LineMatches:
    """The result of a search for lines.

    Attributes:
        matches: The number of the file in the list, the line from 1, and its text.
        remarks: Sentences about the search.
        is_cut: Whether there are more matches.
    """

    matches: Sequence[tuple[int, int, str]]
    remarks: Sequence[str]
    is_cut: bool


async def search_lines(
    pattern: str, files: Sequence[NamedFile], unsaved: Mapping[Path, Document], seconds: float = SEARCH_S
) -> LineMatches:
    """Search files for the lines that match a regular expression.

    Args:
        pattern: The regular expression.
        files: The files to search.
        unsaved: The texts that count in place of files.
        seconds: The time after which the search stops.

    Raises:
        UsageError: The search took too long.
    """
    task: dict[str, Any] = {"pattern": pattern, "files": [str(file.path) for file in files]}
    task["texts"] = {str(file.path): decode(unsaved[file.path].data) for file in files if file.path in unsaved}
    task |= {"seconds": seconds, "max_matches": MAX_MATCHES}
    # without the packages of the user and of the present folder, whose modules could have the names of ours
    command = [sys.executable, "-I", "-S", line_search.__file__]
    result = await run_tool(command, stdin=json.dumps(task).encode(), limit_s=seconds + KILL_S)
    if result.exit_code is None:
        raise UsageError("the search took too long; use a simpler pattern or a narrower glob")
    if result.exit_code:
        reason = redact(result.stderr.decode(errors="replace")).strip()[-300:]
        raise UsageError(f"the search failed: {reason}")
    return LineMatches(**json.loads(result.stdout))


def format_matches(answer: LineMatches, files: Sequence[NamedFile]) -> list[str]:
    """Return the matches as lines `path:line: text`."""
    return [
        f"{files[number].name}:{line}: {shorten_line(redact(text).strip(), MAX_MATCH_CHARS)}"
        for number, line, text in answer.matches
    ]


def find_files(paths: WorkspacePaths, pattern: str) -> tuple[list[NamedFile], int]:
    """Return the files whose path fits a pattern, and how many more the rules of the session hide."""
    compiled = PathPattern(pattern)
    fitting = [file for file in paths.list_files() if compiled.matches(file.name)]
    files = [file for file in fitting if paths.can_read(file)]
    return files, len(fitting) - len(files)


def describe_left_out(count: int) -> list[str]:
    """Return the line about files that the rules of the session hide; none if there are none."""
    files = "1 file was" if count == 1 else f"{count} files were"
    return [f"{files} left out, because the rules of this session do not allow to read them"] if count else []
