"""The tools that read: lines of a file, and a large output of an earlier call."""

from lsp_harness.chat.tool import CallContext, ToolResult
from lsp_harness.chat.tools.tool_environment import ArtifactReader, ToolEnvironment
from lsp_harness.chat.tools.tool_input import (
    MAX_OUTPUT_BYTES,
    Input,
    Schema,
    fit_lines,
    make_number_schema,
    make_text_schema,
    object_schema,
    read_number,
    read_text,
    shorten_line,
)
from lsp_harness.chat.tools.tool_input import read_text as read_input
from lsp_harness.chat.tools.workspace_paths import WorkspacePaths
from lsp_harness.errors import UsageError
from lsp_harness.files.secrets import redact
from lsp_harness.permission.action import Action
from lsp_harness.text.position import decode

MAX_LINES = 400


class ReadTool:
    """Reads lines of a text with their numbers. Secrets in it are hidden."""

    name = "read"
    description = "Read a file. Returns numbered lines. Use first_line and last_line for a part of a long file."
    schema: Schema = object_schema(
        {"path": make_text_schema("File, relative to the workspace")},
        {
            "first_line": make_number_schema("First line, from 1", 1),
            "last_line": make_number_schema("Last line, inclusive", 1),
        },
    )

    def __init__(self, environment: ToolEnvironment) -> None:
        self._paths = WorkspacePaths(environment, self.name)

    def action(self, input: Input) -> Action:
        return Action(self.name, "read", input, self._paths.action_paths(input.get("path")))

    async def run(self, input: Input, context: CallContext) -> ToolResult:
        file = self._paths.locate(read_input(input, "path"))
        first, last = read_number(input, "first_line", 1, 1), read_number(input, "last_line", 2**31, 1)
        document = self._paths.read_document(file)
        lines = redact(decode(document.data)).replace("\r\n", "\n").replace("\r", "\n").split("\n")
        if lines[-1] == "":
            lines.pop()
        total = len(lines)
        if not total:
            return ToolResult(f"{file.name} is empty")
        if first > total:
            raise UsageError(f"{file.name} has only {total} lines; give a smaller first_line")
        if last < first:
            raise UsageError("last_line is before first_line; exchange them")
        wanted = lines[first - 1 : min(last, first - 1 + MAX_LINES)]
        shown = fit_lines(f"{number}\t{shorten_line(line)}" for number, line in enumerate(wanted, first))
        end = first + len(shown) - 1
        head = f"{file.name}, lines {first}-{end} of {total}"
        if end < min(last, total):
            head += f" (read on with first_line={end + 1})"
        return ToolResult("\n".join((head, *shown)))


class ReadArtifactTool:
    """Returns a part of an artifact of the session."""

    name = "read_artifact"
    description = "Read a part of a large output that was stored as an artifact."
    schema: Schema = object_schema(
        {"artifact_id": make_text_schema("Id of the artifact", 64)},
        {
            "offset": make_number_schema("First byte, from 0"),
            "limit": make_number_schema("Number of bytes", 1, MAX_OUTPUT_BYTES),
        },
    )

    def __init__(self, artifacts: ArtifactReader) -> None:
        self._artifacts = artifacts

    def action(self, input: Input) -> Action:
        return Action(self.name, "read", input)

    async def run(self, input: Input, context: CallContext) -> ToolResult:
        offset = read_number(input, "offset", 0)
        limit = read_number(input, "limit", MAX_OUTPUT_BYTES, 1, MAX_OUTPUT_BYTES)
        part = self._artifacts.read(read_text(input, "artifact_id"), offset, limit)
        if not part.text:
            return ToolResult(f"there is nothing after byte {offset}; the artifact has {part.size} bytes")
        more = f"\n(read on with offset={part.next_offset})" if part.next_offset < part.size else ""
        return ToolResult(f"{redact(part.text)}{more}")
