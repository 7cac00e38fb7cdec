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
    from lsp_harness.wire import client_events
    from lsp_harness.wire.client_event_codec import parse_event, to_wire
    from lsp_harness.wire.client_events import *

    __all__ = [
        "EventFeed",
        "HarnessBinaryNotFoundError",
        "HarnessClient",
        "HarnessError",
        "HarnessKeywords",
        "HarnessOptions",
        "HookMatcher",
        "PermissionCallback",
        "PermissionMode",
        "Turn",
        "parse_event",
        "query",
        "to_wire",
        "tool",
    ]
    __all__ += client_events.__all__

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
"""Public name → the module with it. The others are the events of `wire.client_events`."""


def __getattr__(name: str) -> Any:
    """Load a public name, or the list of all."""
    if name in _MODULES:
        value = getattr(import_module(f"lsp_harness.{_MODULES[name]}"), name)
    else:
        events = import_module("lsp_harness.wire.client_events")
        if name == "__all__":
            value = sorted([*_MODULES, *events.__all__])
        elif name in events.__all__:
            value = getattr(events, name)
        else:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value
