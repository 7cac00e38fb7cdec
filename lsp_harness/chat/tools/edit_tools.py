"""The tools that change a file by an exact replacement, and that create a file."""

import re
from bisect import bisect_left
from collections.abc import Callable, Sequence
from difflib import SequenceMatcher

from lsp_harness.chat.tool import CallContext, ToolResult
from lsp_harness.chat.tools.checked_writing import ACCEPT_FINDINGS, NewText, check_text, write_checked
from lsp_harness.chat.tools.tool_environment import ToolEnvironment
from lsp_harness.chat.tools.tool_input import Input, Schema, make_text_schema, object_schema, read_text, shorten_line
from lsp_harness.chat.tools.workspace_paths import WorkspacePaths
from lsp_harness.errors import UsageError
from lsp_harness.files.secrets import redact
from lsp_harness.permission.action import Action
from lsp_harness.process.offload import offload
from lsp_harness.syntax.parse_budget import MAX_TEXT_BYTES
from lsp_harness.text.document import Document
from lsp_harness.text.edit import Edit
from lsp_harness.text.position import decode, encode

NUMBERED_LINE = re.compile(r"[ \t]*\d+\t")


def strip_line_numbers(text: str) -> str:
    """Return the text without line numbers, if each of its lines begins with one."""
    lines = text.split("\n")
    if not all(NUMBERED_LINE.match(line) for line in lines if line.strip()):
        return text
    return "\n".join(NUMBERED_LINE.sub("", line, count=1) for line in lines)


MAX_TEXT_CHARS = 16_000
"""Characters of a text in the input."""
MAX_COMPARED_LINES = 20_000
MAX_NEAREST_LINES = 3
MIN_SIMILARITY = 0.5
"""Ratio of equal characters from which a line is near the one that was not found."""


def make_edit_schema(members: Schema) -> Schema:
    """Return the schema of the input of a tool that edits: its required members, and the one that accepts findings."""
    accept = {"type": "boolean", "description": "Write it although checks find new problems"}
    return object_schema(members, {ACCEPT_FINDINGS: accept})


class FileEditTool:
    """A tool that changes the file that its input `path` names.

    Attributes:
        name: The name of the tool.
        description: The description for the model.
        schema: The JSON schema of the input.
    """

    name: str
    description: str
    schema: Schema

    def __init__(self, environment: ToolEnvironment) -> None:
        self._environment = environment
        self._paths = WorkspacePaths(environment, self.name)

    def action(self, input: Input) -> Action:
        """Return what the permission gate decides about."""
        return Action(self.name, "edit", input, self._paths.action_paths(input.get("path")))

    async def run(self, input: Input, context: CallContext) -> ToolResult:
        """Write the new text of the file. New findings are accepted by the input, or by a person who has seen them."""
        accepted = None if input.get(ACCEPT_FINDINGS) is True else context.seen_findings
        async with self._environment.edit_lock:
            new_text = await self._plan(input, context.report)
            return await write_checked(self._environment, new_text, accepted)

    async def find_findings(self, input: Input) -> Sequence[str]:
        """Return the new findings about the text that the edit would write, so that a person is asked with them.

        Raises:
            HarnessError: The edit cannot be made, so that nobody needs to be asked about it.
        """
        new_text = await self._plan(input, lambda text: None)
        return (await check_text(self._environment, new_text)).list_findings(with_syntax=False)

    async def _plan(self, input: Input, report: Callable[[str], None]) -> NewText:
        """Return the new text of the file after the edit. Raise HarnessError if the edit is not possible."""
        raise NotImplementedError


class EditTool(FileEditTool):
    """Replaces one exact occurrence of a text. Line ends of the file are kept."""

    name = "edit"
    description = (
        "Replace text in a file. old must be copied exactly from the file, without line numbers, and occur once."
    )
    schema: Schema = make_edit_schema(
        {
            "path": make_text_schema("File, relative to the workspace"),
            "old": make_text_schema("Exact text to replace, with its indentation", MAX_TEXT_CHARS),
            "new": {"type": "string", "description": "Text to put there", "maxLength": MAX_TEXT_CHARS},
        }
    )

    async def _plan(self, input: Input, report: Callable[[str], None]) -> NewText:
        file = self._paths.locate(read_text(input, "path"))
        old, new = read_text(input, "old"), read_text(input, "new")
        if not old:
            raise UsageError('"old" is empty; copy the text to replace from the file, or use create for a new file')
        document = self._paths.read_document(file)
        check_utf8(document, file.name)
        # lines of a long text that are similar to one that was not found take long to compare
        edit = await offload(len(document.data), lambda: find_replacement(document, old, new, file.name))
        return NewText(file, document, [edit])


class CreateTool(FileEditTool):
    """Writes a new file. It never overwrites one."""

    name = "create"
    description = "Create a new file with a text. Use edit for a file that exists."
    schema: Schema = make_edit_schema(
        {
            "path": make_text_schema("New file, relative to the workspace"),
            "text": {"type": "string", "description": "The whole text of the file", "maxLength": MAX_TEXT_CHARS},
        }
    )

    async def _plan(self, input: Input, report: Callable[[str], None]) -> NewText:
        file = self._paths.locate(read_text(input, "path"))
        data = encode(read_text(input, "text"))
        if len(data) > MAX_TEXT_BYTES:
            raise UsageError(f"the text is larger than {MAX_TEXT_BYTES:,} bytes; write a smaller file")
        if data and not data.endswith(b"\n"):
            data += b"\n"
        if self._paths.exists(file):
            raise UsageError(f"{file.name} exists; use edit to change it, or choose another path")
        empty = Document.from_text(file.path.as_uri(), b"")
        return NewText(file, empty, [Edit(0, 0, data)] if data else [], is_new=True)


def check_utf8(document: Document, name: str) -> None:
    """Raise UsageError if a text is not UTF-8, because an edit would damage its other characters."""
    try:
        document.data.decode()
    except UnicodeDecodeError as error:
        line = document.line_of(error.start) + 1
        raise UsageError(f"{name} is not UTF-8 in line {line}, so it cannot be edited; convert it first") from error


def find_replacement(document: Document, old: str, new: str, name: str) -> Edit:
    """Return the edit that replaces the only occurrence of `old`.

    Line ends are compared as `\\n`, and the new text gets those of the replaced lines. If `old` does not occur but
    would without the line numbers that the tool `read` shows, these are left out.

    Raises:
        UsageError: It does not occur exactly once. The message shows where it might be.
    """
    old, new = old.replace("\r\n", "\n"), new.replace("\r\n", "\n")
    returns = _find_all(document.data, b"\r\n")
    data = document.data.replace(b"\r\n", b"\n")
    places = _find_all(data, encode(old))
    if not places and (unnumbered := strip_line_numbers(old)) != old:
        old, new = unnumbered, strip_line_numbers(new)
        places = _find_all(data, encode(old))
    if not places:
        raise UsageError(f"old does not occur in {name}. Copy it exactly.{_describe_nearest(document, old)}")
    if len(places) > 1:
        lines = ", ".join(str(data.count(b"\n", 0, place) + 1) for place in places[:10])
        more = f" and {len(places) - 10} more" if len(places) > 10 else ""
        raise UsageError(
            f"old occurs {len(places)} times in {name}, in lines {lines}{more}; add the lines around the one to change"
        )
    start, end = (_original_offset(returns, offset) for offset in (places[0], places[0] + len(encode(old))))
    replaced = document.data[start:end]
    newline = "\r\n" if b"\r\n" in replaced or (b"\n" not in replaced and document.newline == "\r\n") else "\n"
    return Edit(start, end, encode(new.replace("\n", newline)))


def _find_all(data: bytes, part: bytes) -> list[int]:
    """Return the offsets of all occurrences, also of those that overlap."""
    places: list[int] = []
    start = data.find(part)
    while start >= 0:
        places.append(start)
        start = data.find(part, start + 1)
    return places


def _original_offset(returns: list[int], offset: int) -> int:
    """Return the offset in a text with some `\\r\\n`, at the places `returns`, for one in the text with `\\n` only."""
    # the line end number n is at `returns[n] - n` in the shorter text
    return offset + bisect_left([place - n for n, place in enumerate(returns)], offset)


def _describe_nearest(document: Document, old: str) -> str:
    """Return the lines that are most similar to the first line of a text that was not found."""
    sought = next((line.strip() for line in old.split("\n") if line.strip()), "")
    matcher = SequenceMatcher(None, autojunk=False)
    matcher.set_seq2(sought)
    ranked: list[tuple[float, int, str]] = []
    for number, line in enumerate(decode(document.data).splitlines()[:MAX_COMPARED_LINES], 1):
        text = line.strip()[: len(sought) * 3]
        matcher.set_seq1(text)
        if text and matcher.real_quick_ratio() >= MIN_SIMILARITY and matcher.quick_ratio() >= MIN_SIMILARITY:
            ranked.append((-matcher.ratio(), number, line))
    nearest = sorted(entry for entry in ranked if -entry[0] >= MIN_SIMILARITY)[:MAX_NEAREST_LINES]
    lines = [f"{number}\t{shorten_line(redact(line), 200)}" for _, number, line in sorted(nearest, key=lambda e: e[1])]
    return "\n".join([" The nearest lines:", *lines]) if lines else " No line is similar; read the file first."
