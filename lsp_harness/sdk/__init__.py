"""The SDK: sessions of lsp-harness from a Python program.

The names are loaded when they are first used, so that an import of this package costs a program nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lsp_harness.sdk.client_turn import Turn
    from lsp_harness.sdk.frame_router import EventFeed
    from lsp_harness.sdk.harness_client import HarnessClient
    from lsp_harness.sdk.harness_options import HarnessKeywords, HarnessOptions, PermissionCallback, PermissionMode
    from lsp_harness.sdk.hook_functions import HookMatcher
    from lsp_harness.sdk.python_tools import tool
    from lsp_harness.sdk.query import query
    from lsp_harness.sdk.sdk_errors import HarnessBinaryNotFoundError, HarnessError
    from lsp_harness.wire.client_event_codec import parse_event, to_wire
    from lsp_harness.wire.client_events import (
        ArtifactEvent,
        CandidateEvent,
        CheckpointEvent,
        ClientEvent,
        CompactionEvent,
        CostUpdate,
        EditEvent,
        ErrorEvent,
        HookDecision,
        PermissionRequest,
        QueueEvent,
        SessionChange,
        SessionStart,
        StateChange,
        StepStart,
        TaskEvent,
        TextDelta,
        ThinkingDelta,
        ToolEnd,
        ToolOutputDelta,
        ToolStart,
        TurnComplete,
        TurnStart,
        TurnStop,
        UnknownEvent,
        UserMessage,
        VerifyEvent,
    )

__all__ = [
    "ArtifactEvent",
    "CandidateEvent",
    "CheckpointEvent",
    "ClientEvent",
    "CompactionEvent",
    "CostUpdate",
    "EditEvent",
    "ErrorEvent",
    "EventFeed",
    "HarnessBinaryNotFoundError",
    "HarnessClient",
    "HarnessError",
    "HarnessKeywords",
    "HarnessOptions",
    "HookDecision",
    "HookMatcher",
    "PermissionCallback",
    "PermissionMode",
    "PermissionRequest",
    "QueueEvent",
    "SessionChange",
    "SessionStart",
    "StateChange",
    "StepStart",
    "TaskEvent",
    "TextDelta",
    "ThinkingDelta",
    "ToolEnd",
    "ToolOutputDelta",
    "ToolStart",
    "Turn",
    "TurnComplete",
    "TurnStart",
    "TurnStop",
    "UnknownEvent",
    "UserMessage",
    "VerifyEvent",
    "parse_event",
    "query",
    "to_wire",
    "tool",
]

_MODULES = {
    "EventFeed": "sdk.frame_router",
    "HarnessBinaryNotFoundError": "sdk.sdk_errors",
    "HarnessClient": "sdk.harness_client",
    "HarnessError": "sdk.sdk_errors",
    "HarnessKeywords": "sdk.harness_options",
    "HarnessOptions": "sdk.harness_options",
    "HookMatcher": "sdk.hook_functions",
    "PermissionCallback": "sdk.harness_options",
    "PermissionMode": "sdk.harness_options",
    "Turn": "sdk.client_turn",
    "parse_event": "wire.client_event_codec",
    "query": "sdk.query",
    "to_wire": "wire.client_event_codec",
    "tool": "sdk.python_tools",
}
"""Public name → the module with it. The others are events."""


def __getattr__(name: str) -> Any:
    """Load a public name."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"lsp_harness.{_MODULES.get(name, 'wire.client_events')}"), name)
    globals()[name] = value
    return value
