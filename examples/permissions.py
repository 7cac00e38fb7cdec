"""A function that decides about every tool call."""

import asyncio
from typing import Any

from lsp_harness.sdk import HookDecision, TextDelta, query


def decide(context: dict[str, Any]) -> dict[str, str] | str:
    """Allow to read, and deny everything else with a reason that the model reads."""
    if context["tool_name"] in ("read", "grep", "glob"):
        return "allow"
    return {"decision": "deny", "reason": f"{context['tool_name']} is not allowed in this example"}


async def main() -> None:
    """Ask for something that is denied."""
    async for event in query("Delete the file notes.txt.", can_use_tool=decide):
        if isinstance(event, TextDelta):
            print(event.content, end="", flush=True)
        elif isinstance(event, HookDecision):
            print(f"[{event.decision} {event.tool} by {event.by}: {event.reason}]")
    print()


if __name__ == "__main__":
    asyncio.run(main())
