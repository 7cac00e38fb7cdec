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
from lsp_harness.session.permission.action import Action

MAX_CHARS = MAX_OUTPUT_BYTES // 2
"""Characters of one answer. Most texts have fewer than two bytes for each."""


class ReadArtifactTool:
    """Returns a part of an artifact of the session."""

    name = "read_artifact"
    description = "Read a part of a large output that was stored as an artifact."
    schema: Schema = object_schema(
        {"artifact_id": text_schema("Id of the artifact", 64)},
        {
            "offset": number_schema("First character, from 0"),
            "limit": number_schema("Number of characters", 1, MAX_CHARS),
        },
    )

    def __init__(self, artifacts: ArtifactReader) -> None:
        self._artifacts = artifacts

    def action(self, input: Input) -> Action:
        return Action(self.name, "read", input)

    async def run(self, input: Input, context: CallContext) -> ToolResult:
        offset = read_number(input, "offset", 0)
        limit = read_number(input, "limit", MAX_CHARS, 1, MAX_CHARS)
        text = self._artifacts.read(read_text(input, "artifact_id"), offset, limit)
        if not text:
            return ToolResult(f"there is nothing after character {offset}")
        more = f"\n(read on with offset={offset + len(text)})" if len(text) == limit else ""
        return ToolResult(f"{redact(text)}{more}")
