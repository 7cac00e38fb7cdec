"""A tool that a model may call, its input and its result."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from lsp_harness.permission.action import Action, Decision

Input = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ToolResult:
    """The result of a tool call.

    Attributes:
        text: What the model reads.
        is_error: Whether the call failed.
        findings: What the checks report about files that the tool changed. Empty means that nothing new is wrong.
        data: The structured result, if the tool has one.
        artifact_id: The artifact with the whole output, if the text is only its beginning.
    """

    text: str
    is_error: bool = False
    findings: tuple[str, ...] = ()
    data: Any = None
    artifact_id: str = ""


@dataclass(frozen=True, slots=True)
class CallContext:
    """The means of a running tool call.

    Attributes:
        call_id: The id of the call.
        report: Receives the output while the tool runs.
        check: Asks the permission gate about a further side effect of the call.
        only_reads: Whether the call is allowed because it only reads. A command then runs where it can do nothing else.
        seen_findings: The findings with which a person has allowed an edit, so that they are no obstacle.
    """

    call_id: str
    report: Callable[[str], None] = field(default=lambda text: None)
    check: Callable[[Action], Awaitable[Decision]] | None = None
    only_reads: bool = False
    seen_findings: tuple[str, ...] = ()


class ToolSignature(Protocol):
    """The part of a tool that a model sees."""

    @property
    def name(self) -> str: ...
    @property
    def description(self) -> str: ...
    @property
    def schema(self) -> Mapping[str, Any]: ...


class Tool(Protocol):
    """A tool. Its name, description and schema are what the model sees.

    Attributes:
        name: The name, such as "read" or "mcp__server__tool".
        description: One or two sentences for a small model.
        schema: The JSON schema of the input: an object with `properties` and `required`. The grammar of tool calls is
            made from it, so only keywords that `inference.json_schema` supports may appear.
    """

    name: str
    description: str
    schema: Mapping[str, Any]

    def action(self, input: Input) -> Action:
        """Return what the permission gate decides about before `run`."""
        ...

    async def run(self, input: Input, context: CallContext) -> ToolResult:
        """Run the tool.

        Raises:
            HarnessError: The call failed; its message is what the model reads.
        """
        ...
