"""The tool that reads a large output of an earlier call."""

from lsp_harness.chat.tool import CallContext, ToolResult
from lsp_harness.chat.tools.output_text import MAX_OUTPUT_BYTES
from lsp_harness.chat.tools.tool_environment import ArtifactReader
from lsp_harness.chat.tools.tool_input import (
    Input,
    Schema,
    number_schema,
    object_schema,
    read_number,
    read_text,
    text_schema,
)
from lsp_harness.files.secrets import redact
from lsp_harness.permission.action import Action


class ReadArtifactTool:
    """Returns a part of an artifact of the session."""

    name = "read_artifact"
    description = "Read a part of a large output that was stored as an artifact."
    schema: Schema = object_schema(
        {"artifact_id": text_schema("Id of the artifact", 64)},
        {
            "offset": number_schema("First byte, from 0"),
            "limit": number_schema("Number of bytes", 1, MAX_OUTPUT_BYTES),
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
