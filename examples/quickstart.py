"""One prompt: print the answer as it arrives. The index answers this question, without the model."""

import asyncio

from lsp_harness.sdk import TextDelta, ToolStart, TurnStop, query


async def main() -> None:
    """Ask one question about the current folder."""
    async for event in query("which functions are there?", driver="code", only_answers=True):
        if isinstance(event, TextDelta):
            print(event.content, end="", flush=True)
        elif isinstance(event, ToolStart):
            print(f"\n[{event.tool} {dict(event.input)}]")
        elif isinstance(event, TurnStop):
            print(f"\n({event.reason})")


if __name__ == "__main__":
    asyncio.run(main())
